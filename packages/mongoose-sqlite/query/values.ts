/**
 * The stored form of a document is JSON. Values that JSON lacks are objects with the single key "$":
 * {"$": 1763600000000} is a Date, {"$": "o<hex>"} an ObjectId, {"$": "b<subtype hex><base64>"} binary data,
 * {"$": "nNaN"} a number that JSON lacks. A user's key that consists only of dollar signs is stored with one more.
 * Worker threads compare, match and update this form directly; only the main thread converts it to JS types.
 */
export type Raw = null | boolean | number | string | Raw[] | RawObject;
export type RawObject = { [key: string]: Raw };
/** A value that may be missing at a path. */
export type Maybe = Raw | undefined;

/** Ranks of types in MongoDB's comparison order. */
export const Rank = {
  null: 1,
  number: 2,
  string: 3,
  object: 4,
  array: 5,
  binary: 6,
  objectId: 7,
  boolean: 8,
  date: 9,
} as const;

const TAG_RANKS: Record<string, number> = { o: Rank.objectId, b: Rank.binary, n: Rank.number };

/** True for an embedded document, neither an array nor a tagged value. */
export function isDocument(value: Maybe): value is RawObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && value.$ === undefined;
}

export function typeRank(value: Maybe): number {
  if (value === null || value === undefined) return Rank.null;
  if (typeof value === "number") return Rank.number;
  if (typeof value === "string") return Rank.string;
  if (typeof value === "boolean") return Rank.boolean;
  if (Array.isArray(value)) return Rank.array;
  const tag = value.$;
  if (tag === undefined) return Rank.object;
  return typeof tag === "number" ? Rank.date : (TAG_RANKS[(tag as string)[0] as string] as number);
}

/** Returns the number of a raw value of rank `number`. */
export function toNumber(value: Maybe): number {
  return typeof value === "number" ? value : Number(((value as RawObject).$ as string).slice(1));
}

/** Returns a number as a raw value. */
export function rawNumber(value: number): Raw {
  return Number.isFinite(value) ? value : { $: `n${value}` };
}

function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
}

function compareArrays(a: Raw[], b: Raw[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compare(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareDocuments(a: RawObject, b: RawObject): number {
  const keysA = Object.keys(a);
  const keysB = Object.keys(b);
  const length = Math.min(keysA.length, keysB.length);
  for (let i = 0; i < length; i++) {
    const keyA = keysA[i] as string;
    const keyB = keysB[i] as string;
    const order =
      typeRank(a[keyA]) - typeRank(b[keyB]) || compareTexts(keyA, keyB) || compare(a[keyA], b[keyB]);
    if (order !== 0) return order;
  }
  return keysA.length - keysB.length;
}

function binaryOrder(value: RawObject): string {
  const text = value.$ as string;
  const bytes = Buffer.from(text.slice(3), "base64");
  return bytes.length.toString(16).padStart(8, "0") + text.slice(1, 3) + bytes.toString("hex");
}

/**
 * Compares values in MongoDB's total order; a missing value equals null. Returns a negative number, zero or a positive
 * one.
 */
export function compare(a: Maybe, b: Maybe): number {
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  const rank = typeRank(a);
  const order = rank - typeRank(b);
  if (order !== 0) return order;
  switch (rank) {
    case Rank.null:
      return 0;
    case Rank.number:
      return compareNumbers(toNumber(a), toNumber(b));
    case Rank.boolean:
      return Number(a) - Number(b);
    case Rank.array:
      return compareArrays(a as Raw[], b as Raw[]);
    case Rank.object:
      return compareDocuments(a as RawObject, b as RawObject);
    case Rank.date:
      return ((a as RawObject).$ as number) - ((b as RawObject).$ as number);
    case Rank.binary:
      return compareTexts(binaryOrder(a as RawObject), binaryOrder(b as RawObject));
    default:
      return compareTexts((a as RawObject).$ as string, (b as RawObject).$ as string);
  }
}

/** A value in an indexed column. */
export type Key = null | number | string;

// Everything but null, numbers and strings becomes text after DEL and the character of its rank, so that SQLite's order
// (NULL, numbers, text by bytes) is MongoDB's order of types. Text that begins at or above DEL gets DEL and a space in
// front, below all of them.
const MARK = "\x7f";

const RANK_CHARS: Record<number, string> = {
  [Rank.object]: "4",
  [Rank.binary]: "6",
  [Rank.objectId]: "7",
  [Rank.boolean]: "8",
  [Rank.date]: "9",
};

/** The last date and its key: the rows of a write mostly share theirs. */
let lastDate = Number.NaN;
let lastKey = "";

function dateKey(ms: number): string {
  if (ms !== lastDate) {
    lastKey = newDateKey(ms);
    lastDate = ms;
  }
  return lastKey;
}

// The length goes first: more digits are a larger number.
function newDateKey(ms: number): string {
  if (ms < 0) return `${MARK}9-${String(8_640_000_000_000_000 + ms).padStart(16, "0")}`;
  const digits = String(ms);
  return `${MARK}9${String.fromCharCode(96 + digits.length)}${digits}`;
}

/** Returns the column value of a scalar; arrays have none (they use side tables). */
export function toKey(value: Maybe): Key {
  if (typeof value === "string") return value.charCodeAt(0) >= 127 ? `${MARK} ${value}` : value;
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? `${MARK}81` : `${MARK}80`;
  if (Array.isArray(value)) return null;
  const tag = value.$;
  if (typeof tag === "number") return dateKey(tag);
  const rank = typeRank(value);
  if (rank === Rank.objectId) return `${MARK}7${(tag as string).slice(1)}`;
  if (rank === Rank.binary) return `${MARK}6${binaryOrder(value)}`;
  if (rank === Rank.number) return Number.isNaN(toNumber(value)) ? null : toNumber(value);
  return `${MARK}${RANK_CHARS[rank]}${JSON.stringify(value)}`;
}

/** True for a value whose column value does not sort or compare exactly like the value. */
export function isOdd(value: Maybe): boolean {
  if (typeof value !== "object" || value === null) return false;
  const tag = (value as RawObject).$;
  if (tag === undefined) return true;
  return typeof tag === "string" && tag[0] === "n";
}

/** Returns the half-open range of column values of one type: from `low` (inclusive) to `high` (exclusive). */
export function bracketOf(rank: number): { low: Key; high: string } | undefined {
  if (rank === Rank.number) return { low: null, high: "" };
  if (rank === Rank.string) return { low: "", high: `${MARK}4` };
  const char = RANK_CHARS[rank];
  if (char === undefined) return undefined;
  return { low: MARK + char, high: MARK + String.fromCharCode(char.charCodeAt(0) + 1) };
}

/** Inverts `toKey` for the possible values of an `_id`. */
export function fromKey(key: Key): Raw {
  if (typeof key !== "string" || key[0] !== MARK) return key;
  const body = key.slice(2);
  switch (key[1]) {
    case " ":
      return body;
    case "7":
      return { $: `o${body}` };
    case "8":
      return body === "1";
    case "9":
      return { $: body[0] === "-" ? Number(body.slice(1)) - 8_640_000_000_000_000 : Number(body.slice(1)) };
    case "6":
      return { $: `b${body.slice(8, 10)}${Buffer.from(body.slice(10), "hex").toString("base64")}` };
    default:
      return JSON.parse(body) as Raw;
  }
}

/**
 * Compares texts by code points, which is the order of their UTF-8 bytes and of the stores. `<` compares UTF-16 units
 * and sorts emoji before full-width letters.
 */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === length) return a.length - b.length;
  return codePointRank(a.charCodeAt(i)) - codePointRank(b.charCodeAt(i));
}

function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
