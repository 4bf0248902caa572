import type { ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import { account } from "../../../mixins/audited.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { place, Queue } from "../../../mixins/queue.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { fileActions } from "./files.ts";
import { Indexing } from "./indexing.ts";
import { internalActions } from "./internal-actions.ts";
import { listPage } from "./list.ts";
import * as contract from "./outputs.contract.ts";
import { ChunkModel, type OutputDoc, OutputModel, VersionModel } from "./outputs.model.ts";
import { findReadable, findVersion, type Parts } from "./parts.ts";
import { unreadableFonts } from "./render/pdf-fonts.ts";
import { presentVersion, presentWhole } from "./rows.ts";
import { save } from "./save.ts";
import { searchOutputs } from "./search.contract.ts";
import { search } from "./search.ts";

/** Interval for finding work that other nodes left, and retries. */
const LOOK_MS = 2000;

/** Saved documents with versions (spec: Output). */
export const outputsService: ServiceFactory = (runtime) => {
  const { store, blobs, config, log } = runtime;
  let indexing: Indexing;
  const loop = new ServiceLoop(() => indexing.work(), LOOK_MS, "outputs: the queue cannot be read");
  const outputs = store.collection(OutputModel);
  const parts: Parts = {
    outputs,
    versions: store.collection(VersionModel),
    chunks: store.collection(ChunkModel),
    blobs,
    now: store.now,
    settle: (doc) => indexing.settle(doc),
    nudge: () => loop.nudge(),
  };
  const queue = new Queue(outputs, store.now);

  /** Changes fields other than the text, and queues the output for search. */
  async function change({ tenant_id, _id }: OutputDoc, given: Partial<OutputDoc>): Promise<OutputDoc | null> {
    const $set = { ...given, updated_at: new Date(store.now()), queue: place(tenant_id, store.now()) };
    const changed = await outputs.update(
      tenant_id,
      { _id, deleted_at: null },
      { $set, $inc: { version: 1 } },
    );
    loop.nudge();
    return changed;
  }

  async function requireOwner(ctx: Call, doc: OutputDoc): Promise<void> {
    if (isAdmin(ctx.meta.caller) || (await ownerAccess(ctx)).agent_ids.includes(doc.agent_id)) return;
    throw new Fault("forbidden", "Only who saved an output first or an admin may delete it.");
  }

  return {
    name: "outputs",
    mixins: [loop.mixin],
    actions: {
      save: action(contract.saveOutput, async (ctx) => {
        const doc = await save(parts, ctx, config.OUTPUT_BODY_MAX);
        account(ctx, { version_num: doc.version_num });
        return presentWhole(doc, doc);
      }),

      list: action(contract.listOutputs, (ctx) => listPage(parts, ctx)),

      get: action(contract.getOutput, async (ctx) => {
        const { output_id, version } = ctx.params;
        const doc = await findReadable(parts, ctx as Call, output_id);
        return presentWhole(
          doc,
          version === undefined ? doc : await findVersion(parts, doc, String(version)),
        );
      }),

      update: action(contract.updateOutput, async (ctx) => {
        const { caller } = ctx.meta;
        const { output_id, project_id, tags } = ctx.params;
        const doc = await findReadable(parts, ctx as Call, output_id);
        if (tags && caller.kind === "agent")
          throw new Fault("forbidden", "Tags of outputs are set by people.");
        if (project_id) await ctx.call("projects.require", { tenant_id: caller.tenant_id, key: project_id });
        const given = {
          ...(project_id !== undefined && { project_id: project_id || null }),
          ...(tags !== undefined && { tags: canonicalTags(tags) }),
        };
        const changed = Object.keys(given).length ? await change(doc, given) : doc;
        if (!changed) throw notFound("output", output_id);
        return { id: changed._id, project_id: changed.project_id, tags: changed.tags };
      }),

      delete: action(contract.deleteOutput, async (ctx) => {
        const doc = await findReadable(parts, ctx as Call, ctx.params.output_id);
        await requireOwner(ctx as Call, doc);
        await change(doc, { deleted_at: new Date(store.now()) });
      }),

      list_versions: action(contract.listVersions, async (ctx) => {
        const doc = await findReadable(parts, ctx as Call, ctx.params.output_id);
        const filter = { output_id: doc._id, version_num: { $lt: doc.version_num } };
        const earlier = await parts.versions.find(doc.tenant_id, filter, { sort: { version_num: -1 } });
        return { versions: [doc, ...earlier].map((each) => presentVersion(doc._id, each)) };
      }),

      get_version: action(contract.getVersion, async (ctx) => {
        const doc = await findReadable(parts, ctx as Call, ctx.params.output_id);
        const version = await findVersion(parts, doc, ctx.params.version_num);
        const body = { hash: version.hash, size: version.byte_size };
        return { ...presentVersion(doc._id, version), body };
      }),

      search: action(searchOutputs, (ctx) => search(parts, ctx)),

      ...fileActions(parts, runtime),
      ...internalActions(parts),
    },

    created() {
      const broker = this.broker as ServiceBroker;
      indexing = new Indexing(parts, queue, broker);
    },

    async started() {
      if (store.driver === "sqlite") await queue.reclaim();
      const fonts = await unreadableFonts(config.EXPORT_FONTS);
      if (fonts.length)
        log.warn({ fonts }, "EXPORT_FONTS: these cannot be read; a PDF that needs one is refused");
    },
  };
};
