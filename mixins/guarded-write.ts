import { Fault } from "../lib/contract/faults.ts";

/** Each time one of those who write a row at once gets through, and the others try again on what it left. */
const ATTEMPTS = 50;

/**
 * Repeats an attempt to read a row, decide, and write it guarded by what was read, until nobody else was first.
 *
 * @param attempt returns what was written, or null when somebody else was first
 * @param refusal of who was never first
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
