import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import { place } from "../../../mixins/queue.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import type { CallOf } from "../../runtime.ts";
import type * as contract from "./outputs.contract.ts";
import type { OutputDoc } from "./outputs.model.ts";
import { findReadable, type Outputs } from "./outputs.ts";

/** Changes project and tags. @throws Fault not_found, forbidden, validation_error */
export async function updateOutput(outputs: Outputs, ctx: CallOf<typeof contract.updateOutput>) {
  const { caller } = ctx.meta;
  const { output_id, project_id, tags } = ctx.params;
  const doc = await findReadable(outputs, ctx, output_id);
  const isRetagged = tags !== undefined && canonicalTags(tags).join() !== doc.tags.join();
  if (isRetagged && caller.kind === "agent")
    throw new Fault("forbidden", "Only people can set tags of outputs. Omit tags.");
  const given = {
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(isRetagged && { tags: canonicalTags(tags) }),
  };
  const changed = Object.keys(given).length ? await change(outputs, doc, given) : doc;
  if (!changed) throw notFound("output", output_id);
  return { id: changed._id, project_id: changed.project_id, tags: changed.tags };
}

/** Hides an output; indexing removes it. @throws Fault not_found, forbidden */
export async function deleteOutput(outputs: Outputs, ctx: Call<{ output_id: string }>): Promise<void> {
  const doc = await findReadable(outputs, ctx, ctx.params.output_id);
  if (!isAdmin(ctx.meta.caller) && !(await ownerAccess(ctx)).agent_ids.includes(doc.agent_id))
    throw new Fault("forbidden", "Only its owner and admins can delete an output. Ask one of them.");
  await change(outputs, doc, { deleted_at: new Date(outputs.now()) });
}

/** Changes fields other than the text, and queues the output for search. */
async function change(
  { rows, now, nudge }: Outputs,
  { tenant_id, _id }: OutputDoc,
  given: Partial<OutputDoc>,
): Promise<OutputDoc | null> {
  const $set = { ...given, updated_at: new Date(now()), queue: place(tenant_id, now()) };
  const changed = await rows.update(tenant_id, { _id, deleted_at: null }, { $set, $inc: { version: 1 } });
  nudge();
  return changed;
}
