import { invalidValue } from "../../../lib/contract/faults.ts";
import { timelinePush } from "./deliveries.model.ts";

/** The lease of a row: stored in the database, and held by the client that has the token. */
export interface Lease {
  lease: string;
  due_at: Date;
}

export function leaseUpdate({ lease, due_at }: Lease, at: Date) {
  return {
    $set: { state: "leased" as const, lease, due_at },
    $inc: { attempt_count: 1 },
    $push: timelinePush({ at, what: "handed_out" }),
  };
}

/** A claim's token, and the number of the attempt that it began. */
export interface Held {
  lease: string;
  attempt_count: number;
}

/** The lease that a request names for a delivery; undefined: it means whichever attempt has the delivery now. */
export type NamedLease = (delivery_id: string) => string | undefined;

/** Returns the leases that a request names: one for all of its deliveries, or one for each. @throws Fault */
export function namedLeases(
  delivery_ids: readonly string[],
  param: string | readonly string[] | undefined,
  field = "lease",
): NamedLease {
  if (typeof param !== "object") return () => param;
  if (param.length !== delivery_ids.length) {
    const got = `${param.length} for ${delivery_ids.length} deliveries`;
    throw invalidValue(field, `${field}: expected one for all deliveries, or one for each, got ${got}.`);
  }
  const leases = new Map(delivery_ids.map((id, index) => [id, param[index]]));
  return (id) => leases.get(id);
}

/**
 * Returns the lease of a delivery on a stream. A stream has one token for all of its claims, so that it can return what
 * it holds; the number of the attempt makes it another lease when a delivery is redelivered.
 */
export function streamLease({ lease, attempt_count }: Held): string {
  return `${lease}.${attempt_count}`;
}

/** Whether a delivery is held under a lease that a request names. */
export function isUnder({ lease, attempt_count }: Held, named: string | undefined): boolean {
  return named === undefined || named === lease || named === streamLease({ lease, attempt_count });
}

/** Returns the filter of the rows that are held under a lease that a request names. */
export function under(named: string | undefined): Partial<Held> {
  if (named === undefined) return {};
  const [lease = "", attempt] = named.split(".");
  return attempt === undefined ? { lease } : { lease, attempt_count: Number(attempt) };
}
