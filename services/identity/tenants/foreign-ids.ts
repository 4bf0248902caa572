import { Schema } from "mongoose";
import type { TenantCollection, TenantDocument } from "../../../storage/collection.ts";
import { type AnyModel, fieldsOf } from "../../../storage/model.ts";
import { MODELS } from "../../models.ts";

const ID = /^(?:([a-z]{2,4})_[\w-]{1,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** Ids that are looked up at once. */
const PAGE = 1000;

type Open = (name: string) => Promise<{ rows: TenantCollection<TenantDocument> }>;

/**
 * Returns which of some imported rows name a row of another tenant, each with the reason. Every field is looked at but content:
 * ids in the texts of callers refer to nothing.
 */
export async function findForeign(
  { schema }: Pick<AnyModel, "schema">,
  tenant_id: string,
  rows: readonly TenantDocument[],
  open: Open,
): Promise<Map<string, string>> {
  const named = rows.map((row) => [row._id, idsIn(schema, row)] as const);
  const all = new Set(named.flatMap(([, ids]) => [...ids.keys()]));
  const kinds = Map.groupBy(all, kindOf);
  const foreign = new Set<string>();
  for (const { name, ids: kind } of MODELS) {
    const wanted = (kind && kinds.get(kind)) ?? [];
    for (let at = 0; at < wanted.length; at += PAGE) {
      const others = { _id: { $in: wanted.slice(at, at + PAGE) }, tenant_id: { $ne: tenant_id } };
      const { rows: there } = await open(name);
      const found = await there.system.find(others, { projection: { _id: 1 } }).toArray();
      for (const { _id } of found) foreign.add(_id);
    }
  }
  return new Map(
    named.flatMap(([_id, ids]) => {
      const id = foreign.size > 0 && [...ids.keys()].find((each) => foreign.has(each));
      return id ? [[_id, `${ids.get(id)}: ${id} is another tenant's.`] as const] : [];
    }),
  );
}

const kindOf = (id: string) => ID.exec(id)?.[1] ?? "uuid";

/** Returns what looks like an id in a row, with its field. Keys may have several: `<agent> <number>`. */
function idsIn(schema: AnyModel["schema"], row: TenantDocument): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, type, content, kept, sealed } of fieldsOf(schema)) {
    if (content === true || kept || sealed || (type !== String && type !== Schema.Types.Mixed)) continue;
    for (const text of textsIn(row, path.split("."), content ?? []))
      for (const each of text.split(/[\s/:"]+/)) if (ID.test(each)) found.set(each, path);
  }
  return found;
}

/** Yields all texts of a field, and names of its values, but those under some names. */
function* textsIn(value: unknown, [name, ...rest]: string[], but: readonly string[]): Generator<string> {
  if (typeof value === "string" && name === undefined) yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (name === undefined) yield key;
    const further = Array.isArray(value) && name !== undefined ? [name, ...rest] : rest;
    if (name === undefined ? !but.includes(key) : Array.isArray(value) || key === name)
      yield* textsIn(each, further, but);
  }
}
