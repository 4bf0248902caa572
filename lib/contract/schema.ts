import { Type } from "typebox";
import { component, nullable } from "./contract.ts";

export { Id, Uuid } from "./identifiers.ts";

/** ISO 8601 in UTC with milliseconds (api.md "Everywhere"). */
export const Timestamp = Type.String({ format: "date-time", examples: ["2026-01-31T09:30:00.000Z"] });

/** An integer from 0 that JavaScript represents exactly; SQLite and MongoDB refuse larger ones. */
export function Whole(options: Parameters<typeof Type.Integer>[0] = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

const shown = (example?: string) => (example === undefined ? {} : { examples: [example] });

/** A time, which callers may give with any offset from UTC. */
export const DateTime = (description: string, example?: string) =>
  Type.String({ format: "date-time", description, ...shown(example) });

/** A text that may be empty. */
export const AnyText = (maxLength: number, description: string, example?: string) =>
  Type.String({ maxLength, description, ...shown(example) });

/** A text that is not empty. */
export const SomeText = (maxLength: number, description: string, example?: string) =>
  Type.String({ minLength: 1, maxLength, description, ...shown(example) });

/** A text that is not blank. */
export const Words = (maxLength: number, description: string, example?: string) =>
  Type.String({ minLength: 1, maxLength, pattern: "\\S", description, ...shown(example) });

export const Offset = Type.Optional(Whole({ default: 0, description: "Results to skip." }));

/** The size of a page in a list: 1 to `maximum`. @param usual the default */
export const Limit = (maximum: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum, default: usual, description: "Maximum number of results." }),
  );

/** The paging of plain lists: `limit` 1..200, default 50; `offset` from 0 (spec: Limits). */
export const page = { offset: Offset, limit: Limit(200, 50) };

/** Rows of a page of a list that is answered whole (`inPages`). */
export const MOST_LISTED = 200;

export const ofAll = {
  offset: Offset,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_LISTED,
      description: "Maximum number of results. Default: all.",
    }),
  ),
};

/** Filters a list by a substring. @param where the searched fields, for the description */
export function partOf(where: string) {
  return Type.Optional(Type.String({ maxLength: 200, description: `Part of ${where}; case is ignored.` }));
}

/** A non-empty name, shown to people. */
export const Name = Words(200, "Display name.", "Billing watcher");

/** Marks a write-only field: its value is never returned, not even in an error. */
export const SECRET = { format: "password", writeOnly: true } as const;

export const Description = AnyText(2000, "Free text, for display.", "Watches invoices that are overdue.");

export const RetryDelays = (description: string) =>
  Type.Array(Type.Integer({ minimum: 1, maximum: 86_400 }), {
    minItems: 1,
    maxItems: 20,
    description,
    examples: [[10, 60, 300, 1800]],
  });

/** A tenant's storage use and quota. */
export const Storage = component("Storage", {
  used_bytes: Type.Integer({
    description: "Storage used, in bytes. Deleted data counts until the next hourly measurement.",
  }),
  quota_bytes: nullable(Type.Integer({ description: "Storage quota, in bytes; null: no quota." })),
});

/** The address of a link for people: a web page. Other schemes could run code in the reader's browser. */
export const WebLink = Type.String({
  format: "uri",
  pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
  maxLength: 2000,
  description: "Web page, http or https.",
  examples: ["https://example.com/tickets/7"],
});

/** Schemes of addresses that browsers do not open: file stores and repositories. Plain names have no scheme. */
const NAMING_SCHEMES = [
  ...["https?", "s3", "gs", "az", "abfss?", "git", "git\\+https", "git\\+ssh", "ssh", "sftp", "file", "urn"],
  "sensorium",
];

/**
 * A listed scheme, or none: then the first of `:`, `/`, `?` and `#` is not a colon. This excludes `javascript:` and
 * `data:`, even with white space before or inside them.
 */
export const NAMED_ADDRESS = `^((${NAMING_SCHEMES.join("|")}):|[^:/?#]*([/?#]|$))`;

/** The most of one page of namespaces. */
const MOST_NAMESPACES = 200;

/** Labels joined by dots; a label has no dot and no slash. */
export const Namespace = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^[^\\x00-\\x1f\\x7f./]+(\\.[^\\x00-\\x1f\\x7f./]+)*$",
    "x-expected": "labels joined by dots, without `/` and control characters",
    description,
    examples: ["customers.acme"],
  });

export const Key = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^[^\\x00-\\x1f\\x7f]+$",
    "x-expected": "text without control characters",
    description,
    examples: ["terms"],
  });

export const namespacesQuery = {
  prefix: Type.Optional(Namespace("Only this namespace and those below it.")),
  max_depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: "Most labels of a namespace: deeper ones are cut off to these, and listed once.",
    }),
  ),
  after: Type.Optional(Namespace("The last namespace of the previous page.")),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MOST_NAMESPACES, default: 100, description: "Maximum number." }),
  ),
};

export const NamespacesPage = Type.Object({
  namespaces: Type.Array(Type.String({ examples: ["customers.acme"] })),
  next: nullable(Type.String({ description: "To pass as `after` for the next page; null: the last one." })),
});
