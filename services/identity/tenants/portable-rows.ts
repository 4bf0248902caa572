import { randomBytes } from "node:crypto";
import { type Error as MongooseError, type Model as MongooseModel, Schema } from "mongoose";
import { decode, encode } from "mongoose-sqlite";
import { invalidValue } from "../../../lib/contract/faults.ts";
import type { Sealed, SecretBox } from "../../../lib/crypto/secrets.ts";
import { placeAnew } from "../../../mixins/queue.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import {
  type AnyModel,
  fieldsOf,
  type Model,
  type Move,
  type SealedField,
  sealedFields,
  type TenantDocument,
} from "../../../storage/model.ts";
import { MODELS } from "../../models.ts";

type Moved = Extract<Move, { stage: number }>;
export type MovedModel = Model<TenantDocument> & { move: Moved };

/** A row as an export has it: its secrets are sealed with the export's key, or left out. */
type Exported = TenantDocument & Record<string, unknown>;

/** The installation's secrets, and those of the export; null if it has none. */
interface Boxes {
  own: SecretBox;
  portable: SecretBox | null;
}

/** Takes the place of a secret that was left out. */
const LEFT_OUT = "v0.";
const MOST_REASON = 300;

/** The collections that move with a tenant, in the order of their import. */
export const MOVED: readonly MovedModel[] = (MODELS as unknown as readonly MovedModel[])
  .filter(({ move }) => "stage" in move)
  .toSorted((a, b) => a.move.stage - b.move.stage);

const SEALED = new Map(MOVED.map((model) => [model, sealedFields(model.schema)]));

/** Returns a row as a line of an export. @throws SecretError if the installation's key does not open a secret */
export function exportRow(model: MovedModel, row: TenantDocument, { own, portable }: Boxes): string {
  changeSealed(model, row, (text, place) =>
    portable ? portable.seal(own.open(text, place), place) : LEFT_OUT,
  );
  return `${encode(row)}\n`;
}

/** Returns the rows of a page. @throws Fault validation_failed, also for a row of another tenant */
export function readRows(tenant_id: string, text: string): Exported[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const row = readRow(line);
      if (typeof row?._id === "string" && row.tenant_id === tenant_id) return row;
      throw invalidValue("rows", `rows: each needs an _id, and the tenant ${tenant_id}.`);
    });
}

function readRow(line: string): Exported | null {
  try {
    return decode(line) as Exported | null;
  } catch {
    throw invalidValue("rows", "rows: expected NDJSON of an export.");
  }
}

/**
 * Returns a row as the installation stores it, or null if it is left out with its secrets.
 * @throws SecretError if the export's key does not open a secret
 */
export function toImport(model: MovedModel, exported: Exported, { own, portable }: Boxes) {
  const { withoutSecrets } = model.move;
  const row: Exported = { ...exported };
  let isUnset = false;
  changeSealed(model, row, (text, place) => {
    if (text !== LEFT_OUT) return own.seal(portableOf(portable, text, place), place);
    isUnset = true;
    return own.seal(`whsec_${randomBytes(32).toString("base64")}`, place);
  });
  if (isUnset && withoutSecrets === "left out") return { row: null, isUnset };
  return {
    row: isUnset && typeof withoutSecrets === "object" ? { ...row, ...withoutSecrets } : row,
    isUnset,
  };
}

/**
 * Returns a row as the collection's model has it: of the right types, without unknown fields, and with what the server
 * computes computed here. Or the reason why it is none, which names the field.
 */
export async function admit(
  { anew }: MovedModel,
  Stored: MongooseModel<object>,
  row: Exported,
  now: Date,
): Promise<{ row: TenantDocument } | { reason: string }> {
  const { _id, tenant_id } = row;
  const [named = tenant_id] = /^tn_[\w-]+/.exec(_id) ?? [];
  if (named !== tenant_id) return { reason: "_id: names another tenant." };
  try {
    const document = new Stored(row);
    await document.validate();
    const valid = document.toObject() as unknown as Exported;
    const { queue } = valid as { queue?: string };
    const place = queue && { queue: placeAnew(tenant_id, queue, now.getTime()) };
    const fields = Object.entries({ ...valid, ...anew?.(valid, now), ...place });
    return { row: Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as never };
  } catch (err) {
    const { errors = {}, message } = err as MongooseError.ValidationError;
    const [field, why] = Object.entries(errors)[0] ?? ["row", { message }];
    return { reason: `${field}: ${why.message}`.slice(0, MOST_REASON) };
  }
}

function portableOf(box: SecretBox | null, text: Sealed, place: string): string {
  if (box) return box.open(text, place);
  throw invalidValue("key", "key: required, because the export has secrets.");
}

/** Replaces every secret of a row. */
function changeSealed(
  model: MovedModel,
  row: TenantDocument,
  change: (text: Sealed, place: string) => string,
) {
  // Only some stored answers are secret.
  for (const { path, place, only } of SEALED.get(model) as SealedField[])
    if (only === undefined || (only in row && (row as Exported)[only]))
      visit(row, path.split("."), (text) => change(text, place(row._id)));
}

function visit(value: unknown, [name, ...rest]: string[], change: (text: Sealed) => string): void {
  if (Array.isArray(value)) for (const each of value) visit(each, [name as string, ...rest], change);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const fields = value as Record<string, unknown>;
  const held = fields[name as string];
  if (rest.length > 0) visit(held, rest, change);
  else if (typeof held === "string") fields[name as string] = change(held as Sealed);
}

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
  const ids = new Map<string, string>();
  for (const { path, type, content, kept, sealed } of fieldsOf(schema)) {
    if (content === true || kept || sealed || (type !== String && type !== Schema.Types.Mixed)) continue;
    for (const text of textsIn(row, path.split("."), content ?? []))
      for (const each of text.split(/[\s/:"]+/)) if (ID.test(each)) ids.set(each, path);
  }
  return ids;
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
