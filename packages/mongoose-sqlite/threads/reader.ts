import type { DatabaseSync } from "node:sqlite";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { toWire } from "../errors.ts";
import { Queries, type Query } from "../query/queries.ts";
import type { RawObject } from "../query/values.ts";
import { Catalog } from "../tables/catalog.ts";
import { checkpoint, openForCheckpoints, openForReading } from "../tables/data-file.ts";
import { readSpace } from "../tables/spare-space.ts";
import { Statements } from "../tables/statements.ts";
import {
  type Answer,
  type Batch,
  CLOSE,
  CLOSED,
  type Hello,
  type ReadRequest,
  type Reply,
  type WorkerSettings,
} from "./protocol.ts";

/** Reads that take less are not worth a mention. */
const SLOW_MS = 0.5;

/** The reader thread: its transactions see the last commit, concurrently with the writer. */
class Reader {
  readonly #statements: Statements;
  readonly #catalog: Catalog;
  readonly #queries: Queries;
  readonly #file: string;
  #checkpoints: DatabaseSync | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#statements = new Statements(openForReading(file));
    this.#catalog = new Catalog(this.#statements);
    this.#queries = new Queries(this.#statements, this.#catalog);
  }

  /** Answers a batch from one snapshot, taken after the batch arrived, so it contains all acknowledged writes. */
  answer(batch: Batch<ReadRequest>): Answer[] {
    try {
      this.#statements.run("BEGIN");
      this.#catalog.refresh();
      return batch.map((request) => this.#one(request));
    } catch (error) {
      const failed = toWire(error);
      return batch.map(() => ({ failed }));
    } finally {
      if (this.#statements.db.isTransaction) this.#statements.run("COMMIT");
    }
  }

  #one(request: ReadRequest): Answer {
    const begun = performance.now();
    try {
      const value = this.#read(request);
      const ms = performance.now() - begun;
      return ms < SLOW_MS || !("collection" in request) ? { value } : { value, ms };
    } catch (error) {
      return { failed: toWire(error) };
    }
  }

  #read(request: ReadRequest): unknown {
    switch (request.op) {
      case "find":
        return this.#queries.find(request.collection, JSON.parse(request.query) as Query);
      case "findWithin": {
        const { collection, query, most } = request;
        return this.#queries.findWithin(collection, JSON.parse(query) as Query, most);
      }
      case "fetch":
        return this.#queries.fetch(request.collection, request.rids, JSON.parse(request.projection));
      case "count":
        return this.#queries.count(request.collection, JSON.parse(request.filter) as RawObject);
      case "bytes":
        return this.#queries.bytes(request.collection, JSON.parse(request.filter) as RawObject);
      case "collections":
        return [...this.#catalog.tables.keys()].sort();
      case "space":
        return readSpace(this.#statements.db);
      case "checkpoint":
        this.#checkpoints ??= openForCheckpoints(this.#file);
        return checkpoint(this.#checkpoints);
    }
  }

  close(): void {
    this.#checkpoints?.close();
    this.#statements.db.close();
  }
}

const port = parentPort as MessagePort;
let reader: Reader | undefined;
port.on("message", (message: Batch<ReadRequest> | typeof CLOSE) => {
  if (message === CLOSE) {
    reader?.close();
    port.postMessage(CLOSED);
    port.close();
    return;
  }
  // The writer has created the file before anything is read.
  reader ??= new Reader((workerData as WorkerSettings).file);
  port.postMessage({ answers: reader.answer(message) } satisfies Reply);
});
port.postMessage({ ready: true } satisfies Hello);
