import type { Binary, Document } from "mongodb";
import { type InferSchemaType, Schema } from "mongoose";
import type { PackedField } from "mongoose-sqlite";
import type { Sealed } from "../lib/crypto/secrets.ts";
import type { Prefix } from "../lib/ids.ts";

export { INSTALLATION } from "../lib/ids.ts";

/** Fields of every stored document. */
export interface TenantDocument {
  _id: string;
  tenant_id: string;
}

/** The driver's type of a document, after `Where` and `Update` have checked the arguments. */
export type Row = TenantDocument & Document;

/**
 * How the content of a collection is erased. With a tenant all its rows are deleted, in every collection.
 *
 * The domain's internal action for each kind of request is named; all accept `{tenant_id, agent_id | subject | ids,
 * dry_run}` and return counts by name.
 */
interface Erasers {
  /** Content of an agent. */
  agent?: string;
  /** Content about a person. */
  subject?: string;
  /** Data about memories, in batches of their ids. */
  memories?: string;
  /** Texts that may mention erased memories by their ids. */
  mentions?: string;
}

export type Erasure = (
  | Erasers
  /** Its rows stay, but texts that name what is erased are replaced (storage/replace-texts.ts). */
  | Replaced
  /** Its rows end with those of another collection. */
  | { with: string }
  /** Its rows are made of those of another collection, again when those change, and end with them. */
  | { follows: string }
  /** Why nobody's request reaches it. */
  | { none: string }
) & {
  /** Fields with the id of the agent with which a row ends. */
  owner?: readonly string[];
};

export interface Replaced {
  replaced: {
    /** Paths of the id of the agent that all texts of a row come from. */
    of: readonly string[];
    /** Paths of the id of the agent whose work fields are, `"all"` or these. They stay when the agent is only deleted. */
    by?: Readonly<Record<string, "all" | readonly string[]>>;
    /** Only in these rows; those of a person in the others too, afterwards. */
    within?: Record<string, unknown>;
    /** The field that guards the row's writes. */
    version?: string;
    /** The action, on each node, that writes what it has in memory only. */
    flush?: string;
    /** The action, on each node, that forgets what it has of replaced rows in memory. */
    forget?: string;
    /** The field with the length of the row's blob, which is a text too. */
    size?: string;
    /** Whether rows of others are about whom these are about: then these come last. */
    last?: boolean;
    /** The action that ends once search has what was replaced: `{tenant_id, since}`. */
    settle?: string;
  };
}

/** How the rows of a collection reach another installation with their tenant (services/identity/tenants/moving.ts). */
export type Move =
  | {
      /** Stage of the rows: background work on them needs those of earlier stages, as do lookups by their readers. */
      stage: 0 | 1 | 2 | 3 | 4;
      /** How a row is imported whose secrets are left out; by default a random one replaces each. */
      withoutSecrets?: "left out" | Record<string, unknown>;
    }
  /** Why its rows stay: they are derived from others, or belong to the installation. */
  | { none: string };

/** The model of a collection without the type of its documents. */
export interface AnyModel {
  name: string;
  schema: { obj: object };
  /** The form of the random ids of its rows; absent if ids are made of others, or of names. */
  ids?: Prefix | "uuid";
  erasure: Erasure;
  move: Move;
  outOfLine?: string;
  packed?: true;
  blobs?: readonly string[];
  namedBlobs?: readonly string[];
  erased?(row: never, now: Date): object;
}

/** A collection's name and its mongoose schema (fields and indexes). */
export interface Model<T> extends AnyModel {
  schema: Schema<T>;
  /** Returns what an imported row has for what the server computes, such as keys that are unique or that loops follow. */
  anew?(row: T, now: Date): Partial<T>;
  /** Returns what a row has for what follows from its texts, once some are replaced by an erasure. */
  erased?(row: T, now: Date): Partial<T>;
  /** A long string that is written once: the embedded store keeps it in a separate table, so that no update copies it. */
  outOfLine?: keyof T & string;
  /** Instead: the embedded store keeps all fields in columns, not in a JSON text. For rows that each event writes. */
  packed?: true;
  /** Fields with the hash of a blob, which is released with its last reference. */
  blobs?: readonly (keyof T & string)[];
  /** Fields with hashes of blobs that another row is about to reference: they count as references until cleared. */
  namedBlobs?: readonly (keyof T & string)[];
}

/**
 * Builds the schema of a tenant's documents: the given fields, `_id` and `tenant_id`. `DocumentOf` gives the type of
 * its documents. This replaces mongoose's own inference, which makes every field optional, ids ObjectIds, and
 * strings and mixed values of any kind.
 */
export function tenantSchema<F extends Fields>(
  fields: F,
): Schema<Flat<TenantDocument & FieldTypes<F> & MarkLarge<LargeOf<F>>>> {
  const definition: object = { _id: t.string(), tenant_id: t.string(), ...fields };
  return new Schema(definition, { versionKey: false, minimize: false });
}

// An empty text is one.
Schema.Types.String.checkRequired((value) => typeof value === "string");

declare const TYPE: unique symbol;
declare const OPTIONAL: unique symbol;
declare const LARGE: unique symbol;

/** A field's definition for mongoose. The type of its values exists for the compiler only. */
interface Field<T, Optional extends boolean = false, Large extends boolean = false> {
  readonly [TYPE]: T;
  readonly [OPTIONAL]: Optional;
  readonly [LARGE]: Large;
}

type Fields = Record<string, Field<unknown, boolean, boolean>>;

/** Names a document's large fields for the compiler; no document has this field. */
interface WithLarge<K> {
  readonly [LARGE]?: K;
}

type MarkLarge<K> = [K] extends [never] ? unknown : WithLarge<K>;

/** The large fields of a document's type. */
export type LargeKeys<T> = typeof LARGE extends keyof T
  ? NonNullable<T[typeof LARGE]> & keyof T & string
  : never;

const field = <T, Optional extends boolean = false>(type: unknown, rules: object = {}) =>
  ({ type, required: true, cast: false, ...rules }) as unknown as Field<T, Optional>;

/** Characters of a text that is not large. */
const TEXT = { maxlength: 65_536 };
const LARGE_TEXT = { maxlength: 16_777_216 };
/** Counting on from the last is still exact. */
const NUMBER = { min: -1e15, max: 1e15 };
const DATE = { min: new Date("0000-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z") };
const LIST = {
  ...{ default: undefined, castNonArrays: false },
  validate: {
    validator: (list: unknown[] | null) => !list?.includes(null),
    message: "An item of {PATH} is missing.",
  },
};
const JSON_TEXT = { validate: { validator: isJson, message: "{PATH} is no JSON." } };
const MIXED = { validate: { validator: isShallow, message: "{PATH} is no list or object, or too deep." } };
/** Levels of a value: MongoDB stores a hundred. */
const DEEPEST = 64;

/** Definitions of a schema's fields. Rows that come from elsewhere are validated by them (`anew`). */
export const t = {
  string: <T extends string = string>(match?: RegExp) =>
    field<T extends Sealed ? never : T>(String, { ...TEXT, ...(match && { match }) }),
  /**
   * A text that callers or other systems fill: content, which erasures have to reach.
   * @param form what made it of another text, in which it then has names too
   */
  text: (form?: Form) => field<string>(String, { ...TEXT, content: true, ...(form && { form }) }),
  /** A value with such texts: those under these names, or all. */
  texts: <T>(of: Field<T>, ...names: string[]) =>
    ({ ...of, content: names.length ? names : true }) as unknown as Field<T>,
  /** JSON of callers, all of whose texts are content but those under these names at its top. */
  textsBut: <T>(of: Field<T>, ...kept: string[]) => ({ content: [], ...of, kept }) as unknown as Field<T>,
  oneOf: <const T extends string>(values: readonly T[]) => field<T>(String, { enum: values }),
  /** JSON as text: callers' keys must have no meaning in the store. */
  json: () => field<string>(String, { ...TEXT, ...JSON_TEXT, json: true }),
  number: () => field<number>(Number, NUMBER),
  boolean: () => field<boolean>(Boolean),
  date: () => field<Date>(Date, DATE),
  /** Bytes, as the driver reads them. */
  binary: () => field<Binary>(Buffer, { cast: undefined }),
  /** A list or an object whose content mongoose ignores. */
  mixed: <T>() => field<T>(Schema.Types.Mixed, MIXED),
  array: <T>(of: Field<T>) => field<T[]>([of], LIST),
  /** An array of subdocuments without ids. */
  subdocuments: <F extends Fields>(fields: F) => field<FieldTypes<F>[]>([partOf(fields)], LIST),

  /** A subdocument without an id. */
  subdocument: <F extends Fields>(fields: F) => field<FieldTypes<F>>(partOf(fields)),
  /**
   * A text that a `SecretBox` has sealed. Only values of these fields open, so that a new key reaches all of them.
   * @param place returns the place that a row's text is sealed for
   */
  sealed: (place: SealedField["place"]) => field<Sealed>(String, { ...TEXT, sealed: { place } }),
  /** A text that is sealed in the rows with the field `only`, and plain in others. */
  sealedWith: (only: string, place: SealedField["place"]) =>
    field<string>(String, { ...TEXT, sealed: { place, only } }),

  /** Null without a value. */
  nullable: <T, L extends boolean>(of: Field<T, false, L>) =>
    ({ ...of, required: false, default: null }) as unknown as Field<T | null, false, L>,
  /** The field may be absent. */
  optional: <T, L extends boolean>(of: Field<T, false, L>) =>
    ({ ...of, required: false, default: undefined }) as unknown as Field<T, true, L>,

  /**
   * A field whose size callers choose: more than some kilobytes in a row. Reads of several rows must then leave it out or
   * have a budget (`TenantCollection.find`).
   */
  large: <T>(of: Field<T>) => ({ ...of, ...LARGE_TEXT, large: true }) as unknown as Field<T, false, true>,
};

const partOf = (fields: Fields) => new Schema(fields as object, { _id: false, minimize: false });

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isShallow(value: unknown, depth = 0): boolean {
  // Null is for `required` to refuse.
  if (typeof value !== "object" || value === null) return depth > 0 || value === null;
  return depth < DEEPEST && Object.values(value).every((each) => isShallow(each, depth + 1));
}

export type DocumentOf<S> = InferSchemaType<S>;

/** A path of sealed texts, through arrays too, and their place by the row's id. */
export interface SealedField {
  path: string;
  place: (row_id: string) => string;
  only?: string;
}

/** Returns the sealed fields of a schema. */
export function sealedFields(schema: { obj: object }): SealedField[] {
  return fieldsOf(schema).flatMap(({ path, sealed }) => (sealed ? [{ path, ...sealed }] : []));
}

/** A path of a schema, through parts and lists too, with what is declared of it. */
export interface DeclaredField {
  path: string;
  /** Its type for mongoose. */
  type: unknown;
  sealed?: Omit<SealedField, "path">;
  /** It holds content: all its texts, or those under these names. */
  content?: true | readonly string[];
  json?: true;
  /** All texts of JSON, but those under these names at its top. */
  kept?: readonly string[];
  form?: Form;
}

type Form = (text: string) => string;

export function fieldsOf(schema: { obj: object }): DeclaredField[] {
  return Object.entries(schema.obj).flatMap(([name, value]) => fieldsIn(name, value));
}

function fieldsIn(path: string, definition: unknown): DeclaredField[] {
  if (typeof definition === "function") return [{ path, type: definition }];
  const { type, ...declared } = definition as Omit<DeclaredField, "path">;
  const [part] = [type].flat();
  if (part instanceof Schema)
    return fieldsOf(part as { obj: object }).map((each) => ({ ...each, path: `${path}.${each.path}` }));
  if (typeof part === "object" && part !== null) return fieldsIn(path, { ...part, ...declared });
  return [{ path, ...declared, type: part }];
}

const KINDS = new Map<unknown, PackedField["kind"]>([
  [String, "string"],
  [Number, "number"],
  [Date, "date"],
]);

/** Returns the fields of a schema as the embedded store's columns, large ones last: what is before them is read alone. */
export function packedFields(schema: { obj: object }): PackedField[] {
  type Declared = { type: unknown; required: boolean; default?: unknown; large?: boolean };
  const kindOf = ({ type, large }: Declared) =>
    large && type === String ? "text" : (KINDS.get(type) ?? "json");
  return Object.entries(schema.obj as Record<string, Declared>)
    .sort(([, a], [, b]) => Number(a.large ?? false) - Number(b.large ?? false))
    .map(([path, declared]) => ({
      path,
      kind: kindOf(declared),
      empty: declared.required ? "never" : declared.default === null ? "null" : "absent",
    }));
}

/** Returns the names of a schema's large fields. */
export function largeFields(schema: { paths: Record<string, { options: { large?: boolean } }> }): string[] {
  return Object.keys(schema.paths).filter((path) => schema.paths[path]?.options.large);
}

type Flat<T> = { [K in keyof T]: T[K] };
type TypeOf<F> = F extends Field<infer T, boolean, boolean> ? T : never;
type LargeOf<F extends Fields> = {
  [K in keyof F]: F[K] extends Field<unknown, boolean, true> ? K : never;
}[keyof F];

export type FieldTypes<F extends Fields> = Flat<
  { [K in keyof F as F[K] extends Field<unknown, true, boolean> ? never : K]: TypeOf<F[K]> } & {
    [K in keyof F as F[K] extends Field<unknown, true, boolean> ? K : never]?: TypeOf<F[K]>;
  }
>;
