import { access, constants } from "node:fs/promises";
import type { ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import { place, Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import { action, type CallOf, event, internal, type ServiceFactory } from "../../runtime.ts";
import { OutputFiles } from "./export.ts";
import { emailOutput, exportOutput } from "./files.contract.ts";
import { Indexing } from "./indexing.ts";
import * as contract from "./outputs.contract.ts";
import { internalActions } from "./outputs.internal.ts";
import { ChunkModel, type OutputDoc, OutputModel, VersionModel } from "./outputs.model.ts";
import { findReadable, type Outputs } from "./outputs.ts";
import { getOutput, getVersion, listOutputs, listVersions } from "./read.ts";
import { canExport } from "./render/render.ts";
import { saveOutput } from "./save.ts";
import { searchOutputs } from "./search.contract.ts";
import { search } from "./search.ts";

/** Interval for finding work that other nodes left, and retries. */
const LOOK_MS = 2000;

/** Saved documents with versions (spec: Output). */
export const outputsService: ServiceFactory = (runtime) => {
  const { store, blobs, config, log } = runtime;
  let broker: ServiceBroker;
  let indexing: Indexing;
  const loop = new SharedLoop(
    "queue",
    () => indexing.work(),
    LOOK_MS,
    "outputs: the queue could not be read; the next sweep retries",
  );
  const outputs: Outputs = {
    rows: store.collection(OutputModel),
    versions: store.collection(VersionModel),
    chunks: store.collection(ChunkModel),
    ...{ blobs, now: store.now },
    settle: (doc) => indexing.settle(doc),
    nudge: () => void broker.broadcast("outputs.queued"),
  };
  const queue = new Queue(outputs.rows, store.now);
  const files = new OutputFiles(outputs, runtime);

  return {
    name: "outputs",
    mixins: [loop.mixin],
    actions: {
      save: action(contract.saveOutput, (ctx) => saveOutput(outputs, ctx, config.OUTPUT_BODY_MAX)),
      list: action(contract.listOutputs, (ctx) => listOutputs(outputs, ctx)),
      get: action(contract.getOutput, (ctx) => getOutput(outputs, ctx)),
      update: action(contract.updateOutput, (ctx) => updateOutput(outputs, ctx)),
      delete: action(contract.deleteOutput, (ctx) => deleteOutput(outputs, ctx)),
      list_versions: action(contract.listVersions, (ctx) => listVersions(outputs, ctx)),
      get_version: action(contract.getVersion, (ctx) => getVersion(outputs, ctx)),
      search: action(searchOutputs, (ctx) => search(outputs, ctx)),
      export: action(exportOutput, (ctx) => files.export(ctx)),
      email: action(emailOutput, (ctx) => files.email(ctx)),
      /** Takes one of the tenant's e-mails. @throws Fault rate_limited when none is left in this hour */
      take_mail: internal<{ tenant_id: string }>(({ params }) => files.takeMail(params.tenant_id)),
      ...internalActions(outputs),
    },

    events: {
      // All nodes take from the queue; only one looks without being told.
      "outputs.queued": event(() => loop.nudge()),
    },

    created() {
      broker = this.broker;
      indexing = new Indexing(outputs, queue, broker);
    },

    async started() {
      if (store.driver === "sqlite") await queue.reclaim();
      if (config.OUTPUT_EXPORT && !canExport())
        log.warn("OUTPUT_EXPORT is on, and sensorium-export is not installed: PDF and DOCX exports get 503");
      const fonts = await unreadableFonts(config.EXPORT_FONTS);
      if (fonts.length)
        log.warn({ fonts }, "EXPORT_FONTS: these files cannot be read; PDF exports that need one will fail");
    },
  };
};

/** Returns which of the operator's fonts do not exist or cannot be read. */
async function unreadableFonts(fonts: readonly string[]): Promise<string[]> {
  const isReadable = (font: string) =>
    access(font.replace(/#.*/, ""), constants.R_OK).then(
      () => true,
      () => false,
    );
  const readable = await Promise.all(fonts.map(isReadable));
  return fonts.filter((_, n) => !readable[n]);
}

/** Changes project and tags. @throws Fault not_found, forbidden, validation_error */
async function updateOutput(outputs: Outputs, ctx: CallOf<typeof contract.updateOutput>) {
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
async function deleteOutput(outputs: Outputs, ctx: Call<{ output_id: string }>): Promise<void> {
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
