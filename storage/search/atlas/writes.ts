import { type AnyBulkWriteOperation, MongoBulkWriteError } from "mongodb";
import type { SearchEntry } from "../../../lib/search-entry.ts";
import { isDuplicateKey, type TenantCollection } from "../../collection.ts";
import { type EntryDoc, entryId, fieldsOf, NONE, REMOVED } from "./entries.ts";

/** An upsert that meets another node's of the same entry is made again: then it sees which is newer. */
const TRIES = 2;
const DUPLICATE_KEY = 11000;

/** Puts entries of a tenant; an older version never replaces a newer one. */
export async function putEntries(
  rows: TenantCollection<EntryDoc>,
  tenant_id: string,
  entries: readonly SearchEntry[],
): Promise<void> {
  const operations = entries.map((entry) => operationsOf(tenant_id, entry));
  // First what is no longer true of the text, or a vector would stand beside words that it was not made of.
  const stale = operations.flatMap(({ forget }) => (forget ? [forget] : []));
  if (stale.length > 0) await rows.bulk(stale);
  for (let n = 0; n < TRIES; n++) if (await upsert(rows, operations)) return;
}

interface Operations {
  forget: AnyBulkWriteOperation<EntryDoc> | null;
  write: AnyBulkWriteOperation<EntryDoc>;
}

function operationsOf(tenant_id: string, entry: SearchEntry): Operations {
  const { kind, id, version, removed } = entry;
  const older = { _id: entryId(kind, id), tenant_id, version: { $lt: version } };
  if (removed) return { forget: null, write: upsertOf(older, removalOf({ kind, id, version })) };
  const fields = fieldsOf(entry);
  const update = { $unset: { vector: "" }, $set: { embedded: NONE } };
  return {
    forget: { updateOne: { filter: { ...older, hash: { $ne: fields.hash } }, update } } as never,
    write: upsertOf(older, { $set: fields, $setOnInsert: { embedded: NONE } }),
  };
}

function upsertOf(filter: object, update: object): AnyBulkWriteOperation<EntryDoc> {
  return { updateOne: { filter, update, upsert: true } } as never;
}

/** Only the version stays, so that no older one brings it back. */
function removalOf(kept: Pick<EntryDoc, "kind" | "id" | "version">): object {
  const gone = ["text", "title_terms", "text_terms", "tags", "audience", "vector", "hash", "thread"];
  return {
    $set: { ...kept, readers: [], embedded: REMOVED },
    $unset: Object.fromEntries(gone.map((field) => [field, ""])),
  };
}

/** Whether none was refused: an entry whose key is taken is there in a newer version, or was made just now. */
async function upsert(rows: TenantCollection<EntryDoc>, operations: readonly Operations[]): Promise<boolean> {
  if (operations.length === 0) return true;
  try {
    await rows.bulk(operations.map(({ write }) => write));
    return true;
  } catch (err) {
    const refused = err instanceof MongoBulkWriteError ? [err.writeErrors].flat() : [];
    const isOnlyTaken = isDuplicateKey(err) && refused.every(({ code }) => code === DUPLICATE_KEY);
    if (!isOnlyTaken) throw err;
    return false;
  }
}
