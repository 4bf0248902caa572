import { Fault } from "../lib/contract/faults.ts";

/** In each round one of the concurrent writers of a row succeeds, and the others retry on the new state. */
const ATTEMPTS = 50;

/**
 * Repeats an attempt to read a row, decide, and write it guarded by the state read, until no other write came first.
 *
 * @param attempt returns the written row, or null if another write came first
 * @param refusal for a writer that never succeeded
 * @throws Fault conflict
 */
export async function guardedWrite<T>(
  attempt: () => Promise<T | null>,
  refusal: string,
  id?: string,
): Promise<T> {
  for (let made = 0; made < ATTEMPTS; made++) {
    const written = await attempt();
    if (written !== null) return written;
  }
  throw new Fault("conflict", refusal, id === undefined ? {} : { existing_resource_id: id });
}
