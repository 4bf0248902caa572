import { expectation } from "../../../lib/contract/faults.ts";

interface Cause {
  message: string;
  /** The `details` of a fault. */
  details?: unknown;
}

/**
 * Returns the dead letter's reason for an event that was not accepted. It omits the given value, which the payload
 * contains: the same fault in two payloads then has the same reason, by which dead letters are grouped.
 */
export function mappingError({ message, details }: Cause): string {
  const { field, expected } = (details ?? {}) as Record<string, unknown>;
  const known = typeof field === "string" && typeof expected === "string";
  return `mapping error: ${known ? expectation(field || "The event", expected) : message}`;
}

/** Returns the dead letter's reason for an error thrown by a mapping. */
export function thrownMappingError(err: unknown): string {
  const { message, data } = err as Error & { data?: unknown };
  return mappingError({ message, details: data });
}
