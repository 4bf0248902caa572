import { idPattern, type Prefix } from "../ids.ts";
import { nullable } from "./contract.ts";
import { Type } from "./type.ts";

/** ISO 8601 in UTC with milliseconds (api.md "Everywhere"). */
export const Timestamp = Type.String({ format: "date-time", examples: ["2026-01-31T09:30:00.000Z"] });

/** A prefixed identifier. A malformed one is `400 validation_error` with the field (api.md "Identifiers"). */
export function Id(prefix: Prefix, description?: string) {
  return Type.String({
    pattern: idPattern(prefix),
    examples: [`${prefix}_4fXq1mCz8Jw0bT7kLr2N`],
    "x-identifier": true,
    ...(description && { description }),
  });
}

/** A UUID; `kind` names the resource in errors (`memory`). A malformed one is `400 validation_error` with the field. */
export function Uuid(kind: string, description?: string) {
  return Type.String({
    format: "uuid",
    examples: ["0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f"],
    "x-identifier": kind,
    ...(description && { description }),
  });
}

/** An integer from 0 that JavaScript represents exactly; SQLite and MongoDB refuse larger ones. */
export function Whole(options: Parameters<typeof Type.Integer>[0] = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** The offset of a page in a list. */
export const Offset = Type.Optional(Whole({ default: 0, description: "How many to skip." }));

/** The paging of plain lists: `limit` 1..200, default 50; `offset` from 0 (spec: Limits). */
export const page = {
  offset: Offset,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: "How many to return at most." }),
  ),
};

/** Filters a list by a substring. @param where the searched fields, for the description */
export function partOf(where: string) {
  return Type.Optional(Type.String({ maxLength: 200, description: `Part of ${where}, in any case.` }));
}

/** A non-empty name, shown to people. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "\\S",
  examples: ["Billing watcher"],
});

/** Marks a write-only field: its value is never returned, not even in an error. */
export const SECRET = { format: "password", writeOnly: true } as const;

/** A description in words. */
export const Description = Type.String({ maxLength: 2000, examples: ["Watches invoices that are overdue."] });

/** A tenant's storage use and quota. */
export const Storage = Type.Object(
  {
    used_bytes: Type.Integer({
      description: "Counted as it grows and measured every hour: deleted data counts until then.",
    }),
    quota_bytes: nullable(Type.Integer({ description: "Null: no quota." })),
  },
  { title: "Storage" },
);
