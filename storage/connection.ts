import type { Collection, IndexDescription } from "mongodb";
import type { Connection } from "mongoose";
import mongoose from "mongoose";
import {
  DamagedFile,
  DirectoryInUse,
  type Space,
  type SqliteClient,
  type Storage,
  sqliteDriver,
} from "mongoose-sqlite";
import { makeDirectory } from "../lib/files.ts";
import { FairQueue } from "../lib/queue/fair-queue.ts";
import { atTickEnd } from "../lib/queue/tick-end.ts";
import { spend } from "../lib/queue/work.ts";
import { type Row, TenantCollection, type TenantDocument } from "./collection.ts";
import type { CollectionOptions, Dropped, Front, FrontPlace } from "./commands.ts";
import { DATABASE, RECOVERY, requireWhole } from "./data-directory.ts";
import { readFormat, unknownFormat } from "./format.ts";
import { Growth } from "./growth.ts";
import { largeFields, type Model, packedFields } from "./model.ts";
import { mongoOptions } from "./mongo-options.ts";
import { followClock, type RecordClock } from "./record-clock.ts";
import { REWRITE_MB, type Scrubbed, Scrubber } from "./scrubber.ts";
import { isStoreLost, untilAvailable } from "./store-lost.ts";

/** The location of the record: a MongoDB address, else the directory of the embedded store. */
interface StoreOptions {
  DATA_DIR: string;
  MONGO_URL?: string | null | undefined;
  ERASURE_REWRITE_MB?: number;
}

/** How deleted rows were removed. `deleted`: by MongoDB, which reuses their space eventually. */
export type Removal = Scrubbed | "deleted";

/** The record, on either driver. */
export interface Store {
  /** mongoose's connection; each model is at `connection.model(name)`. */
  connection: Connection;
  driver: "sqlite" | "mongodb";
  /** Divides the connections among tenants; null without a limit of them. */
  queue: FairQueue | null;
  /** Growth of rows and blobs since it was last written to the tenants' usage. */
  growth: Growth;
  /** Declares a model, returns its collection and starts creating its indexes: see `ready`. */
  collection<T extends TenantDocument>(model: Omit<Model<T>, "erasure" | "move">): TenantCollection<T>;
  /** Sets the front of a model's rows, and returns the collection behind it: the front's own access. */
  behind<T extends TenantDocument>(
    model: Omit<Model<T>, "erasure" | "move">,
    front: Front<T>,
  ): TenantCollection<T>;
  /** Calls `listener` with the blobs whose reference a row of a model with `blobs` has lost, before its write resolves. */
  onDropped(listener: Dropped): void;
  /** Returns all collections that exist in the store by name, declared here or not. */
  collections(): Promise<Map<string, Collection>>;
  /**
   * Resolves when the indexes of all models declared so far exist. While the store is busy it waits, and says now and then
   * what for.
   */
  ready(report?: Report): Promise<void>;
  /** Returns the store's time in milliseconds since 1970: use it for every timestamp that decides anything. */
  now(): number;
  /** Returns a time that is over for certain: for what must not come early. */
  past(): number;
  /** How well this node knows the store's time; null if the store's clock is this node's. */
  clock: RecordClock | null;
  /** Returns the size of the embedded store's file, and how much of that is free. */
  space?(): Promise<Space>;
  /** Resolves when data deleted before is on no page of the store's files, as far as the driver can ensure it. */
  scrub(): Promise<Removal>;
  /** Rejects if the store does not answer. */
  ping(): Promise<void>;
  /** Calls `listener` when a thread of the embedded store has died: it answers no more, and only a restart helps. */
  onFatal(listener: (err: Error) => void): void;
  /** Calls `listener` for every group commit of the embedded store, with its number of writes and duration. */
  onCommit(listener: (writes: number, seconds: number) => void): void;
  /** Sends the writes of this event loop tick without waiting for its end: still as one commit of the embedded store. */
  send(): void;
  /** Finishes accepted writes and closes the store. */
  close(): Promise<void>;
}

/** Called with what the store is waiting for. */
type Report = (reason: string) => void;

/** A store that cannot be used; its message is for the operator. */
export class StoreError extends Error {}

/**
 * Opens the record. Every write is durable before it is answered: `synchronous=FULL` on SQLite, write concern majority
 * with journal on MongoDB. Rejects with a StoreError, and changes nothing, if it cannot be used.
 */
export async function openStore(options: StoreOptions, report: Report = () => {}): Promise<Store> {
  return options.MONGO_URL ? openMongo(options.MONGO_URL, report) : openEmbedded(options, report);
}

async function openEmbedded(
  { DATA_DIR: dataDir, ERASURE_REWRITE_MB = REWRITE_MB }: StoreOptions,
  report: Report,
): Promise<Store> {
  const instance = newInstance();
  instance.setDriver(sqliteDriver({ atTickEnd, file: DATABASE, onRead: spend }));
  const connect = async () => {
    await makeWhole(dataDir);
    return open(instance, dataDir);
  };
  const connection = await connectWhenFree(connect, `DATA_DIR ${dataDir} cannot be used: `, report);
  const client = connection.getClient() as unknown as SqliteClient;
  const scrubber = new Scrubber(client, ERASURE_REWRITE_MB);
  return {
    ...modelsOf(connection, (name, storage) => client.db().setStorage(name, storage)),
    driver: "sqlite",
    now: Date.now,
    past: Date.now,
    clock: null,
    space: () => client.space(),
    scrub: () => scrubber.scrub(),
    onFatal: (listener) => void client.on("fatal", listener),
    onCommit: (listener) => client.onCommit(listener),
    send: () => client.send(),
    close: () => connection.close(),
  };
}

/** Its models have the schemas of ours: mongoose would copy them, as they are of its default instance. */
function newInstance(): mongoose.Mongoose {
  return Object.assign(new mongoose.Mongoose(), { Schema: mongoose.Schema });
}

async function makeWhole(dataDir: string): Promise<void> {
  await makeDirectory(dataDir);
  await requireWhole(dataDir);
}

async function openMongo(url: string, report: Report): Promise<Store> {
  const connect = () => open(newInstance(), url, mongoOptions(url));
  const connection = await connectWhenFree(connect, "MONGO_URL cannot be used: ", report);
  const readTime = async () => {
    const { localTime } = await databaseOf(connection).command({ hello: 1 });
    return localTime as Date;
  };
  const { clock, stop } = await untilAvailable(
    () => followClock(readTime),
    ({ message }) => report(message),
  );
  return {
    ...modelsOf(connection),
    driver: "mongodb",
    now: () => clock.now(),
    past: () => clock.past(),
    clock,
    scrub: async () => "deleted",
    onFatal: () => {},
    onCommit: () => {},
    send: () => {},
    close: async () => {
      stop();
      await connection.close();
    },
  };
}

async function open(
  instance: mongoose.Mongoose,
  address: string,
  options: mongoose.ConnectOptions = {},
): Promise<Connection> {
  const connection = instance.createConnection();
  await connection.openUri(address, { ...options, autoIndex: false, autoCreate: false });
  return connection;
}

/** Connects, as soon as the store is not busy, to a record of a format that this version knows. */
async function connectWhenFree(
  connect: () => Promise<Connection>,
  prefix: string,
  report: Report,
): Promise<Connection> {
  const say = ({ message }: Error) => report(message);
  const connection = await untilAvailable(connect, say, isBusy).catch((err: Error) => {
    const sentence = err instanceof DirectoryInUse ? err.message : prefix + err.message;
    throw new StoreError(err instanceof DamagedFile ? `${sentence}. ${RECOVERY}` : sentence, { cause: err });
  });
  const unknown = unknownFormat(await untilAvailable(() => readFormat(connection), say));
  if (unknown === null) return connection;
  await connection.close();
  throw new StoreError(unknown);
}

/** Whether a store was reached and has others to serve first. */
function isBusy(err: unknown): boolean {
  const { name, message } = err as Error;
  return name === "MongoWaitQueueTimeoutError" || message.endsWith("database is locked");
}

/** How often a start says what it waits for. */
const REPORT_MS = 5000;

/** As long as a command waits for a connection by default. */
const CONNECTION_PATIENCE_MS = 10_000;

/**
 * Five eighths of a node's connections are for tenants' commands, charged by time; a quarter for those that free capacity.
 * The rest is for statements across tenants: authentication and sweeps. @param connections 0 is no limit
 */
export function queueFor(connections = 0): FairQueue | null {
  if (!connections) return null;
  const part = (share: number) => Math.max(1, Math.floor(connections * share));
  return new FairQueue({
    ...{ capacity: part(5 / 8), reserve: part(1 / 4), chargeTime: true },
    ...{ maxWaiting: Number.POSITIVE_INFINITY, patienceMs: CONNECTION_PATIENCE_MS },
  });
}

/** @param setStorage called before a collection is used that says how it is stored */
function modelsOf(
  connection: Connection,
  setStorage?: (name: string, storage: Storage) => void,
): Pick<
  Store,
  "connection" | "queue" | "growth" | "collection" | "behind" | "onDropped" | "collections" | "ready" | "ping"
> {
  let dropped: Dropped = async () => {};
  const database = databaseOf(connection);
  const builds = new IndexBuilds();
  connection.once("close", () => builds.close());
  const growth = new Growth();
  // The embedded store has no connections.
  const queue = queueFor(connection.getClient().options?.maxPoolSize);
  const places = new Map<string, FrontPlace>();
  const placeOf = (name: string): FrontPlace => {
    const place = places.get(name) ?? {};
    places.set(name, place);
    return place;
  };
  return {
    connection,
    queue,
    growth,
    collection<T extends TenantDocument>({
      name,
      schema,
      outOfLine,
      packed,
      blobs,
    }: Omit<Model<T>, "erasure" | "move">) {
      if (outOfLine || packed) setStorage?.(name, { outOfLine, packed: packed && packedFields(schema) });
      connection.model(name, schema, name);
      const native = database.collection<Row>(name);
      const indexes = schema.indexes().map(([key, options]) => ({ ...options, key }) as IndexDescription);
      if (indexes.length > 0) builds.add(() => native.createIndexes(indexes));
      const options: CollectionOptions = {
        ...{ growth, queue, large: largeFields(schema as never), place: placeOf(name) },
        ...(blobs && {
          blobs: { fields: blobs, dropped: (tenant_id, hashes) => dropped(tenant_id, hashes) },
        }),
      };
      return new TenantCollection<T>(native, options);
    },
    behind<T extends TenantDocument>({ name, schema }: Omit<Model<T>, "erasure" | "move">, front: Front<T>) {
      placeOf(name).front = front as unknown as Front;
      const options = { growth, queue, large: largeFields(schema as never) };
      return new TenantCollection<T>(database.collection<Row>(name), options);
    },
    onDropped(listener) {
      dropped = listener;
    },
    async collections() {
      const listed = await database.collections();
      return new Map(listed.map((native) => [native.collectionName, native as Collection]));
    },
    async ready(report = () => {}) {
      const timer = setInterval(() => report(builds.progress), REPORT_MS);
      await builds.done().finally(() => clearInterval(timer));
    },
    async ping() {
      await database.command({ ping: 1 });
    },
  };
}

function databaseOf(connection: Connection): NonNullable<Connection["db"]> {
  if (!connection.db) throw new StoreError("the store is not open");
  return connection.db;
}

/** More at once would wait for the connections and locks of each other, until these time out. */
const AT_ONCE = 8;

/**
 * Creates the indexes of the models, some at a time. A busy database is waited for: where another node, or the start
 * before, is creating the same ones, that takes as long as it takes there.
 */
class IndexBuilds {
  readonly #all: Promise<void>[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #left = 0;
  #isClosed = false;
  #problem: string | null = null;

  add(build: () => Promise<unknown>): void {
    this.#left++;
    const built = this.#run(build);
    // Reported by `done`; until it is called it must not count as unhandled.
    built.catch(() => {});
    this.#all.push(built);
  }

  async #run(build: () => Promise<unknown>): Promise<void> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      const report = ({ message }: Error) => {
        this.#problem = message;
      };
      await untilAvailable(build, report, (err) => !this.#isClosed && isStoreLost(err));
      this.#left--;
      this.#problem = null;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /** Returns what is still to do, in words, with the last problem. */
  get progress(): string {
    return `the indexes of ${this.#left} collections are missing${this.#problem ? ` (${this.#problem})` : ""}`;
  }

  async done(): Promise<void> {
    await Promise.all(this.#all);
  }

  /** Tries none again. */
  close(): void {
    this.#isClosed = true;
  }
}
