import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { MongoClient } from "mongodb";
import type { AnsweredListener } from "../threads/channel.ts";
import { startThreads, type Threads, type ThreadsOptions } from "../threads/threads.ts";
import { SqliteDb } from "./db.ts";
import { driverError } from "./driver-errors.ts";
import { lockDirectory, type Release } from "./lock.ts";
import { refuseOthers } from "./options.ts";

/** Options of the driver. */
export interface SqliteOptions extends ThreadsOptions {
  /** Name of the data file in its directory. */
  file?: string;
}

/** MongoDB's driver client, over one directory. Emits `fatal` with an error when a thread dies. */
export class SqliteClient extends EventEmitter {
  readonly directory: string;
  readonly #options: SqliteOptions;
  readonly #file: string;
  #threads: Threads | undefined;
  #release: Release | undefined;
  #db: SqliteDb | undefined;

  constructor(directory: string, options: SqliteOptions = {}) {
    super();
    this.directory = directory;
    this.#options = options;
    this.#file = options.file ?? "data.db";
  }

  /** Locks the directory and opens the data file, creating both if missing. Rejects with a one-line reason. */
  async connect(): Promise<this> {
    if (!existsSync(this.directory)) await mkdir(this.directory, { mode: 0o700, recursive: true });
    this.#release = lockDirectory(this.directory);
    try {
      const file = join(this.directory, this.#file);
      const onDeath = (error: Error) => this.emit("fatal", error);
      this.#threads = await startThreads(file, driverError, onDeath, this.#options);
    } catch (error) {
      this.#release();
      throw error;
    }
    return this;
  }

  /** Returns the only database, whatever the name. */
  db(name = basename(this.#file, extname(this.#file))): SqliteDb {
    this.#db ??= new SqliteDb(name, this.#open());
    return this.#db;
  }

  #open(): Threads {
    if (!this.#threads) throw new Error("the store is not open");
    return this.#threads;
  }

  /**
   * Rewrites the data file if it has at most `mostBytes`, which leaves nothing deleted in it. Resolves to whether it
   * did.
   */
  rewrite(mostBytes: number): Promise<boolean> {
    return this.#open().writer.request({ op: "rewrite", mostBytes });
  }

  /** Copies the write-ahead log into the file and empties it; resolves to false while a reader still needs the log. */
  emptyLog(): Promise<boolean> {
    return this.#open().writer.request({ op: "emptyLog" });
  }

  /** Calls `listener` after every group commit. */
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
}

refuseOthers(SqliteClient, MongoClient, "client");
