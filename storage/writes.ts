import { conflict, type Rule, ruleBroken } from "../lib/contract/faults.ts";
import type { TenantCollection, TenantDocument } from "./collection.ts";
import { byFields, type Where } from "./query.ts";
import { isDuplicateKey, nullIfTaken } from "./write-errors.ts";

/** In each round one of the concurrent writers of a row succeeds, and the others retry on the new state. */
const ATTEMPTS = 50;

/**
 * Repeats an attempt to read a row, decide, and write it guarded by the state read, until no other write came first.
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
  throw conflict(refusal, id === undefined ? {} : { existing_resource_id: id });
}

interface Unique<T extends TenantDocument> {
  /** The unique field, as callers name it. */
  field: string;
  /** Finds the row that has the value. */
  holder: Where<T>;
  message(holder: T | null): string;
}

/** Awaits a write. @throws Fault conflict, with the holder's id, if another row has the value of a unique field */
export async function unlessTaken<T extends TenantDocument, R>(
  rows: TenantCollection<T>,
  tenant_id: string,
  { field, holder, message }: Unique<T>,
  write: Promise<R>,
): Promise<R> {
  try {
    return await write;
  } catch (err) {
    if (!isDuplicateKey(err)) throw err;
    const other = await rows.findOne(tenant_id, holder);
    throw conflict(message(other), { field, existing_resource_id: other?._id ?? null });
  }
}

interface RowLimit<T extends TenantDocument> {
  /** The limited rows. */
  of: TenantCollection<T>;
  most: number;
  /** Their name, and the rule that one more violates. */
  called: string;
  rule: Rule;
  /** The remedy, for the error message. */
  instead: string;
  /** Filter of the tenant's rows that count; default: all. */
  within?: Where<T>;
}

/**
 * Refuses a row beyond the limit. The row with the new one's id does not count: a retry of a successful request must
 * not be refused. @throws Fault business_rule_violation
 */
export async function requireCapacity<T extends TenantDocument>(
  { of, most, called, rule, instead, within }: RowLimit<T>,
  tenant_id: string,
  _id: string,
): Promise<void> {
  const other = byFields<T, TenantDocument>({ _id: { $ne: _id } });
  const others = await of.count(tenant_id, { ...within, ...other });
  if (others >= most) throw ruleBroken(rule, `The limit of ${most} ${called} is reached. ${instead}.`);
}

/** One version of a named resource; versions are immutable (spec: Versioning 2). */
interface VersionDoc extends TenantDocument {
  version_num: number;
}

/** Returns the newest version that matches a filter, or null. The filter and `version_num` need a unique index. */
export function newestVersion<T extends VersionDoc>(
  rows: TenantCollection<T>,
  tenant_id: string,
  named: Where<T>,
): Promise<T | null> {
  return rows.findOne(tenant_id, named, { sort: { version_num: -1 } });
}

/**
 * Stores a row as the version after the newest of its name; if its id exists, returns that row unchanged.
 * @throws Fault conflict if too many others store at the same time
 */
export async function insertNextVersion<T extends VersionDoc>(
  rows: TenantCollection<T>,
  named: Where<T>,
  row: T,
): Promise<T> {
  const { tenant_id, _id } = row;
  const made = await rows.findOne(tenant_id, byFields<T, VersionDoc>({ _id }));
  if (made) return made;
  return guardedWrite(async () => {
    const newest = await newestVersion(rows, tenant_id, named);
    return rows.insertOnce({ ...row, version_num: (newest?.version_num ?? 0) + 1 }).catch(nullIfTaken);
  }, "Too many concurrent new versions. Retry.");
}
