import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { DamagedFile, toWire } from "../errors.ts";
import { Queries } from "../query/queries.ts";
import { Catalog } from "../tables/catalog.ts";
import {
  BUSY_MS,
  checkpoint,
  closeForWriting,
  isFinishable,
  isLong,
  logState,
  markLog,
  openForWriting,
} from "../tables/data-file.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { Schema } from "../tables/schema.ts";
import { emptyLog, rewrite } from "../tables/scrub.ts";
import { SpareSpace } from "../tables/spare-space.ts";
import { Statements } from "../tables/statements.ts";
import { type BulkRequest, type ModifyRequest, type UpdateRequest, Writes } from "../update/writes.ts";
import {
  type Answer,
  type Batch,
  CLOSE,
  CLOSED,
  type Hello,
  type Reply,
  type WorkerSettings,
  type WriteRequest,
} from "./protocol.ts";

/** A commit includes requests that arrive while it is prepared, but delays none by more than this. */
const GATHER_MS = 10;

/** After this long without a write, the space of deleted rows is given back, a step each time. */
const REST_MS = 250;

/** The writer thread: all requests that have arrived form one transaction and are answered after its commit. */
class Writer {
  readonly #file: string;
  readonly #statements: Statements;
  readonly #catalog: Catalog;
  readonly #schema: Schema;
  readonly #writes: Writes;
  readonly #space: SpareSpace;
  #finishing = false;
  #hasGiven = false;
  /** Work to do after the commit, and the position of its answer. */
  #afterwards: { at: number; run: () => unknown }[] = [];

  constructor(file: string) {
    this.#file = file;
    this.#statements = new Statements(openForWriting(file));
    this.#space = new SpareSpace(this.#statements.db);
    this.#catalog = new Catalog(this.#statements);
    this.#schema = new Schema(this.#statements, this.#catalog);
    const queries = new Queries(this.#statements, this.#catalog);
    this.#writes = new Writes(
      this.#catalog,
      this.#schema,
      queries,
      new RowWriter(this.#statements, this.#schema),
    );
  }

  /** Applies and commits `first` and the batches that `more` returns meanwhile. */
  commit(first: Batch<WriteRequest>, more: () => Batch<WriteRequest> | undefined): Answer[] {
    const answers: Answer[] = [];
    let taken = 0;
    const deadline = performance.now() + GATHER_MS;
    this.#afterwards = [];
    try {
      this.#statements.run("BEGIN IMMEDIATE");
      this.#catalog.refresh();
      for (let batch: Batch<WriteRequest> | undefined = first; batch; batch = more()) {
        taken += batch.length;
        for (const request of batch) answers.push(this.#answer(request, answers.length));
        if (performance.now() > deadline) break;
      }
      this.#statements.run("COMMIT");
    } catch (error) {
      return this.#abandon(taken || first.length, error);
    }
    for (const { at, run } of this.#afterwards) answers[at] = attempt(run);
    return answers;
  }

  #answer(request: WriteRequest, at: number): Answer {
    try {
      return { value: this.#apply(request, at) };
    } catch (error) {
      // SQLite has rolled back the transaction itself (disk full, I/O error)
      if (!this.#statements.db.isTransaction) throw error;
      return { failed: toWire(error) };
    }
  }

  #abandon(count: number, error: unknown): Answer[] {
    if (this.#statements.db.isTransaction) this.#statements.run("ROLLBACK");
    this.#catalog.invalidate();
    const failed = toWire(error);
    return Array.from({ length: count }, () => ({ failed }));
  }

  #apply(request: WriteRequest, at: number): unknown {
    const { db } = this.#statements;
    switch (request.op) {
      case "insert":
        return this.#writes.insert(request);
      case "update":
        return this.#writes.update(request.collection, JSON.parse(request.request) as UpdateRequest);
      case "modify":
        return this.#writes.modify(request.collection, JSON.parse(request.request) as ModifyRequest);
      case "delete":
        return this.#writes.delete(request.collection, JSON.parse(request.filter), request.many);
      case "bulk":
        return this.#writes.bulk(
          request.collection,
          JSON.parse(request.requests) as BulkRequest[],
          request.ordered,
        );
      case "createIndexes":
        this.#schema.createIndexes(request.collection, request.indexes);
        return request.indexes.map((index) => index.name);
      case "finishCheckpoint":
        this.#finishing = true;
        return undefined;
      case "rewrite":
        return void this.#afterwards.push({ at, run: () => rewrite(db, request.mostBytes) });
      case "emptyLog":
        return void this.#afterwards.push({ at, run: () => emptyLog(db, BUSY_MS) });
    }
  }

  /** True if the log is due for a checkpoint. */
  logIsLong(): boolean {
    return isLong(logState(this.#statements.db));
  }

  /**
   * Copies the last pages after another thread has copied most of them. SQLite restarts the log only when nothing is
   * left, and under load another thread always leaves something.
   */
  finishCheckpoint(): void {
    const { db } = this.#statements;
    if (this.#finishing && isFinishable(logState(db))) {
      checkpoint(db);
      if (logState(db).pending === 0) markLog(db, this.#file);
    }
    this.#finishing = false;
  }

  /** Makes the file smaller while there is nothing to write; returns whether to go on. */
  rest(): boolean {
    try {
      const hasGiven = this.#space.step();
      // The file is as long as its last checkpoint says.
      if (!hasGiven && this.#hasGiven) checkpoint(this.#statements.db);
      this.#hasGiven = hasGiven;
    } catch {
      // Full or locked: at another rest.
      return false;
    }
    return this.#hasGiven;
  }

  close(): void {
    closeForWriting(this.#statements.db, this.#file);
  }
}

function attempt(run: () => unknown): Answer {
  try {
    return { value: run() };
  } catch (error) {
    return { failed: toWire(error) };
  }
}

function serve(port: MessagePort, writer: Writer): void {
  let closing = false;
  const resting = setTimeout(() => writer.rest() && resting.refresh(), REST_MS);
  const next = (): Batch<WriteRequest> | undefined => {
    const message = receiveMessageOnPort(port)?.message as Batch<WriteRequest> | typeof CLOSE | undefined;
    if (message === CLOSE) closing = true;
    return message === CLOSE ? undefined : message;
  };
  const serveBatch = (batch: Batch<WriteRequest>) => {
    const answers = writer.commit(batch, next);
    port.postMessage({ answers, logIsLong: writer.logIsLong() } satisfies Reply);
    writer.finishCheckpoint();
    resting.refresh();
  };
  port.on("message", (message: Batch<WriteRequest> | typeof CLOSE) => {
    if (message === CLOSE) closing = true;
    else serveBatch(message);
    if (!closing) return;
    clearTimeout(resting);
    writer.close();
    port.postMessage(CLOSED);
    port.close();
  });
}

const port = parentPort as MessagePort;
try {
  serve(port, new Writer((workerData as WorkerSettings).file));
  port.postMessage({ ready: true } satisfies Hello);
} catch (error) {
  const damaged = error instanceof DamagedFile;
  port.postMessage({ ready: false, reason: (error as Error).message, damaged } satisfies Hello);
}
