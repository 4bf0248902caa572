import { expectation, Fault, quoted, shown } from "../contract/faults.ts";
import { hasRealDay } from "../time.ts";

/** A CloudEvents 1.0 envelope in its JSON form (spec: Event). Any other name is an extension attribute. */
export interface CloudEvent {
  specversion: "1.0";
  /** Unique within the producer; with the tenant it is the deduplication key. */
  id: string;
  source: string;
  type: string;
  subject?: string;
  time?: string;
  datacontenttype?: string;
  dataschema?: string;
  /** Extension: not to be delivered before this time. */
  notbefore?: string;
  data?: unknown;
  /** Binary data, in place of `data`. */
  data_base64?: string;
  [extension: string]: unknown;
}

export const ATTRIBUTES = [
  ...["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema"],
];

/** The check of an attribute, and the expectation that an error states. */
interface Rule {
  expected: string;
  fits(value: unknown): boolean;
}

// RFC 3986, with a lenient authority. Every branch starts with a different character, so matching is linear.
const PATH_CHARACTER = "[\\w.~!$&'()*+,;=:@/-]|%[\\dA-Fa-f]{2}";
const TAIL = `(?:\\?(?:${PATH_CHARACTER}|\\?)*)?(?:#(?:${PATH_CHARACTER}|\\?)*)?$`;
const AUTHORITY = "(?://(?:[\\w.~!$&'()*+,;=:@\\[\\]-]|%[\\dA-Fa-f]{2})*(?=[/?#]|$))?";
const SCHEME = "[A-Za-z][A-Za-z\\d+.-]*:";
const URI = new RegExp(`^${SCHEME}${AUTHORITY}(?:${PATH_CHARACTER})*${TAIL}`);
// Without a scheme the first segment has no colon, or it would be read as a scheme.
const RELATIVE = new RegExp(`^(?![^/?#]*:)${AUTHORITY}(?:${PATH_CHARACTER})*${TAIL}`);

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:\\s*;\\s*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))*\\s*$`,
);

const RFC3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

// Control characters and noncharacters, which a CloudEvents string must not hold; surrogates by isWellFormed.
const FORBIDDEN = /[\p{Cc}\u{FDD0}-\u{FDEF}\u{FFFE}\u{FFFF}]/u;

// Attributes are indexed and listed. CloudEvents sets no limit; no real producer comes near this one.
export const MAX_ATTRIBUTE = 4096;

/** Characters of a type, which every glob of a tenant may have to match. */
export const MAX_TYPE_LENGTH = 255;

const text: Rule = {
  expected: `a non-empty string without control characters, at most ${MAX_ATTRIBUTE} long`,
  fits: isText,
};
const RULES: Record<string, Rule> = {
  specversion: { expected: '"1.0"', fits: (value) => value === "1.0" },
  id: text,
  type: {
    expected: `a non-empty string without control characters, at most ${MAX_TYPE_LENGTH} long`,
    fits: isType,
  },
  subject: text,
  source: {
    expected: `a non-empty URI-reference (RFC 3986), at most ${MAX_ATTRIBUTE} long`,
    fits: isUriReference,
  },
  dataschema: { expected: "an absolute URI (RFC 3986)", fits: isUri },
  time: { expected: "a date and time (RFC 3339)", fits: isTime },
  notbefore: { expected: "a date and time (RFC 3339)", fits: isTime },
  datacontenttype: {
    expected: "a media type (RFC 2046)",
    fits: (value) => isShort(value) && MEDIA_TYPE.test(value),
  },
  data_base64: { expected: "base64 (RFC 4648)", fits: isBase64 },
};

const extensionRule: Rule = {
  expected: "a string without control characters, a boolean or a 32-bit integer",
  fits: isScalar,
};

const REQUIRED = ["specversion", "id", "source", "type"] as const;
const NAME = /^[a-z0-9]+$/;
const OBJECT_OR_BATCH = "a JSON object; several events are sent as application/cloudevents-batch+json";
const NAME_EXPECTED = "an attribute name of lower-case letters and digits";

/** Returns the value as an envelope, its null attributes removed in place. @throws Fault invalid_event */
export function checkCloudEvent(value: unknown): CloudEvent {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidEvent("", value, Array.isArray(value) ? OBJECT_OR_BATCH : "a JSON object");
  }
  const event = value as Record<string, unknown>;
  for (const name in event) {
    if (name === "data") continue;
    if (event[name] === null || event[name] === undefined) delete event[name];
    else checkAttribute(name, event[name]);
  }
  for (const name of REQUIRED) {
    if (event[name] === undefined) throw missingAttribute(name);
  }
  if (event.data === null && event.data_base64 !== undefined) delete event.data;
  if (event.data !== undefined && event.data_base64 !== undefined) {
    throw invalidEvent("data_base64", event.data_base64, "either data or data_base64, not both");
  }
  return event as CloudEvent;
}

/** Returns an `invalid_event` fault (spec: Errors). @param hint follows the message */
export function invalidEvent(field: string, value: unknown, expected: string, hint = ""): Fault {
  // Data is not quoted: messages are kept longer than events, as the reasons of dead letters.
  const actual = value === null || field.startsWith("data") ? undefined : quoted(value);
  const message = expectation(field || "The event", expected, actual);
  return new Fault("invalid_event", message + hint, { field, value: shown(value), expected });
}

function missingAttribute(field: (typeof REQUIRED)[number]): Fault {
  const { expected } = RULES[field] as Rule;
  return new Fault("invalid_event", `${field} is required: ${expected}.`, { field, value: null, expected });
}

function checkAttribute(name: string, value: unknown): void {
  const rule = Object.hasOwn(RULES, name) ? (RULES[name] as Rule) : extensionRule;
  const isExtension = rule === extensionRule;
  // Most such fields belong to the payload.
  const hint = isExtension ? " Other fields go into `data`." : "";
  if (isExtension && !NAME.test(name)) throw invalidEvent(name, value, NAME_EXPECTED, hint);
  if (!rule.fits(value)) throw invalidEvent(name, value, rule.expected, hint);
}

function isClean(value: string): boolean {
  return value.isWellFormed() && !FORBIDDEN.test(value);
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ATTRIBUTE;
}

function isText(value: unknown): boolean {
  return isShort(value) && isClean(value);
}

function isType(value: unknown): boolean {
  // Most are short enough in UTF-16 units, so that code points need not be counted.
  return (
    isText(value) &&
    ((value as string).length <= MAX_TYPE_LENGTH || [...(value as string)].length <= MAX_TYPE_LENGTH)
  );
}

export function isUriReference(value: unknown): boolean {
  return isShort(value) && (URI.test(value) || RELATIVE.test(value));
}

export function isUri(value: unknown): boolean {
  return isShort(value) && URI.test(value);
}

/** Whether a value is a date and time (RFC 3339) of a day that exists. */
export function isTime(value: unknown): boolean {
  return isShort(value) && RFC3339.test(value) && hasRealDay(value);
}

function isBase64(value: unknown): boolean {
  if (typeof value !== "string" || value.length % 4 !== 0) return false;
  const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
  // Searches for a foreign character: a repeated group would keep state for each of a million letters.
  return !/[^A-Za-z0-9+/]/.test(padding ? value.slice(0, -padding) : value);
}

function isScalar(value: unknown): boolean {
  if (typeof value === "string") return isClean(value);
  return (
    typeof value === "boolean" || (Number.isInteger(value) && (value as number) === ((value as number) | 0))
  );
}
