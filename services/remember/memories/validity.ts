import { Fault } from "../../../lib/contract/faults.ts";
import { endOf, startOf } from "../../../lib/contract/instant.ts";
import { type HeldAt, held } from "../../../storage/search/entry.ts";

/** Fields of a memory that say when it holds (api: Time of memories). */
interface Times {
  valid_from?: Date;
  valid_from_given?: boolean;
  valid_until?: Date | null;
  succeeded_at?: Date | null;
  freshness_date: Date | null;
  created_at: Date;
}

/** An interval as it was before somebody corrected it. Times are ISO 8601. */
export interface Correction {
  at: string;
  agent_id: string | null;
  user_id: string | null;
  reason: string | null;
  valid: { from: string; until: string | null };
  /** When its successor began to hold, if `valid.until` is that. */
  succeeded?: string | null;
}

/** Of the latest. */
const MOST_CORRECTIONS = 50;

/** Returns the fields of a row whose times are corrected: what they were is kept. */
export function corrected(
  doc: Times & { corrections?: string },
  by: Pick<Correction, "agent_id" | "user_id" | "reason">,
  at: Date,
) {
  const succeeded = doc.valid_until ? null : (doc.succeeded_at?.toISOString() ?? null);
  const was = { valid: presentValidity(doc), succeeded };
  const all: Correction[] = [...correctionsOf(doc), { at: at.toISOString(), ...by, ...was }];
  return { corrections: JSON.stringify(all.slice(-MOST_CORRECTIONS)), corrected_at: at };
}

/** Whether a memory held, as its times were known then, before later corrections. */
export function heldAsKnown(
  doc: Times & { corrections?: string; invalid_at: Date | null },
  time: HeldAt,
): boolean {
  const next = correctionsOf(doc).find(({ at }) => Date.parse(at) > time.known);
  const { from, until } = next?.valid ?? presentValidity(doc);
  const bySuccessor = next ? (next.succeeded ?? null) !== null : !doc.valid_until && !!doc.succeeded_at;
  const end = until === null ? null : Date.parse(until);
  const validity = {
    ...{ from: Date.parse(from), until: bySuccessor ? null : end, succeeded: bySuccessor ? end : null },
    replaced: doc.invalid_at?.getTime() ?? null,
  };
  return held(validity, doc.created_at.getTime(), time);
}

/** Returns the corrections of a row, oldest first. An imported one may have another JSON text. */
export function correctionsOf({ corrections = "[]" }: { corrections?: string }): Correction[] {
  const parsed: unknown = JSON.parse(corrections);
  return Array.isArray(parsed) ? parsed : [];
}

/** Returns when a memory holds: until what somebody said, else its successor's beginning; null: no end. */
export function validityOf(doc: Omit<Times, "valid_from_given">): { from: Date; until: Date | null } {
  const { valid_from, valid_until = null, succeeded_at = null, freshness_date, created_at } = doc;
  return { from: valid_from ?? freshness_date ?? created_at, until: valid_until ?? succeeded_at };
}

export function presentValidity(doc: Omit<Times, "valid_from_given">) {
  const { from, until } = validityOf(doc);
  return { from: from.toISOString(), until: until?.toISOString() ?? null };
}

interface ValidityFields {
  valid_from?: string | null | undefined;
  valid_until?: string | null | undefined;
}

/**
 * Returns the fields of given times; without a beginning, it is `freshness_date`, else when the memory was recorded.
 * @param doc with `freshness_date` as it will be @throws Fault validation_failed if the end is not after the beginning
 */
export function timesOf({ valid_from, valid_until }: ValidityFields, doc: Times) {
  const known = validityOf(doc).from;
  const start = valid_from ? startOf(valid_from) : undefined;
  // A value that was read may be written back.
  const isGiven =
    valid_from === undefined || start?.getTime() === known.getTime()
      ? (doc.valid_from_given ?? false)
      : start !== undefined;
  const kept = valid_from === undefined ? doc.valid_from : undefined;
  const from = isGiven ? (start ?? kept ?? known) : (doc.freshness_date ?? doc.created_at);
  const until = valid_until === undefined ? (doc.valid_until ?? null) : valid_until && startOf(valid_until);
  if (until && until <= from) {
    const expected = `a time after valid_from (${from.toISOString()})`;
    const message = `valid_until: expected ${expected}, got ${until.toISOString()}.`;
    throw new Fault("validation_failed", message, { field: "valid_until", expected });
  }
  return { valid_from: from, valid_from_given: isGiven, valid_until: until || null };
}

/** When memories are to hold, and what was to be known of that. */
export interface AsOf {
  as_of?: string | undefined;
  known_at?: string | undefined;
}

/** Returns the times of a question about the past; undefined for one about the present. */
export function heldAt({ as_of, known_at }: AsOf, now: Date): HeldAt | undefined {
  if (as_of === undefined && known_at === undefined) return undefined;
  const known = known_at === undefined ? now : endOf(known_at);
  return { at: (as_of === undefined ? known : endOf(as_of)).getTime(), known: known.getTime() };
}

/** As `held` of the search index, for rows. */
export function heldClauses({ at, known, corrected }: HeldAt) {
  const [time, recorded] = [new Date(at), new Date(known)];
  const clauses = [
    {
      // As `validityOf`, for rows without a beginning too.
      $or: [
        { valid_from: { $lte: time } },
        { valid_from: { $exists: false }, freshness_date: { $lte: time } },
        { valid_from: { $exists: false }, freshness_date: null, created_at: { $lte: time } },
      ],
    },
    { created_at: { $lte: recorded } },
    {
      $or: [
        { valid_until: { $gt: time } },
        { valid_until: null, succeeded_at: null },
        { valid_until: null, succeeded_at: { $gt: time } },
        { valid_until: null, invalid_at: { $gt: recorded } },
      ],
    },
  ];
  if (!corrected) return clauses;
  const { held: then, not } = corrected;
  return [{ $or: [{ _id: { $in: then } }, { $and: [...clauses, { _id: { $nin: not } }] }] }];
}
