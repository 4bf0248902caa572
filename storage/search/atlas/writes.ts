import type { TenantCollection } from "../../collection.ts";
import type { OwnedWhere, Update, Write } from "../../query.ts";
import { takenRows } from "../../write-errors.ts";
import type { SearchEntry } from "../entry.ts";
import { type EntryDoc, entryId, NONE, REMOVED, toFields } from "./entries.ts";

/** Puts entries of a tenant; an older version never replaces a newer one. */
export async function putEntries(
  rows: TenantCollection<EntryDoc>,
  tenant_id: string,
  entries: readonly SearchEntry[],
): Promise<void> {
  const operations = entries.map((entry) => buildOperations(tenant_id, entry));
  // First remove vectors of changed texts, or a vector could remain with a text that it does not belong to.
  const stale = operations.flatMap(({ forget }) => (forget ? [forget] : []));
  if (stale.length > 0) await rows.bulk(stale);
  // The duplicate key belongs to a newer version of the entry.
  await rows.upsert(operations.map(({ write }) => write)).catch(takenRows);
}

interface Operations {
  forget: Write<EntryDoc> | null;
  write: { filter: OwnedWhere<EntryDoc>; update: Update<EntryDoc> };
}

function buildOperations(tenant_id: string, entry: SearchEntry): Operations {
  const { kind, id, version, removed } = entry;
  const older = { _id: entryId(kind, id), tenant_id, version: { $lt: version } };
  if (removed) return { forget: null, write: { filter: older, update: buildRemoval({ kind, id, version }) } };
  const fields = toFields(entry);
  const update = { $unset: { vector: "" }, $set: { embedded: NONE } };
  return {
    forget: { updateOne: { filter: { ...older, hash: { $ne: fields.hash } }, update } },
    write: { filter: older, update: { $set: fields, $setOnInsert: { embedded: NONE } } },
  };
}

/** Keeps only the version, so that no older one restores the entry. */
function buildRemoval(kept: Pick<EntryDoc, "kind" | "id" | "version">): Update<EntryDoc> {
  const gone = ["text", "title_terms", "text_terms", "tags", "audience", "vector", "hash", "thread"];
  return {
    $set: { ...kept, readers: [], embedded: REMOVED },
    $unset: Object.fromEntries(gone.map((field) => [field, ""])),
  };
}
