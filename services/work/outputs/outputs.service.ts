import type { ServiceBroker } from "moleculer";
import { Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, event, type ServiceFactory } from "../../runtime.ts";
import { deleteOutput, updateOutput } from "./edit.ts";
import { OutputFiles } from "./export.ts";
import { emailOutput, exportOutput } from "./files.contract.ts";
import { Indexing } from "./indexing.ts";
import * as contract from "./outputs.contract.ts";
import { internalActions } from "./outputs.internal.ts";
import { ChunkModel, OutputModel, VersionModel } from "./outputs.model.ts";
import type { Outputs } from "./outputs.ts";
import { getOutput, getVersion, listOutputs, listVersions } from "./read.ts";
import { unreadableFonts } from "./render/pdf-fonts.ts";
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
      const fonts = await unreadableFonts(config.EXPORT_FONTS);
      if (fonts.length)
        log.warn({ fonts }, "EXPORT_FONTS: these files cannot be read; PDF exports that need one will fail");
    },
  };
};
