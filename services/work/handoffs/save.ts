import { Fault, unknownReference } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import { deletedMemories, readableMemories } from "../../remember/memories/readable.ts";
import type { CallOf } from "../../runtime.ts";
import type { saveHandoff } from "./handoffs.contract.ts";
import { type HandoffDoc, present } from "./handoffs.model.ts";
import { agentOf, fullTerm, type Handoffs } from "./handoffs.ts";

type Asked = CallOf<typeof saveHandoff>;
type Content = Pick<
  HandoffDoc,
  "summary" | "payload" | "citations" | "artifacts" | "origin_client" | "bundle_id"
>;

/**
 * Saves a handoff under its name: overwrites the existing one or creates it.
 *
 * @throws Fault conflict if `if_version` is not the current version; validation_error for `bundle_id`
 */
export async function save(handoffs: Handoffs, ctx: Asked) {
  const content = await contentOf(ctx);
  const { if_version } = ctx.params;
  const attempt = async () => {
    const known = await named(handoffs, ctx);
    if (known && known.save_seed !== null && known.save_seed === ctx.meta.idempotency_seed) {
      return { doc: known, isNew: known.version_num === 1 };
    }
    if (if_version !== undefined && if_version !== (known?.version_num ?? 0))
      throw notThatVersion(known, if_version);
    const doc = known ? await overwrite(handoffs, ctx, known, content) : await insert(handoffs, ctx, content);
    return doc && { doc: await withoutErased(handoffs, ctx, doc), isNew: !known };
  };
  const refusal = `The handoff "${ctx.params.name}" is being saved concurrently. Retry.`;
  const { doc, isNew } = await guardedWrite(attempt, refusal);
  if (!isNew) ctx.meta.$statusCode = 200;
  return present(doc);
}

/** Removes titles of memories that were erased between reading and writing. */
async function withoutErased(handoffs: Handoffs, ctx: Asked, doc: HandoffDoc): Promise<HandoffDoc> {
  const titled = doc.citations.filter(({ title }) => title !== "").map(({ memory_id }) => memory_id);
  const gone = await deletedMemories(ctx, titled);
  if (gone.length === 0) return doc;
  const { tenant_id, _id } = doc;
  await handoffs.eraseTitles(tenant_id, gone);
  return (await handoffs.rows.findOne(tenant_id, { _id })) ?? doc;
}

/** Returns the handoff with the name; none if it has expired, even if the reaper has not removed it yet. */
async function named(handoffs: Handoffs, ctx: Asked): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const own = { agent_id, name: ctx.params.name };
  const at = handoffs.now();
  const found = await handoffs.rows.findOne(tenant_id, own);
  if (!found?.reap_at || found.reap_at > at) return found;
  await handoffs.remove(ctx, found, { reap_at: { $lte: at } });
  return handoffs.rows.findOne(tenant_id, own);
}

function overwrite(
  handoffs: Handoffs,
  ctx: Asked,
  { _id, version_num, pinned_at }: HandoffDoc,
  content: Content,
): Promise<HandoffDoc | null> {
  const at = handoffs.now();
  const guard = { _id, version_num, pinned_at };
  return handoffs.change(ctx, guard, {
    ...content,
    version_num: version_num + 1,
    updated_at: at,
    ...fullTerm(at, pinned_at),
    save_seed: ctx.meta.idempotency_seed ?? null,
  });
}

/** Returns null if another was saved under the name meanwhile. */
async function insert(handoffs: Handoffs, ctx: Asked, content: Content): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const at = handoffs.now();
  const save_seed = ctx.meta.idempotency_seed ?? null;
  const row: HandoffDoc = {
    ...{ _id: newUuid(save_seed ?? undefined), tenant_id, agent_id, name: ctx.params.name, ...content },
    ...{ version_num: 1, pinned_at: null, last_resumed_at: null, ...fullTerm(at, null) },
    ...{ created_at: at, updated_at: at, version: 1, changed_at: at, save_seed },
  };
  const saved = await handoffs.rows.insert(row).catch(nullIfTaken);
  if (saved) await handoffs.updateSearch(ctx, saved);
  return saved;
}

async function contentOf(ctx: Asked): Promise<Content> {
  const { summary = "", payload = {}, citations = [], artifacts = [], origin_client = null } = ctx.params;
  const { bundle_id = null } = ctx.params;
  if (bundle_id !== null && !(await ctx.call("bundles.hold", { id: bundle_id, by: "handoff" }))) {
    throw unknownReference("bundle_id", "bundle", bundle_id);
  }
  const ids = citations.map(({ memory_id }) => memory_id.toLowerCase());
  const memories = await readableMemories(ctx, ids, { brief: true });
  return {
    ...{ summary, payload: JSON.stringify(payload), artifacts, origin_client, bundle_id },
    citations: ids.map((memory_id) => ({ memory_id, title: memories.get(memory_id)?.title ?? "" })),
  };
}

function notThatVersion(known: HandoffDoc | null, wanted: number): Fault {
  const there = known ? `the current version is ${known.version_num}` : "no handoff has this name";
  return new Fault(
    "conflict",
    `if_version is ${wanted}, but ${there}. Resume the handoff, then save it again.`,
    {
      existing_resource_id: known?._id ?? null,
      version_num: known?.version_num ?? 0,
    },
  );
}
