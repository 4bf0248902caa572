import { ownerIds } from "../../../lib/access/caller.ts";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { titleKey } from "../../../lib/text/code-points.ts";
import { ERASED } from "../../../lib/text/subject.ts";
import { type HourlyBudgetDoc, hourlyBudgets } from "../../../storage/hourly-budget.ts";
import { type DocumentOf, type FieldTypes, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import { toSlug } from "./naming.ts";
import { Output, OutputVersion } from "./outputs.contract.ts";

/** A version's text and author. The text is a blob: `hash`. */
export interface Edition extends FieldTypes<typeof edition> {}

const edition = {
  version_id: t.string(),
  version_num: t.number(),
  title: t.text(),
  hash: t.string(),
  byte_size: t.number(),
  change_note: t.nullable(t.text()),
  authored_by_agent_id: t.nullable(t.string()),
  authored_by_user_id: t.nullable(t.string()),
  saved_at: t.date(),
};

/** A saved document (spec: Output). The row holds the current version; earlier ones have separate rows. */
export interface OutputDoc extends DocumentOf<typeof outputs> {}

const outputs = tenantSchema({
  ...edition,
  slug: t.text(toSlug),
  /** The title was given; otherwise it follows the text. */
  is_titled: t.boolean(),
  title_key: t.text(titleKey),
  scope: t.oneOf(MEMORY_SCOPES),
  /** The first author: an agent's or a person's id. */
  agent_id: t.string(),
  team_id: t.nullable(t.string()),
  project_id: t.nullable(t.string()),
  process_run_id: t.nullable(t.string()),
  source_type: t.nullable(t.string()),
  /** JSON: callers' keys must have no meaning in the store. */
  metadata_json: t.large(t.texts(t.json())),
  tags: t.array(t.text()),
  derived_from_ids: t.large(t.array(t.string())),
  references_ids: t.large(t.array(t.string())),
  supersedes_ids: t.large(t.array(t.string())),
  superseded_by: t.nullable(t.string()),
  created_at: t.date(),
  updated_at: t.date(),
  /** Raised by every change, for search. */
  version: t.number(),
  /** Hidden since then; the row is deleted once all its data is. */
  deleted_at: t.nullable(t.date()),
  /** Set while search is behind the row; see mixins/queue.ts. */
  queue: t.optional(t.string()),
  attempts: t.number(),
});
outputs.index({ tenant_id: 1, slug: 1 }, { unique: true });
outputs.index({ tenant_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, title_key: 1, _id: 1 });
outputs.index({ tenant_id: 1, project_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, process_run_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, superseded_by: 1 });
outputs.index({ tenant_id: 1, hash: 1 });
outputs.index({ queue: 1 }, { sparse: true });

/** A former version; it never changes. */
export interface VersionDoc extends DocumentOf<typeof versions> {}

const versions = tenantSchema({ output_id: t.string(), ...edition });
versions.index({ tenant_id: 1, output_id: 1, version_num: 1 }, { unique: true });
versions.index({ tenant_id: 1, hash: 1 });

/** A chunk of an output's text, with the fields that search needs. `_id`: output, `/`, position. */
export interface ChunkDoc extends DocumentOf<typeof chunks> {}

const chunks = tenantSchema({
  output_id: t.string(),
  text: t.large(t.text()),
  title: t.text(),
  scope: t.oneOf(MEMORY_SCOPES),
  agent_id: t.string(),
  team_id: t.nullable(t.string()),
  project_id: t.nullable(t.string()),
  tags: t.array(t.text()),
  superseded: t.boolean(),
  created_at: t.date(),
  version: t.number(),
  changed_at: t.date(),
});
chunks.index({ tenant_id: 1, output_id: 1, version: 1 });
// For followers, of one tenant and of all.
chunks.index({ tenant_id: 1, changed_at: 1, _id: 1 });
chunks.index({ changed_at: 1, _id: 1 });

export const OutputModel: Model<OutputDoc> = {
  erasure: {
    replaced: {
      of: [],
      by: { authored_by_agent_id: "all", agent_id: ["tags", "metadata_json"] },
      ...{ version: "version", size: "byte_size", settle: "outputs.settle_erased" },
    },
  },
  move: { stage: 1 },
  erased: ({ _id, title, slug }, updated_at) => ({
    ...{ title_key: titleKey(title), updated_at },
    ...(slug === ERASED && { slug: `${toSlug(ERASED)}-${_id.slice(-12)}` }),
  }),
  name: "outputs",
  ids: "uuid",
  schema: outputs,
  blobs: ["hash"],
};
export const VersionModel: Model<VersionDoc> = {
  erasure: { with: "outputs", replaced: { of: [], by: { authored_by_agent_id: "all" }, size: "byte_size" } },
  move: { stage: 0 },
  name: "output_versions",
  ids: "uuid",
  schema: versions,
  blobs: ["hash"],
};
export const ChunkModel: Model<ChunkDoc> = {
  erasure: { follows: "outputs" },
  move: { stage: 0 },
  anew: (_, changed_at) => ({ changed_at }),
  name: "output_chunks",
  schema: chunks,
};

const CONTENT_TYPE = "text/markdown";

function textOf({ hash, byte_size }: Edition) {
  return { content_hash: hash, byte_size, content_type: CONTENT_TYPE };
}

/** Formats an output without its text, as in lists. */
export const present = (doc: OutputDoc) =>
  presentAs(Output, doc, {
    ...{ ...ownerIds(doc.agent_id), ...textOf(doc), bucket: "blobs" },
    object_key: `${doc.tenant_id}/${doc.hash}`,
    metadata: JSON.parse(doc.metadata_json) as object,
    current_version_num: doc.version_num,
    body: null,
  });

/** Formats an output with a version's text by reference. */
export function presentWhole(doc: OutputDoc, edition: Edition) {
  const { title, hash, byte_size } = edition;
  const shown = { ...present({ ...doc, title, hash, byte_size }), current_version_num: doc.version_num };
  return { ...shown, body: { hash, size: byte_size } };
}

export const presentVersion = (output_id: string, edition: Edition) =>
  presentAs(OutputVersion, edition, {
    ...{ id: edition.version_id, output_id, ...textOf(edition), authored_by_specialist_id: null },
    created_at: edition.saved_at.toISOString(),
    body: null,
  });

/** Returns the row of a version that is no longer current. */
export function toVersion({ tenant_id, _id, ...doc }: OutputDoc): VersionDoc {
  const { version_id, version_num, title, hash, byte_size, change_note } = doc;
  const { authored_by_agent_id, authored_by_user_id, saved_at } = doc;
  return {
    ...{ _id: version_id, tenant_id, output_id: _id, version_id, version_num, title, hash, byte_size },
    ...{ change_note, authored_by_agent_id, authored_by_user_id, saved_at },
  };
}

export function toChunk(doc: OutputDoc, text: string, place: number, changed_at: Date): ChunkDoc {
  const { tenant_id, title, scope, agent_id, team_id, project_id, tags, created_at, version } = doc;
  return {
    ...{ _id: `${doc._id}/${place}`, tenant_id, output_id: doc._id, text, title, scope, agent_id, team_id },
    ...{ project_id, tags, superseded: doc.superseded_by !== null, created_at, version, changed_at },
  };
}

export function toEntry(chunk: ChunkDoc): SearchEntry {
  const { _id, version, title, text, scope, agent_id, team_id, project_id, tags, superseded } = chunk;
  return {
    ...{ kind: "output", id: _id, version, title, text, scope, agent_id, team_id, project_id, tags },
    // Lets a search exclude the outputs found so far.
    type: chunk.output_id,
    ...{ confidence: 1, importance: 0.5, created_at: chunk.created_at.getTime(), date: null },
    ...{ expires_at: null, superseded, cites: 0, thread: null },
  };
}

/** The e-mails of a tenant within an hour. `_id`: the tenant's. */
export const MailBudgetModel: Model<HourlyBudgetDoc> = {
  erasure: { none: "counts" },
  move: { none: "counts of an hour" },
  name: "output_mail_budgets",
  schema: hourlyBudgets(),
};
