import { type TenantCollection, takenRows } from "../../collection.ts";
import type { OwnedWhere, Update, Write } from "../../query.ts";
import type { SearchEntry } from "../entry.ts";
import { type EntryDoc, entryId, fieldsOf, NONE, REMOVED } from "./entries.ts";

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
  // An entry whose key is still taken is there in a newer version.
  await rows.upsert(operations.map(({ write }) => write)).catch(takenRows);
}

interface Operations {
  forget: Write<EntryDoc> | null;
  write: { filter: OwnedWhere<EntryDoc>; update: Update<EntryDoc> };
}

function operationsOf(tenant_id: string, entry: SearchEntry): Operations {
  const { kind, id, version, removed } = entry;
  const older = { _id: entryId(kind, id), tenant_id, version: { $lt: version } };
  if (removed) return { forget: null, write: { filter: older, update: removalOf({ kind, id, version }) } };
  const fields = fieldsOf(entry);
  const update = { $unset: { vector: "" }, $set: { embedded: NONE } };
  return {
    forget: { updateOne: { filter: { ...older, hash: { $ne: fields.hash } }, update } },
    write: { filter: older, update: { $set: fields, $setOnInsert: { embedded: NONE } } },
  };
}

/** Only the version stays, so that no older one brings it back. */
function removalOf(kept: Pick<EntryDoc, "kind" | "id" | "version">): Update<EntryDoc> {
  const gone = ["text", "title_terms", "text_terms", "tags", "audience", "vector", "hash", "thread"];
  return {
    $set: { ...kept, readers: [], embedded: REMOVED },
    $unset: Object.fromEntries(gone.map((field) => [field, ""])),
  };
}
