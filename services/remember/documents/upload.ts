import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import {
  conflict,
  Fault,
  forbidden,
  invalidValue,
  mismatch,
  unknownReference,
} from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { writings } from "../../../lib/text/subject.ts";
import { place } from "../../../mixins/queue.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import { ownerAccess } from "../../identity/agents/find-agent.ts";
import { callerName } from "../../identity/users/caller-name.ts";
import { folded, normaliseAudience, scopeOf } from "./audience.ts";
import {
  AUDIENCES,
  type Audience,
  MIME_TYPES,
  type uploadDocument as operation,
  SENSITIVITIES,
} from "./documents.contract.ts";
import { type DocumentDoc, liveKey, type SourceDoc, versionKey } from "./documents.model.ts";
import type { Documents } from "./documents.ts";

type Upload = ParamsOf<typeof operation>;

/** Statuses that supersede older documents of the same name, now or later. */
const REPLACING = ["queued", "chunking", "embedding", "stored"] as const;

/**
 * Accepts an upload; answers 200 with the live document if the source has one with the same bytes, which then has the
 * narrower access of both requests.
 */
export async function uploadDocument(
  documents: Documents,
  ctx: Call<Upload>,
  maxSize: number,
  isReadable: (mime_type: string) => boolean,
) {
  const { size: actual_size } = ctx.params.file_content;
  if (actual_size === 0) throw invalidValue("file_content", "file_content: the file is empty.");
  if (actual_size > maxSize) {
    const message = `The file has ${actual_size} bytes; the limit is ${maxSize}.`;
    throw new Fault("payload_too_large", message, { actual_size, max_size: maxSize });
  }
  const mime_type = ctx.params.mime_type.trim().replace(/^[^;]*/, (name) => name.trim().toLowerCase());
  if (!isReadable(mime_type.split(";")[0] as string))
    throw mismatch("mime_type", mime_type, `one of ${MIME_TYPES.join(", ")}`, "text/markdown");
  ctx.params.mime_type = mime_type;
  const source = await sourceFor(documents, ctx);
  const attempt = async () => {
    const requested = await newDocument(documents, ctx, source);
    const row = { ...requested };
    if (!(await narrowTwins(documents, row))) return null;
    const kept = differences(requested, row).filter((field) => Object.hasOwn(ctx.params, field));
    const known = await standing(documents, row);
    if (known) return { doc: known, isNew: known._id === row._id, kept };
    // Taken: another upload has these bytes or this version.
    const doc = await documents.rows.insertOnce(row).catch(nullIfTaken);
    return doc && { doc, isNew: true, kept };
  };
  const refusal = `"${ctx.params.filename}" is being uploaded concurrently. Retry.`;
  const { doc, isNew, kept } = await guardedWrite(attempt, refusal);
  documents.nudge();
  if (!isNew) ctx.meta.$statusCode = 200;
  const { _id: document_id, status, sensitivity, audience, subject = null } = doc;
  return {
    ...{ accepted: true, document_id, status },
    ...(!isNew && { existing: true, sensitivity, audience, subject }),
    ...(kept.length > 0 && { kept }),
  };
}

/** Returns the live document with the same bytes, unless a newer one of its name is about to supersede it. */
async function standing({ rows }: Documents, row: DocumentDoc): Promise<DocumentDoc | null> {
  const { tenant_id, live_key } = row;
  const known = await rows.findOne(tenant_id, { live_key });
  if (!known || known._id === row._id) return known;
  const { source_id, filename, version_num } = known;
  const later = { version_num: { $gt: version_num }, status: { $in: [...REPLACING] } };
  const newer = await rows.findOne(tenant_id, { source_id, filename, ...later });
  if (!newer) return known;
  await rows.update(tenant_id, { _id: known._id, live_key }, { $unset: { live_key: 1 } });
  return null;
}

/** Returns the named source, if it is the caller's; without a name the caller's own, created on first use. */
async function sourceFor({ sources, now }: Documents, ctx: Call<Upload>): Promise<SourceDoc> {
  const { caller } = ctx.meta;
  const { source_id } = ctx.params;
  if (source_id !== undefined) {
    const source = await sources.findOne(caller.tenant_id, { _id: source_id });
    if (!source) throw unknownReference("source_id", "source", source_id);
    const { agent_ids } = await ownerAccess(ctx);
    if (agent_ids.includes(source.owner_id)) return source;
    throw forbidden("You can add documents only to your own source. Omit source_id to use it.");
  }
  const owner_id = callerId(caller);
  const _id = newUuid(`source ${caller.tenant_id} ${owner_id}`);
  const known = await sources.findOne(caller.tenant_id, { _id });
  if (known) return known;
  const name = await callerName(ctx);
  return sources.insertOnce({
    _id,
    tenant_id: caller.tenant_id,
    name,
    owner_id,
    created_at: new Date(now()),
  });
}

async function newDocument(
  { rows, now }: Documents,
  { params, meta }: Call<Upload>,
  { _id: source_id, name: source_name }: SourceDoc,
): Promise<DocumentDoc> {
  const { filename, mime_type, sensitivity = "internal", audience, subject = null, file_content } = params;
  const { tenant_id } = meta.caller;
  const team_id = meta.caller.kind === "agent" ? meta.caller.team_id : null;
  const created_at = new Date(now());
  const version_num = 1 + (await lastVersion(rows, tenant_id, source_id, filename));
  const key = { tenant_id, source_id, hash: file_content.hash, version_num, filename };
  return {
    _id: newUuid(meta.idempotency_seed),
    ...key,
    scope: scopeOf(sensitivity, team_id),
    agent_id: callerId(meta.caller),
    team_id,
    source_name,
    mime_type,
    sensitivity,
    audience: normaliseAudience(audience),
    subject,
    byte_size: file_content.size,
    status: "queued",
    error: null,
    chunk_count: 0,
    superseded_by: null,
    stale_since: null,
    created_at,
    ingested_at: null,
    live_key: liveKey(key),
    version_key: versionKey(key),
    queue: place(tenant_id, now(), callerId(meta.caller)),
    attempts: 0,
  };
}

async function lastVersion(rows: Documents["rows"], tenant_id: string, source_id: string, filename: string) {
  const [last] = await rows.find(
    tenant_id,
    { source_id, filename },
    { sort: { version_num: -1 }, limit: 1, projection: { version_num: 1 } },
  );
  return last?.version_num ?? 0;
}

/** Fields that decide who reads a document, who finds it, and which erasures reach it. */
type Access = Pick<
  DocumentDoc,
  "scope" | "team_id" | "agent_id" | "sensitivity" | "audience" | "subject" | "_id"
>;
type Narrowed = Pick<DocumentDoc, "scope" | "team_id" | "sensitivity" | "audience" | "subject">;
const FIELDS = ["sensitivity", "audience", "subject"] as const;

/**
 * Gives all documents of these bytes in this source the narrowest access that was ever requested for them: `row` and
 * those that are stored, superseded or failed.
 * @returns false if another write came first @throws Fault conflict if one access is not part of the other
 */
async function narrowTwins({ rows, now }: Documents, row: DocumentDoc): Promise<boolean> {
  const { tenant_id, source_id, hash } = row;
  const standing = { source_id, hash, status: { $ne: "deleted" as const } };
  const twins = () => rows.batches(tenant_id, standing);
  for await (const batch of twins()) for (const twin of batch) Object.assign(row, narrowest(row, twin));
  for await (const batch of twins()) {
    for (const twin of batch) {
      const access = narrowest(row, twin);
      if (differences(access, twin).length === 0) continue;
      const { _id, access_change, queue = place(tenant_id, now(), twin.agent_id) } = twin;
      const unchanged = { _id, access_change: access_change ?? { $exists: false }, status: twin.status };
      // A document in work keeps its place: its next step applies the change.
      const $set = { ...access, access_change: newUuid(), ...(twin.queue === undefined && { queue }) };
      if (!(await rows.update(tenant_id, unchanged, { $set }))) return false;
    }
  }
  return true;
}

/** Names the fields in which two documents differ. */
function differences(a: Narrowed, b: Narrowed): string[] {
  return FIELDS.filter((field) => JSON.stringify(a[field] ?? null) !== JSON.stringify(b[field] ?? null));
}

/** @throws Fault conflict */
function narrowest(row: Access, twin: Access): Narrowed {
  const { scope, team_id } = readers(row, twin);
  const [a, b] = [row, twin].map(({ sensitivity }) => SENSITIVITIES.indexOf(sensitivity)) as [number, number];
  if (row.subject && twin.subject && !writings(row.subject).includes(twin.subject))
    throw otherVersion(twin, "subject");
  return {
    ...{ scope, team_id, sensitivity: (a > b ? row : twin).sensitivity },
    audience: Object.fromEntries(AUDIENCES.map((kind) => [kind, common(row, twin, kind)])) as Audience,
    subject: twin.subject ?? row.subject ?? null,
  };
}

function readers(row: Access, twin: Access): Pick<Access, "scope" | "team_id"> {
  const [isOpen, isStoredOpen] = [row.scope === "institutional", twin.scope === "institutional"];
  if (isOpen) return twin;
  const isSameUploader = row.agent_id === twin.agent_id;
  if (isStoredOpen && (row.scope === "team" || isSameUploader)) return row;
  const isSame =
    row.scope === twin.scope && (row.scope === "team" ? row.team_id === twin.team_id : isSameUploader);
  if (isSame) return twin;
  throw otherVersion(twin, "sensitivity");
}

function common(row: Access, twin: Access, kind: keyof Audience): string[] {
  const [given, stored] = [row.audience[kind], twin.audience[kind]];
  if (given.length === 0 || stored.length === 0) return given.length ? given : stored;
  const wanted = new Set(given.map(folded));
  const both = stored.filter((each) => wanted.has(folded(each)));
  if (both.length === 0) throw otherVersion(twin, `audience.${kind}`);
  return both;
}

function otherVersion({ _id }: Access, field: string): Fault {
  const message =
    `The source has this file with another \`${field}\`, and one does not include the other. Delete the stored ` +
    "document first, or upload the file to another source.";
  return conflict(message, { existing_resource_id: _id, field });
}
