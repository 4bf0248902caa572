import { type Static, Type } from "typebox";
import {
  byReference,
  component,
  nullable,
  oneOf,
  operation,
  optional,
} from "../../../lib/contract/contract.ts";
import { AnyText, Id, Limit, Offset, Timestamp, Uuid, Words } from "../../../lib/contract/schema.ts";
import { Subject } from "../../../lib/contract/subject.ts";
import { FILE_TYPES, type FileType } from "../../../lib/http/file-types.ts";

/** spec: Knowledge documents. */
export const MIME_TYPES = [...new Set(Object.values(FILE_TYPES))] as [FileType, ...FileType[]];

export const SENSITIVITIES = ["public", "internal", "confidential", "restricted"] as const;
export type Sensitivity = (typeof SENSITIVITIES)[number];

export const STATUSES = ["queued", "chunking", "embedding", "stored", "failed", "superseded"] as const;
export type DocumentStatus = (typeof STATUSES)[number];

/** The dimensions of a document's audience. */
export const AUDIENCES = ["regions", "industries", "product_lines", "segments"] as const;
export type Audience = Record<(typeof AUDIENCES)[number], string[]>;

/** The maximum of `DOCUMENT_MAX_BYTES` in base64, plus the other fields. */
const MAX_BODY = Math.ceil((104_857_600 * 4) / 3) + 65_536;

const reader = { by: "any", scope: "memory:read" } as const;
const writer = { by: "any", scope: "memory:write" } as const;
const source = { source_id: Uuid("source", "`ingestion_source_id` of the document.") };

const paging = {
  offset: Offset,
  limit: Limit(100, 20),
};

const MimeType = Type.String({
  description: `Media type of the file, in any case, with or without \`charset\`: ${MIME_TYPES.map((type) => `\`${type}\``).join(", ")}. With \`DOCUMENT_CONVERTER_URL\`, others that the converter reads.`,
  pattern: "^[A-Za-z0-9_.+-]+/[A-Za-z0-9_.+-]+ *(;[ -~]*)?$",
  maxLength: 200,
  examples: ["text/markdown"],
});
const SensitivityOfDocument = oneOf(SENSITIVITIES, {
  default: "internal",
  description:
    "Who can read the document. `public` and `internal`: the whole tenant. `confidential` and `restricted`: the " +
    "uploader and its team. Levels with the same readers differ only as a label.",
});
const Labels = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100, description });
const labels = {
  regions: Labels("Regions."),
  industries: Labels("Industries."),
  product_lines: Labels("Product lines."),
  segments: Labels("Customer segments."),
};
const AudienceInput = (description: string) => Type.Object(optional(labels), { description });
const AudienceOfDocument = component("Audience", labels);

export const Document = component("Document", {
  document_id: Uuid("document"),
  filename: Type.String(),
  mime_type: MimeType,
  status: oneOf(STATUSES),
  error: nullable(
    Type.String({ description: "Reason of the failure.", examples: ["The file is encrypted."] }),
  ),
  byte_size: Type.Integer({ minimum: 0 }),
  chunk_count: Type.Integer({ minimum: 0 }),
  sensitivity: SensitivityOfDocument,
  audience: AudienceOfDocument,
  subject: nullable(Subject),
  version_num: Type.Integer({ minimum: 1, description: "Its version among the documents of this name." }),
  superseded_by: nullable(Uuid("document")),
  agent_id: nullable(Id("ag", "The agent that uploaded it; null if a person did.")),
  user_id: nullable(Id("usr", "The person who uploaded it; null if an agent did.")),
  team_id: nullable(Id("team")),
  created_at: Timestamp,
  ingested_at: nullable(Timestamp),
  ingestion_source_id: Uuid("source"),
  ingestion_source_name: Type.String(),
});

const Loss = component("Loss", {
  kind: Type.String({ examples: ["picture"] }),
  place: Type.String({ description: "Where in the file.", examples: ["slide 3"] }),
  count: Type.Integer({ minimum: 1 }),
});
export type Loss = Static<typeof Loss>;

/** A document with what is not read of it. */
export const DocumentDetail = component("DocumentDetail", {
  ...Document.properties,
  losses: Type.Array(Loss, {
    description:
      "What the file shows that is not in its text: pictures without a description, scanned pages, embedded objects, " +
      "unreadable attachments, and where the encoding was guessed. At most 100 kinds and places are listed.",
  }),
});

/** States that are announced by events. */
const ANNOUNCED = ["stored", "failed", "superseded"] as const satisfies readonly DocumentStatus[];
const { document_id, ingestion_source_id, version_num, superseded_by } = Document.properties;

/** The data of `service.document.*`. */
export const DocumentChange = component("DocumentChange", {
  document_id,
  status: oneOf(ANNOUNCED),
  source_id: ingestion_source_id,
  version_num,
  superseded_by,
});

export const Chunk = component("Chunk", {
  chunk_id: Uuid("chunk"),
  document_id: Uuid("document"),
  page_number: nullable(Type.Integer({ minimum: 1, description: "Page, slide or sheet." })),
  char_offset: Type.Integer({ minimum: 0, description: "Its start in the document's text." }),
  char_length: Type.Integer({ minimum: 1, description: "Its length in the document's text." }),
  chunk_index: Type.Integer({ minimum: 0 }),
  text: Type.String({
    description: "The text there. If it begins within a table, the table's header goes before it.",
  }),
  created_at: Timestamp,
});

const Accepted = Type.Object({
  accepted: Type.Boolean(),
  ...optional({
    document_id: Uuid("document"),
    status: oneOf(STATUSES),
    existing: Type.Boolean({ description: "The source had this file already: it is not stored again." }),
    sensitivity: SensitivityOfDocument,
    audience: AudienceOfDocument,
    subject: nullable(Subject),
    kept: Type.Array(Type.String(), {
      description:
        "Fields of the request that were not applied: an earlier upload of the same file is narrower there.",
      examples: [["sensitivity"]],
    }),
    error_code: Type.String({ examples: ["permission_denied"] }),
  }),
});

export const uploadDocument = operation({
  action: "documents.upload",
  route: "POST /documents",
  summary: "Upload a document",
  description:
    "Use this to make a file searchable. Returns its id; the document is parsed, chunked and indexed in the background: `status` of the document shows the progress. The same bytes in the same source return the existing document, and narrow its `sensitivity`, `audience` and `subject` to those of this request, never widen them; the answer shows what applies. `conflict` if neither includes the other. Other bytes under the same filename supersede it once they are stored. Without write permission, returns `accepted: false`.",
  access: writer,
  scopeRefusal: { accepted: false, error_code: "permission_denied" },
  body: {
    file_content: byReference({
      description: "File in standard base64.",
      examples: ["SGVsbG8gd29ybGQu"],
    }),
    filename: Words(255, "Name of the file; versions of a document share it.", "manual.md"),
    mime_type: MimeType,
    sensitivity: Type.Optional(SensitivityOfDocument),
    audience: Type.Optional(
      AudienceInput("Audience, used to filter searches. An empty or omitted list means everyone."),
    ),
    source_id: Type.Optional(Uuid("source", "One of the caller's sources. Default: the caller's own.")),
    subject: Type.Optional(nullable(Subject)),
  },
  byReference: { file_content: "base64" },
  maxBody: MAX_BODY,
  results: { 202: Accepted, 200: Accepted },
  errors: ["conflict"],
  mcp: true,
});

export const listDocuments = operation({
  action: "documents.list",
  route: "GET /documents",
  summary: "List documents, newest first",
  description:
    "Use this to browse documents; to find facts in them, search. Returns metadata and `status`, not text, of documents that the caller can read. Continue with `next_cursor`.",
  access: reader,
  query: {
    ...paging,
    cursor: Type.Optional(AnyText(200, "`next_cursor` of the previous page.")),
    source_id: Type.Optional(Uuid("source", "Only documents of this source.")),
    status: Type.Optional(oneOf(STATUSES, { description: "Only this status." })),
  },
  answer: Type.Object({
    documents: Type.Array(Document),
    total: Type.Integer(),
    next_cursor: nullable(Type.String()),
  }),
  mcp: true,
});

export const getDocument = operation({
  action: "documents.get",
  route: "GET /documents/{document_id}",
  summary: "Read a document's metadata",
  description:
    "Use this to follow an upload: returns `status`, audience, version, and what is not read of the file as `losses`, but " +
    "not the text.",
  access: reader,
  answer: DocumentDetail,
  mcp: true,
});

export const listDocumentChunks = operation({
  action: "documents.list_chunks",
  route: "GET /documents/{document_id}/chunks",
  summary: "List the chunks of a document in order",
  description: "Use this to read a document's text. Returns it in order, with page numbers.",
  access: reader,
  query: { ...source, ...paging },
  answer: Type.Object({ chunks: Type.Array(Chunk), total: Type.Integer() }),
  mcp: true,
});

export const deleteDocument = operation({
  action: "documents.delete",
  route: "DELETE /documents/{document_id}",
  summary: "Delete a document and its chunks",
  description:
    "Use this to delete a document permanently. Only the uploader and admins can delete it. Returns `deleted`, false for an unknown document.",
  access: writer,
  query: source,
  answer: Type.Object({
    deleted: Type.Boolean(),
    document_id: Type.Optional(Uuid("document")),
    error_code: Type.Optional(Type.String({ examples: ["not_found"] })),
  }),
  errors: ["forbidden"],
  refusesInBand: true,
  mcp: true,
});

export const downloadDocument = operation({
  action: "documents.content",
  route: "GET /documents/{document_id}/content",
  summary: "Download the original of a document",
  description:
    "Returns the file as it was uploaded, to everyone who can read the document. Recorded in the audit log. Originals " +
    "are kept until the document is deleted or erased.",
  access: reader,
  audit: true,
  fromBlob: "answer",
  answer: Type.String(),
  produces: MIME_TYPES,
  attachment: true,
});

export const retryDocument = operation({
  action: "documents.retry",
  route: "POST /documents/{document_id}/retry",
  summary: "Process a failed document again",
  description:
    "Use this after the cause of the failure is gone. Only the uploader and admins can retry it. `conflict` if it has " +
    "not failed, or if the same file was uploaded again.",
  access: writer,
  answer: DocumentDetail,
  errors: ["forbidden", "conflict"],
});

const Score = Type.Number({ minimum: 0, maximum: 1 });

export const searchDocuments = operation({
  action: "documents.search",
  route: "POST /documents/search",
  summary: "Search document chunks by words and by meaning",
  description:
    "Returns the passages that best match the query, with their documents and scores. Searches only stored " +
    "documents that the caller can read, not superseded ones.",
  access: reader,
  body: {
    query: Words(10_000, "Question or keywords.", "how to start the pump"),
    audience: Type.Optional(
      AudienceInput("Only documents for everyone, or for an entry of each non-empty list."),
    ),
    source_id: Type.Optional(Uuid("source", "Only documents of this source.")),
    limit: Limit(50, 10),
    min_score: Type.Optional({ ...Score, description: "Minimum score." }),
    explain: Type.Optional(
      Type.Boolean({ default: false, description: "Returns the search plan too, as `plan`." }),
    ),
  },
  answer: Type.Object({
    results: Type.Array(
      Type.Object({
        chunk: Chunk,
        document: Document,
        score: Score,
        sources: Type.Object({ vector: Type.Optional(Score), bm25: Type.Optional(Score) }),
      }),
    ),
    total_candidates: Type.Integer({ minimum: 0 }),
    sources_contributed: Type.Array(Type.String()),
    no_match: Type.Boolean({ description: "No passage reaches the minimum score." }),
    degraded: Type.Boolean(),
    degraded_reasons: Type.Array(Type.String()),
    plan: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
  reads: true,
  mcp: {
    description:
      "Use this to find facts in uploaded documents. Returns the passages that match best in words or meaning, with the document and page.",
    core: ["query", "limit"],
    aliases: {
      query: ["q", "text", "question", "search", "keywords"],
      limit: ["k", "top_k", "max_results", "count"],
    },
    answers: [
      "results.chunk.text",
      "results.chunk.page_number",
      "results.document.document_id",
      "results.document.filename",
      "results.document.subject",
      "results.score",
      "no_match?",
      "degraded?",
      "degraded_reasons?",
      "plan",
    ],
  },
});
