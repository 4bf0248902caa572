import { EventEmitter } from "node:events";
import { makeDirectory } from "../../lib/files.ts";
import { requireWhole } from "../restoring.ts";
import { Scrubber } from "../scrubber.ts";
import type { AnsweredListener } from "./channel.ts";
import { EmbeddedDb } from "./db.ts";
import { driverError } from "./driver-errors.ts";
import { NotImplemented } from "./errors.ts";
import { lockDirectory, type Release } from "./lock.ts";
import { DATA_FILE, startThreads, type Threads } from "./threads.ts";

/** The client of MongoDB's driver, over one data directory. Emits `fatal` with an error when a thread died. */
export class EmbeddedClient extends EventEmitter {
  readonly dataDir: string;
  #threads: Threads | undefined;
  #release: Release | undefined;
  #db: EmbeddedDb | undefined;

  constructor(dataDir: string) {
    super();
    this.dataDir = dataDir;
  }

  /** Locks the directory and opens the data file; makes both when missing. Rejects with one clear line. */
  async connect(): Promise<this> {
    await makeDirectory(this.dataDir);
    await requireWhole(this.dataDir, DATA_FILE);
    this.#release = lockDirectory(this.dataDir);
    try {
      this.#threads = await startThreads(this.dataDir, driverError, (error) => this.emit("fatal", error));
    } catch (error) {
      this.#release();
      throw error;
    }
    return this;
  }

  /** There is one database: a name changes nothing. */
  db(name = "afferent"): EmbeddedDb {
    if (!this.#threads) throw new Error("the store is not open");
    this.#db ??= new EmbeddedDb(name, this.#threads);
    return this.#db;
  }

  /** Removes deleted rows from the data file: see Scrubber. @param rewriteMegabytes a larger file is not rewritten */
  scrubber(rewriteMegabytes: number): Scrubber {
    const { writer } = this.#threads as Threads;
    return new Scrubber(
      {
        rewrite: (mostBytes) => writer.request({ op: "rewrite", mostBytes }),
        emptyLog: () => writer.request({ op: "emptyLog" }),
      },
      rewriteMegabytes,
    );
  }

  /** Lets `listener` know of every group commit. */
  onCommit(listener: AnsweredListener): void {
    if (this.#threads) this.#threads.writer.onAnswered = listener;
  }

  async close(): Promise<void> {
    const threads = this.#threads;
    this.#threads = undefined;
    await threads?.close();
    this.#release?.();
    this.#release = undefined;
  }

  startSession(): never {
    throw new NotImplemented("sessions and transactions");
  }

  async withSession(): Promise<never> {
    throw new NotImplemented("sessions and transactions");
  }

  watch(): never {
    throw new NotImplemented("change streams");
  }

  bulkWrite(): never {
    throw new NotImplemented("client.bulkWrite");
  }
}
