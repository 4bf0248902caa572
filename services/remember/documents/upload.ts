import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { Fault, invalidValue, mismatch, unknownReference } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { place } from "../../../mixins/queue.ts";
import { guardedWrite } from "../../../storage/guarded-write.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import { callerName } from "../../identity/users/caller-name.ts";
import { normaliseAudience, scopeOf } from "./audience.ts";
import { MIME_TYPES, type uploadDocument as operation } from "./documents.contract.ts";
import type { DocumentDoc, SourceDoc } from "./documents.model.ts";
import type { Documents } from "./documents.ts";
import { differences, narrowTwins } from "./narrow.ts";

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
  const newer = await rows.findOne(tenant_id, {
    ...{ source_id, filename, version_num: { $gt: version_num }, status: { $in: [...REPLACING] } },
  });
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
    throw new Fault("forbidden", "You can add documents only to your own source. Omit source_id to use it.");
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
  return {
    _id: newUuid(meta.idempotency_seed),
    tenant_id,
    scope: scopeOf(sensitivity, team_id),
    agent_id: callerId(meta.caller),
    team_id,
    source_id,
    source_name,
    filename,
    mime_type,
    sensitivity,
    audience: normaliseAudience(audience),
    subject,
    hash: file_content.hash,
    byte_size: file_content.size,
    status: "queued",
    error: null,
    version_num,
    chunk_count: 0,
    superseded_by: null,
    stale_since: null,
    created_at,
    ingested_at: null,
    live_key: `${tenant_id} ${source_id} ${file_content.hash}`,
    version_key: `${tenant_id} ${source_id} ${version_num} ${filename}`,
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
