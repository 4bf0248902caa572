import { Db } from "mongodb";
import { NotImplemented } from "../errors.ts";
import type { Threads } from "../threads/threads.ts";
import { SqliteCollection } from "./collection.ts";
import { refuseOthers } from "./options.ts";

/** MongoDB's driver database. */
export class SqliteDb {
  readonly databaseName: string;
  readonly #threads: Threads;
  readonly #outOfLine = new Map<string, string>();

  constructor(name: string, threads: Threads) {
    this.databaseName = name;
    this.#threads = threads;
  }

  collection(name: string): SqliteCollection {
    return new SqliteCollection(this.databaseName, name, this.#threads, this.#outOfLine.get(name));
  }

  /** Stores the text of a field out of line in documents inserted from now on (see out-of-line.ts). */
  setOutOfLine(name: string, field: string): void {
    this.#outOfLine.set(name, field);
  }

  async createCollection(name: string): Promise<SqliteCollection> {
    await this.#threads.writer.request({ op: "createCollection", collection: name });
    return this.collection(name);
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
