import type { Random } from "./random.ts";

/** State shared by the lanes of one round. */
export interface Round {
  number: number;
  random: Random;
  /** Lanes end when they see it. */
  over: boolean;
  /** From here on a broken connection is what was to be expected. */
  killed: boolean;
  /** Receivers lose, repeat and give back some of what they get; else they acknowledge all of it. */
  careless: boolean;
}

/**
 * Runs a lane again and again until the round is over. A broken connection ends it, and is reported where the server
 * was not killed.
 */
export async function lane(
  round: Round,
  report: (what: string) => void,
  step: () => Promise<unknown>,
): Promise<void> {
  while (!round.over) {
    try {
      await step();
    } catch (error) {
      if (!round.killed) report(`round ${round.number}: ${describe(error as Error)}`);
      return;
    }
  }
}

function describe({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
