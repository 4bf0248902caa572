import { expect, jest, test } from "@jest/globals";
import { place, Queue } from "../../mixins/queue.ts";
import { ChunkModel, DocumentModel, SourceModel } from "../../services/remember/documents/documents.model.ts";
import { Ingest } from "../../services/remember/documents/ingest.ts";
import { Indexing } from "../../services/work/outputs/indexing.ts";
import { OutputModel } from "../../services/work/outputs/outputs.model.ts";
import { ownStore } from "../support/own-store.ts";

const START = Date.UTC(2026, 0, 1);
const store = await ownStore();
let clock = START;

const fails = async () => {
  throw new Error("the disk does not answer");
};
const blobs = { get: fails, stream: fails } as never;
const now = () => clock;
const broker = { logger: { warn() {} }, async call() {}, async emit() {}, async broadcast() {} } as never;

/** Begins what is due of a queue whose work fails, and waits for its end. */
const WORKERS = {
  documents: () => {
    const rows = store.collection(DocumentModel);
    const chunks = store.collection(ChunkModel);
    const documents = {
      ...{ rows, chunks, sources: store.collection(SourceModel), now },
      nudge() {},
      async leave() {},
    };
    const queue = new Queue(rows, now);
    const ingest = new Ingest({
      ...{ documents, queue, blobs, broker, converter: null, readers: {}, seconds: 1 },
      next() {},
    });
    const work = async () => {
      const isBegun = await ingest.work();
      await queue.ended();
      return isBegun;
    };
    return { rows, work };
  },
  outputs: () => {
    const rows = store.collection(OutputModel);
    const indexing = new Indexing({ rows, blobs, now, nudge() {} } as never, new Queue(rows, now), broker);
    return { rows, work: () => indexing.work() };
  },
};

test.each(Object.keys(WORKERS) as (keyof typeof WORKERS)[])(
  "work on %s that fails is due again after 1, 2, 4 … seconds, not before",
  async (name) => {
    const random = jest.spyOn(Math, "random").mockReturnValue(0.5);
    const { rows, work } = WORKERS[name]();
    await store.ready();
    clock = START;
    const queue = place("tn_1", START, "ag_1");
    const links = { supersedes_ids: [], derived_from_ids: [], references_ids: [], deleted_at: null };
    const row = { _id: "one", tenant_id: "tn_1", agent_id: "ag_1", hash: "0".repeat(64), ...links };
    await rows.insert({ ...row, status: "queued", attempts: 0, queue } as never);
    for (const seconds of [1, 2, 4, 8]) {
      expect(await work()).toBe(true);
      clock += seconds * 1000 - 1;
      expect(await work()).toBe(false);
      clock += 1;
    }
    random.mockRestore();
  },
);
