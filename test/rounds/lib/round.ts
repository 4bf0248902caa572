import type { Random } from "./random.ts";

/** State shared by the lanes of one round. */
export interface Round {
  number: number;
  random: Random;
  /** Lanes end when they see it. */
  over: boolean;
  /** From here on broken connections and refusals are expected, and tried again. */
  struck: boolean;
  /** Receivers lose, repeat and give back some of what they get; else they acknowledge all of it. */
  careless: boolean;
}

const RETRY_MS = 50;

/**
 * Runs a lane again and again until the round is over. A failure is retried after a fault; before it, it is reported and
 * ends the lane.
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
      if (!round.struck) {
        report(`round ${round.number}: ${describe(error as Error)}`);
        return;
      }
      await pause(RETRY_MS);
    }
  }
}

function describe({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
