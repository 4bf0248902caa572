import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { Access } from "../../../lib/access/visibility.ts";
import type { BlobReference, ParamsOf } from "../../../lib/contract/contract.ts";
import { conflict, Fault, invalidValue } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { titleKey } from "../../../lib/text/code-points.ts";
import { account } from "../../../middlewares/audit.ts";
import { LEASE_MS, place } from "../../../mixins/queue.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import { ownerAccess, sharingTeam } from "../../identity/agents/find-agent.ts";
import { deriveTitle, slugsFor } from "./naming.ts";
import type { saveOutput as operation } from "./outputs.contract.ts";
import { type Edition, type OutputDoc, presentWhole, toVersion } from "./outputs.model.ts";
import { findReadable, type Outputs, readableIds, readBeginning } from "./outputs.ts";

type SaveParams = ParamsOf<typeof operation>;
type Saving = Call<SaveParams>;

/** Saves an output, or a new version of one. @throws Fault validation_failed, validation_error, not_found, … */
export async function saveOutput(outputs: Outputs, ctx: Saving, maxSize: number) {
  const { output_id, change_note, body } = ctx.params;
  requireSize(body, maxSize);
  if (change_note !== undefined && output_id === undefined) {
    throw invalidValue("change_note", "change_note: allowed only with output_id, when saving a new version.");
  }
  const doc =
    output_id === undefined ? await create(outputs, ctx) : await saveVersion(outputs, ctx, output_id);
  account(ctx, { version_num: doc.version_num });
  return presentWhole(doc, doc);
}

function requireSize({ size }: BlobReference, maxSize: number): void {
  if (size === 0) {
    const details = { field: "body", value: "", expected: "text that is not empty", example: "# Title\n" };
    throw new Fault("validation_failed", "body: expected text that is not empty.", details);
  }
  if (maxSize === 0 || size <= maxSize) return;
  const message = `The text has ${size} bytes; the limit is ${maxSize}.`;
  throw new Fault("payload_too_large", message, { actual_size: size, max_size: maxSize });
}

async function create(outputs: Outputs, ctx: Saving): Promise<OutputDoc> {
  const { caller, idempotency_seed } = ctx.meta;
  const { scope = "agent", title } = ctx.params;
  const access = await ownerAccess(ctx);
  const team_id = await sharingTeam(ctx, { ...ctx.params, scope }, async () => access);
  const edition = await makeEdition(outputs, ctx, title ?? null);
  const row: OutputDoc = {
    ...UNFILED,
    ...(await filed(outputs, ctx, access)),
    ...{ _id: newUuid(idempotency_seed), tenant_id: caller.tenant_id, ...edition, version_num: 1 },
    ...{ slug: "", is_titled: title !== undefined, title_key: titleKey(edition.title) },
    ...{ scope, agent_id: callerId(caller), team_id, tags: [], superseded_by: null },
    ...{ created_at: edition.saved_at, updated_at: edition.saved_at, version: 1, deleted_at: null },
    ...begun(outputs, caller.tenant_id),
  };
  const doc = await insert(outputs, row);
  await outputs.settle(doc);
  return doc;
}

/** Inserts under the first free slug; a repetition returns the existing row. */
async function insert({ rows }: Outputs, row: OutputDoc): Promise<OutputDoc> {
  for (const slug of slugsFor(row.title, row._id)) {
    const made = await rows.insertOnce({ ...row, slug }).catch(nullIfTaken);
    if (made) return made;
  }
  throw conflict("Too many outputs have this title. Choose another.");
}

async function saveVersion(outputs: Outputs, ctx: Saving, named: string): Promise<OutputDoc> {
  const { tenant_id } = ctx.meta.caller;
  const first = await findReadable(outputs, ctx, named);
  requireSamePlace(ctx.params, first);
  const access = await ownerAccess(ctx);
  const [edition, place] = await Promise.all([
    makeEdition(outputs, ctx, ctx.params.title ?? null),
    filed(outputs, ctx, access, first._id),
  ]);
  return guardedWrite(async () => {
    const doc = await findReadable(outputs, ctx, first._id);
    if (await isSaved(outputs, doc, edition.version_id)) return doc;
    // Writes the former version's row first, so that its text is never lost.
    await outputs.versions.insertOnce(toVersion(doc));
    const title = ctx.params.title === undefined && doc.is_titled ? doc.title : edition.title;
    // Sets only given fields: concurrent saves do not revert each other's.
    const $set = {
      ...place,
      ...{ ...edition, title, title_key: titleKey(title), version_num: doc.version_num + 1 },
      ...{ is_titled: doc.is_titled || ctx.params.title !== undefined, updated_at: edition.saved_at },
      ...begun(outputs, tenant_id),
    };
    const guard = { _id: doc._id, version_num: doc.version_num, deleted_at: null };
    const saved = await outputs.rows.update(tenant_id, guard, { $set, $inc: { version: 1 } });
    if (saved) await outputs.settle(saved);
    return saved;
  }, "Too many concurrent new versions. Retry.");
}

/** Whether an interrupted try of this request has saved its version already. */
async function isSaved({ versions }: Outputs, doc: OutputDoc, version_id: string): Promise<boolean> {
  if (doc.version_id === version_id) return true;
  return (await versions.findOne(doc.tenant_id, { _id: version_id })) !== null;
}

function requireSamePlace({ scope, team_id }: SaveParams, doc: OutputDoc): void {
  const fixed = (field: string, now: string | null) =>
    invalidValue(
      field,
      `${field}: it is ${now ?? "none"} and cannot be changed. Omit it, or save a new output.`,
    );
  if (scope !== undefined && scope !== doc.scope) throw fixed("scope", doc.scope);
  if (team_id !== undefined && team_id !== doc.team_id) throw fixed("team_id", doc.team_id);
}

/** Returns the lease under which the writer of a row updates search; another node takes over if it crashes. */
function begun({ now }: Outputs, tenant_id: string) {
  return { queue: place(tenant_id, now() + LEASE_MS), attempts: 0 };
}

async function makeEdition(
  { blobs, now }: Outputs,
  { params: { body, change_note }, meta: { caller, idempotency_seed } }: Saving,
  title: string | null,
): Promise<Omit<Edition, "version_num">> {
  const trimmed = title?.trim();
  return {
    version_id: newUuid(idempotency_seed, 1),
    title: trimmed ?? deriveTitle(await readBeginning(blobs, caller.tenant_id, body.hash)),
    ...{ hash: body.hash, byte_size: body.size, change_note: change_note ?? null },
    authored_by_agent_id: caller.kind === "agent" ? caller.agent_id : null,
    authored_by_user_id: caller.kind === "user" ? caller.user_id : null,
    saved_at: new Date(now()),
  };
}

type Filed = Pick<
  OutputDoc,
  | "project_id"
  | "process_run_id"
  | "source_type"
  | "metadata_json"
  | "derived_from_ids"
  | "references_ids"
  | "supersedes_ids"
>;

const UNFILED: Filed = {
  ...{ project_id: null, process_run_id: null, source_type: null, metadata_json: "{}" },
  ...{ derived_from_ids: [], references_ids: [], supersedes_ids: [] },
};

/** Returns the given fields other than the text. @throws Fault validation_error */
async function filed(
  outputs: Outputs,
  ctx: Saving,
  access: Access,
  own_id?: string,
): Promise<Partial<Filed>> {
  const { tenant_id } = ctx.meta.caller;
  const { project_id, process_run_id, source_type, metadata } = ctx.params;
  const linked = async (field: "derived_from_ids" | "references_ids" | "supersedes_ids") => {
    const values = ctx.params[field]?.flatMap((each) => each.split(",")).map((each) => each.trim());
    if (!values) return {};
    const ids = await readableIds(outputs, tenant_id, access, values);
    return { [field]: ids.filter((id) => id !== own_id) };
  };
  const [derived_from, references, supersedes] = await Promise.all([
    linked("derived_from_ids"),
    linked("references_ids"),
    linked("supersedes_ids"),
    process_run_id ? ctx.call("runs.require", { tenant_id, run_id: process_run_id }) : null,
  ]);
  return {
    ...{ ...derived_from, ...references, ...supersedes },
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(process_run_id !== undefined && { process_run_id }),
    ...(source_type !== undefined && { source_type }),
    ...(metadata !== undefined && { metadata_json: JSON.stringify(metadata) }),
  };
}
