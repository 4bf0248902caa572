import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { Db, MongoClient } from "mongodb";
import { NotImplemented } from "../errors.ts";
import type { Space } from "../tables/spare-space.ts";
import type { AnsweredListener } from "../threads/channel.ts";
import { startThreads, type Threads, type ThreadsOptions } from "../threads/threads.ts";
import { SqliteCollection, type Storage } from "./collection.ts";
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

  /** Returns the size of the data file, and how much of that is free. */
  space(): Promise<Space> {
    return this.#open().reader.request({ op: "space" });
  }

  /** Calls `listener` after every group commit. */
  onCommit(listener: AnsweredListener): void {
    if (this.#threads) this.#threads.writer.onAnswered = listener;
  }

  /** Sends the writes of this event loop tick now: the writer commits while the tick goes on. */
  send(): void {
    this.#threads?.writer.send();
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

/** MongoDB's driver database. */
class SqliteDb {
  readonly databaseName: string;
  readonly #threads: Threads;
  readonly #storage = new Map<string, Storage>();

  constructor(name: string, threads: Threads) {
    this.databaseName = name;
    this.#threads = threads;
  }

  collection(name: string): SqliteCollection {
    return new SqliteCollection(this.databaseName, name, this.#threads, this.#storage.get(name));
  }

  /** Says how a collection stores documents inserted from now on. Call it before `collection`. */
  setStorage(name: string, storage: Storage): void {
    this.#storage.set(name, storage);
  }

  async collections(): Promise<SqliteCollection[]> {
    const names = await this.#threads.reader.request<string[]>({ op: "collections" });
    return names.map((name) => this.collection(name));
  }

  /** `ping` checks both threads; `hello` returns the store's time, which is this machine's. */
  async command(command: Record<string, unknown>): Promise<Record<string, unknown>> {
    const [name] = Object.keys(command);
    if (name !== "ping" && name !== "hello") throw new NotImplemented(`the command ${name}`);
    if (this.#threads.writer.failure) throw this.#threads.writer.failure;
    await this.#threads.reader.request({ op: "collections" });
    return name === "ping" ? { ok: 1 } : { ok: 1, isWritablePrimary: true, localTime: new Date() };
  }
}

refuseOthers(SqliteDb, Db, "db");
