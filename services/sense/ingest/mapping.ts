import type { Static } from "typebox";
import { type CloudEvent, checkCloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { exactDigits, parsePointer, resolvePointer } from "../../../lib/json/json.ts";
import { thrownMappingError } from "../deliveries/dead-letter-state.ts";
import type { Mapping as MappingContract } from "./mapping.contract.ts";

/**
 * Maps a source's payloads to events, fixed at registration (spec: Events 3). Each field is a literal, a JSON Pointer
 * into the payload (`/issue/number`, RFC 6901) or a header of the delivery (`header:X-GitHub-Event`).
 */
export type MappingSpec = Static<typeof MappingContract> & { source: string };

/** Formats a mapping for callers: omitted fields are null, and unknown ones are removed. */
export function shownMapping(mapping: Omit<MappingSpec, "source">) {
  const { entity, action, id = null, subject = null, data = null } = mapping;
  return { entity, action, id, subject, data };
}

export type MappedHeaders = Readonly<Record<string, string | null | undefined>>;

/** Data of a delivery besides its payload. */
export interface Receipt {
  /** Prefix of every id, so that two sources never collide. */
  registration_id: string;
  /** The id of a delivery whose mapping sets none. */
  default_id: string;
  /** The event's `source`, a URI-reference. */
  ce_source: string;
  /** Names in lower case; null for a value that was not kept. */
  headers?: MappedHeaders;
  /** Milliseconds since the epoch; default: now. */
  now?: number;
}

/** The event, or the error: a complete dead-letter reason that begins with `mapping error: `. */
export type Mapped = { event: CloudEvent } | { error: string };

export type Mapping = (payload: unknown, receipt: Receipt) => Mapped;

/** Compiles a mapping. @throws Fault validation_error with `field` for an unusable literal, pointer or header */
export function compileMapping(spec: MappingSpec): Mapping {
  const parts = [
    typePart("source", spec.source),
    typePart("mapping.entity", spec.entity),
    typePart("mapping.action", spec.action),
  ];
  const id = optional("mapping.id", spec.id);
  const subject = optional("mapping.subject", spec.subject);
  const data = optional("mapping.data", spec.data);

  return (payload, receipt) =>
    attempt(() => {
      const delivery = { payload, headers: receipt.headers ?? {} };
      const about = subject?.read(delivery);
      return toEvent(receipt, {
        id: id ? scalarOf(id, id.read(delivery)) : undefined,
        kind: parts.map((part) => part(delivery)),
        subject: subject && !isUnset(about) ? scalarOf(subject, about) : undefined,
        data: data ? present(data, data.read(delivery)) : payload,
      });
    });
}

/** What a mapping finds in a delivery, `kind` for the type after `com`; id and time are otherwise those of the receipt. */
type Found = Pick<CloudEvent, "subject" | "time" | "data"> & { id: string | undefined; kind: string[] };

/** Builds the event of a delivery. @throws Fault invalid_event */
export function toEvent(receipt: Receipt, { id, kind, subject, time, data }: Found): CloudEvent {
  return checkCloudEvent({
    specversion: "1.0",
    id: `${receipt.registration_id}:${id ?? receipt.default_id}`,
    source: receipt.ce_source,
    type: ["com", ...kind].join("."),
    ...(subject !== undefined && { subject }),
    time: time ?? new Date(receipt.now ?? Date.now()).toISOString(),
    datacontenttype: "application/json",
    data,
  });
}

/**
 * Takes a CloudEvent unchanged, except that its id is preceded by the registration's and its source, which together
 * identify it: two senders never collide. The publisher rejects types reserved for the service.
 */
export const mapCloudEvent = (
  payload: unknown,
  { registration_id }: Pick<Receipt, "registration_id">,
): Mapped => attempt(() => checkCloudEvent(withPrefix(payload, registration_id)));

function withPrefix(payload: unknown, registration_id: string): unknown {
  const { id, source } = (payload ?? {}) as { id?: unknown; source?: unknown };
  // The check rejects unusable ids and sources. A source has no spaces.
  if (typeof id !== "string" || id === "" || typeof source !== "string") return payload;
  return { ...(payload as object), id: `${registration_id}:${source} ${id}` };
}

/**
 * Converts a value to one part of an event type, without dots: `Pull Request` → `pull_request`, `invoice.paid` →
 * `invoice_paid`; "" for a value without a letter or digit.
 */
export function toTypePart(value: string): string {
  const folded = value
    .normalize("NFC")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_-]+/gu, "_");
  return /[\p{L}\p{N}]/u.test(folded) ? folded : "";
}

export interface Delivery {
  payload: unknown;
  headers: MappedHeaders;
}

/** The source of a value; `read` returns undefined if it is missing. */
interface Term {
  field: string;
  text: string;
  literal: boolean;
  read(delivery: Delivery): unknown;
}

/** A value is missing in this payload. */
export class MappingError extends Error {}

/** Returns what is thrown as the reason of the dead letter. */
export function attempt(make: () => CloudEvent): Mapped {
  try {
    return { event: make() };
  } catch (err) {
    return { error: thrownMappingError(err) };
  }
}

const HEADER = /^header:/i;

/** Returns the header that a term of a mapping names, in lower case; null for other terms. */
export function headerName(text: string | null | undefined): string | null {
  return text && HEADER.test(text) ? text.replace(HEADER, "").trim().toLowerCase() : null;
}

function term(field: string, text: string): Term {
  const name = headerName(text);
  if (name !== null) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw invalidValue(field, `${field}: ${text} is not a header name: expected header:NAME.`);
    const read = ({ headers }: Delivery) => {
      if (headers[name] !== null) return headers[name];
      throw new MappingError(
        `${where({ field, text })} was not kept, as it may be a credential: send the request again`,
      );
    };
    return { field, text, literal: false, read };
  }
  if (!text.startsWith("/")) return { field, text, literal: true, read: () => text };
  const pointer = parsePointer(text);
  if (!pointer) {
    throw invalidValue(
      field,
      `${field}: ${text} is not a JSON Pointer (RFC 6901): encode ~ as ~0, and / in a key as ~1.`,
    );
  }
  return { field, text, literal: false, read: ({ payload }) => resolvePointer(payload, pointer) };
}

function optional(field: string, text: string | null | undefined): Term | null {
  return text === undefined || text === null ? null : term(field, text);
}

/** Compiles a term that is a part of the event type. @throws Fault validation_error */
export function typePart(field: string, text: string): (delivery: Delivery) => string {
  const from = term(field, text);
  if (from.literal) {
    const part = toTypePart(text);
    if (!part)
      throw invalidValue(field, `${field}: expected a string with a letter or digit, got "${text}".`);
    return () => part;
  }
  return (delivery) => {
    const value = scalarOf(from, from.read(delivery));
    const part = toTypePart(value);
    if (!part)
      throw new MappingError(`${where(from)} is "${value}": expected a string with a letter or digit`);
    return part;
  };
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function present(from: Term, value: unknown): unknown {
  if (value === undefined) throw new MappingError(`${where(from)} is missing`);
  return value;
}

function scalarOf(from: Term, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  // Two unsafe integers can be parsed as the same number, and would then be the same event.
  const digits = exactDigits(value);
  if (digits !== null) return digits;
  const exact = typeof value === "number" && !(Number.isInteger(value) && !Number.isSafeInteger(value));
  if (exact) return String(value);
  throw new MappingError(`${where(from)} is ${found(value)}: expected a string or a number`);
}

function where({ field, text }: Pick<Term, "field" | "text">): string {
  return `${field.replace("mapping.", "")}: ${text}`;
}

function found(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === "") return "empty";
  if (typeof value === "number") return `${value}, too large to be read exactly`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
