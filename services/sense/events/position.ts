import { randomBytes } from "node:crypto";

const TIME_DIGITS = 9;
const COUNT_DIGITS = 4;

/** Returns the smallest prefix of positions at or after a time in milliseconds. */
export function positionFrom(ms: number): string {
  return Math.max(ms, 0).toString(36).padStart(TIME_DIGITS, "0");
}

/**
 * Returns a generator of positions: unique text that sorts by time of acceptance and, within one node, by order of
 * acceptance. Between nodes the order within a millisecond is arbitrary, but the same for every reader.
 */
export function positionMaker(): (ms: number) => string {
  const node = randomBytes(4).toString("hex");
  let last = 0;
  let count = 0;
  return (now) => {
    count++;
    if (now > last || count === 36 ** COUNT_DIGITS) {
      last = Math.max(now, last + 1);
      count = 0;
    }
    return `${positionFrom(last)}${count.toString(36).padStart(COUNT_DIGITS, "0")}${node}`;
  };
}

/** Returns a tenant's fan-out key at a time in milliseconds: text order is time order. */
export function fanoutKey(tenant_id: string, at: number): string {
  return `${tenant_id} ${positionFrom(at)}`;
}

/** Exclusive bounds of all keys of a tenant, for its fan-out and its list keys. */
export function keyRange(tenant_id: string): { after: string; before: string } {
  return { after: `${tenant_id} `, before: `${tenant_id} ~` };
}

/** Returns the `unmatched_key` of an event without receivers, or the `waiting_key` of one that waits. */
export function listKey({ tenant_id, position }: { tenant_id: string; position: string }): string {
  return `${tenant_id} ${position}`;
}
