import { byReference, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

/** api: Exemplars, small text. In bytes of UTF-8. */
export const MAX_CONTENT = 1_048_576;
/** JSON escapes a byte to at most six characters. */
const MAX_BODY = 6 * MAX_CONTENT + 65_536;

const reader = { by: "any", scope: "memory:read" } as const;
const writer = { by: "any", scope: "memory:write" } as const;
const path = { exemplar_id: Uuid("exemplar") };

const DisplayName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "\\S",
  examples: ["A release note we like"],
});

const Exemplar = Type.Object(
  {
    id: Uuid("exemplar"),
    display_name: DisplayName,
    original_filename: Type.String(),
    media_type: oneOf(["text/markdown", "text/plain"]),
    byte_size: Type.Integer(),
    extraction_status: oneOf(["ready", "processing", "failed"]),
    extracted_text: nullable(Type.String({ description: "Null in lists." })),
    extraction_error: nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: "Exemplar" },
);

export const createExemplar = operation({
  action: "exemplars.create",
  route: "POST /exemplars",
  summary: "Create an exemplar from a text",
  description: "Verbatim, at most 1 MB. A known text returns the tenant's existing exemplar (200).",
  access: writer,
  body: {
    display_name: DisplayName,
    filename: Type.String({ minLength: 1, maxLength: 255, pattern: "\\S", examples: ["note.md"] }),
    content: byReference({ description: "The text.", minLength: 1, examples: ["# Release note\n"] }),
  },
  byReference: { content: "text" },
  maxBody: MAX_BODY,
  results: { 201: Exemplar, 200: Exemplar },
  errors: ["validation_failed", "payload_too_large"],
  mcp: {
    idempotent: true,
    description: "Verbatim, at most 1 MB. A known text returns the tenant's existing exemplar.",
  },
});

export const listExemplars = operation({
  action: "exemplars.list",
  route: "GET /exemplars",
  summary: "List exemplars, newest first",
  access: reader,
  results: { 200: Type.Array(Exemplar) },
  mcp: true,
});

export const getExemplar = operation({
  action: "exemplars.get",
  route: "GET /exemplars/{exemplar_id}",
  summary: "Read an exemplar's text",
  description: "202 while the text is being extracted; 200 without a text if extraction failed.",
  access: reader,
  path,
  results: { 200: Exemplar, 202: Exemplar },
  errors: ["not_found"],
  mcp: {
    description:
      "`extraction_status` gives the progress; the text is null during extraction and if it failed.",
  },
});

export const renameExemplar = operation({
  action: "exemplars.rename",
  route: "PATCH /exemplars/{exemplar_id}",
  summary: "Rename an exemplar",
  access: writer,
  path,
  body: { display_name: DisplayName },
  results: { 200: Exemplar },
  errors: ["not_found"],
  mcp: true,
});

export const deleteExemplar = operation({
  action: "exemplars.delete",
  route: "DELETE /exemplars/{exemplar_id}",
  summary: "Delete an unreferenced exemplar",
  description:
    "409 `conflict` with `details.referrers` while it is attached to a run or named by a step's reference pointer.",
  access: writer,
  path,
  results: { 204: null },
  errors: ["not_found", "conflict"],
  mcp: true,
});

export const downloadExemplar = operation({
  action: "exemplars.download",
  route: "GET /exemplars/{exemplar_id}/download",
  summary: "Download the original of an exemplar",
  description: "For people.",
  access: { by: "user" },
  audit: true,
  path,
  results: { 200: Type.String() },
  produces: ["text/markdown; charset=utf-8", "text/plain; charset=utf-8"],
  attachment: true,
  errors: ["not_found"],
});

export const exemplarsOperations = [
  createExemplar,
  listExemplars,
  getExemplar,
  renameExemplar,
  deleteExemplar,
  downloadExemplar,
] as const;
