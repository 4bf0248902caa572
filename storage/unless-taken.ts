import { Fault } from "../lib/contract/faults.ts";
import type { TenantCollection, TenantDocument } from "./collection.ts";
import type { Where } from "./query.ts";
import { isDuplicateKey } from "./write-errors.ts";

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
    throw new Fault("conflict", message(other), { field, existing_resource_id: other?._id ?? null });
  }
}
