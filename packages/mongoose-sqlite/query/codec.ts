import { Binary, ObjectId } from "mongodb";
import { NotImplemented } from "../errors.ts";
import { type Raw, type RawObject, rawNumber } from "./values.ts";

type Plain = Record<string, unknown>;

/**
 * Returns the JSON text of a JS value in stored form, without the field `without`. Throws `NotImplemented` for a type
 * that cannot be stored.
 */
export function encode(value: unknown, without?: string): string {
  const raw = toRaw(value);
  // JSON omits undefined.
  if (without !== undefined) (raw as Plain)[without] = undefined;
  return JSON.stringify(raw);
}

/** Converts a JS value to stored form. */
export function toRaw(value: unknown): Raw {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return rawNumber(value);
    case "object":
      return value === null ? null : objectToRaw(value);
    case "undefined":
      return null;
    default:
      throw new NotImplemented(`values of type ${typeof value}`);
  }
}

function objectToRaw(value: object): Raw {
  if (Array.isArray(value)) return value.map((each) => toRaw(each));
  if (value instanceof Date) return { $: value.getTime() || 0 };
  if ((value as Plain)._bsontype !== undefined) return bsonToRaw(value as Plain);
  if (value instanceof Uint8Array) return binary(0, value);
  if (value instanceof RegExp) throw new NotImplemented("values of type RegExp");
  if (typeof (value as Plain).toBSON === "function") return toRaw((value as { toBSON(): unknown }).toBSON());
  return documentToRaw(value instanceof Map ? Object.fromEntries(value) : (value as Plain));
}

function documentToRaw(value: Plain): RawObject {
  const result: RawObject = {};
  for (const key in value) {
    const item = value[key];
    if (typeof item !== "function") put(result, isDollars(key) ? `${key}$` : key, toRaw(item));
  }
  return result;
}

function isDollars(key: string): boolean {
  return key.charCodeAt(0) === 36 && /^\$+$/.test(key);
}

function put(target: RawObject | Plain, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else (target as Plain)[key] = value;
}

function binary(subtype: number, bytes: Uint8Array): RawObject {
  return {
    $: `b${subtype.toString(16).padStart(2, "0")}${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}`,
  };
}

function bsonToRaw(value: Plain): Raw {
  switch (value._bsontype) {
    case "ObjectId":
      return { $: `o${(value as unknown as ObjectId).toHexString()}` };
    case "Binary":
      return binary((value as unknown as Binary).sub_type, (value as unknown as Binary).value());
    default:
      throw new NotImplemented(`values of BSON type ${value._bsontype}`);
  }
}

/** Parses stored text into a JS value. */
export function decode(text: string): unknown {
  const value = JSON.parse(text) as Raw;
  return text.includes('"$') ? fromRaw(value) : value;
}

/** Converts a stored form to a JS value, in place where possible. */
export function fromRaw(value: Raw): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i];
      if (typeof item === "object" && item !== null) (value as unknown[])[i] = fromRaw(item);
    }
    return value;
  }
  const tag = value.$;
  return tag === undefined ? documentFromRaw(value) : untag(tag as number | string);
}

function documentFromRaw(value: RawObject): unknown {
  let escaped = false;
  for (const key in value) {
    const item = value[key];
    if (typeof item === "object" && item !== null) put(value, key, fromRaw(item));
    if (isDollars(key)) escaped = true;
  }
  if (!escaped) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [isDollars(key) ? key.slice(1) : key, item]),
  );
}

function untag(tag: number | string): unknown {
  if (typeof tag === "number") return new Date(tag);
  const body = tag.slice(1);
  switch (tag[0]) {
    case "o":
      return ObjectId.createFromHexString(body);
    case "b":
      return new Binary(Buffer.from(body.slice(2), "base64"), Number.parseInt(body.slice(0, 2), 16));
    default:
      return Number(body);
  }
}
