import { Type } from "typebox";
import { byReference, component, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { MOST_LISTED, ofAll, Timestamp, Uuid, Words } from "../../../lib/contract/schema.ts";

/** api: Exemplars, small text. In bytes of UTF-8. */
export const MAX_CONTENT = 1_048_576;
/** JSON escapes a byte to at most six characters. */
const MAX_BODY = 6 * MAX_CONTENT + 65_536;

const reader = { by: "any", scope: "memory:read" } as const;
const writer = { by: "any", scope: "memory:write" } as const;

const DisplayName = Words(200, "Display name.", "A release note we like");

export const Exemplar = component("Exemplar", {
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
});

export const createExemplar = operation({
  action: "exemplars.create",
  route: "POST /exemplars",
  summary: "Create an exemplar from a text",
  description:
    "Use this to keep an example for runs to follow. Stores the text unchanged, at most 1 MB. Returns the exemplar; if the tenant already has this text, returns the existing exemplar (200).",
  access: writer,
  body: {
    display_name: DisplayName,
    filename: Words(255, "Name of the file.", "note.md"),
    content: byReference({
      description: "Text of the exemplar.",
      minLength: 1,
      examples: ["# Release note\n"],
    }),
  },
  byReference: { content: "text" },
  maxBody: MAX_BODY,
  results: { 201: Exemplar, 200: Exemplar },
  mcp: {
    idempotent: true,
    description:
      "Use this to keep an example for runs to follow, at most 1 MB. Returns the exemplar; if the tenant has this text, the existing one.",
  },
});

export const listExemplars = operation({
  action: "exemplars.list",
  route: "GET /exemplars",
  summary: "List exemplars, newest first",
  description:
    "Use this to find an example by its name. Returns names and ids of all, or of at most `limit`; the header " +
    "`X-Total-Count` has their number. Read an exemplar for its text.",
  access: reader,
  query: ofAll,
  inPages: MOST_LISTED,
  answer: Type.Array(Exemplar),
  mcp: {
    description: `Use this to find an example by its name. Returns names and ids, without texts; at most ${MOST_LISTED}: continue with \`offset\`.`,
  },
});

export const getExemplar = operation({
  action: "exemplars.get",
  route: "GET /exemplars/{exemplar_id}",
  summary: "Read an exemplar's text",
  description: "Returns 202 while the text is being extracted, and 200 without a text if extraction failed.",
  access: reader,
  results: { 200: Exemplar, 202: Exemplar },
  mcp: {
    description:
      "Use this to read an example. Returns `extracted_text`, null while `extraction_status` is `processing` or if it is `failed`.",
  },
});

export const renameExemplar = operation({
  action: "exemplars.rename",
  route: "PATCH /exemplars/{exemplar_id}",
  summary: "Rename an exemplar",
  description: "Use this to change only `display_name`. Returns the exemplar.",
  access: writer,
  body: { display_name: DisplayName },
  answer: Exemplar,
  mcp: true,
});

export const deleteExemplar = operation({
  action: "exemplars.delete",
  route: "DELETE /exemplars/{exemplar_id}",
  summary: "Delete an unreferenced exemplar",
  description:
    "Use this to remove an example that nothing refers to. Refused with `conflict` while it is attached to a run or a step's reference pointer names it; `details.referrers` lists them. Returns nothing.",
  access: writer,
  errors: ["conflict"],
  mcp: true,
});

export const downloadExemplar = operation({
  action: "exemplars.download",
  route: "GET /exemplars/{exemplar_id}/download",
  summary: "Download the original of an exemplar",
  description: "Returns the stored text as a file.",
  access: { by: "user" },
  audit: true,
  answer: Type.String(),
  produces: ["text/markdown; charset=utf-8", "text/plain; charset=utf-8"],
  attachment: true,
});

export const Referrer = component("ExemplarReferrer", {
  resource_type: oneOf(["run", "process_template"]),
  resource_id: Type.String({ description: "Id of the run, or slug of the template." }),
});

export const listExemplarReferrers = operation({
  action: "exemplars.referrers",
  route: "GET /exemplars/{exemplar_id}/referrers",
  summary: "List the runs and templates that refer to an exemplar",
  description: "At most 20 of each kind. An exemplar without any can be deleted.",
  access: reader,
  answer: Type.Object({ referrers: Type.Array(Referrer) }),
});
