import { globSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "./server.ts";
import type { World } from "./tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");

// biome-ignore lint/suspicious/noExplicitAny: rows of all collections
type Row = any;

/** A slow reader's request of an operation that streams (http/unread-streams.test.ts). */
export interface Attack {
  token: string;
  headers?: Record<string, string>;
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  /** Makes what is streamed as long as possible, once connections are open. */
  lengthen?(): Promise<void>;
  /** Connections, if not the usual number: they share what there is to send. */
  clients?: number;
  /** Its streams are too short to fill a connection: nothing has to end them. */
  isShort?: true;
}

/** Changes that a crash must not undo (http/restarts.test.ts). */
export interface Crashed {
  /** The server's last answer. */
  last(): Promise<void>;
  /** After the restart. */
  check(): Promise<void>;
}

/** Additions of an extension to tests over all operations, collections and restarts: `kit` of its `test/kit.ts`. */
export interface Kit {
  /** Lines of support/access-table.txt. */
  access?: string;
  /** Beginnings of its operations' ids, besides the core's verbs (unit/openapi.test.ts). */
  verbs?: string[];
  /** Operations that return a credential which would outlive its caller's (unit/access.test.ts). */
  outlives?: string[];
  /** Operations whose bodies are no objects with named fields. */
  otherBodies?: string[];
  /** Fields of bodies that take anything (unit/known-keys.test.ts). */
  freeForm?: string[];
  /** Bodies over a megabyte, by operation (unit/body-budget.test.ts). */
  largeBodies?: Record<string, "parsed" | "blob">;
  /** The least, the usual and the largest page of lists with other limits (unit/openapi.test.ts). */
  pages?: Record<string, string>;
  /** Operations whose bodies are signed by their senders. */
  signed?: string[];
  /** Makers of resources, by the kind of their identifiers (support/tenancy.ts). */
  makers?: Record<string, (world: World) => Promise<string>>;
  /** Makes the large fields of a row as long as callers can (support/maximal.ts). */
  maximal?: Record<string, (row: Row) => Row>;
  /** Fields with texts that are no content, by collection (unit/erasers.test.ts). */
  noContent?: Record<string, string>;
  /** Collections whose ids are made of others (unit/moving.test.ts). */
  madeIds?: string[];
  /** Makes what a tenant has once, for its reads and changes (http/written-back.test.ts). */
  settle?(world: World): Promise<void>;
  /** Fields that an import computes again, by collection (http/import-rows.test.ts). */
  computed?: Record<string, string>;
  /** Files that look across tenants, with reasons (unit/architecture.test.ts). */
  finders?: Record<string, string>;
  /** Hashes that reference no blob, by file (unit/architecture.test.ts). */
  noBlobs?: Record<string, string>;
  /** Attacks on operations that stream, by action. */
  streams?: Record<string, (server: TestServer, newTenant: () => Promise<World>) => Promise<Attack[]>>;
  /** By what they prove. */
  restarts?: Record<string, (server: TestServer, world: World) => Promise<Crashed>>;
  /** Makes a row with sealed fields; what it returns uses them (http/rotation.test.ts). */
  sealed?(server: TestServer, world: World): Promise<() => Promise<void>>;
}

let loaded: Promise<Kit[]> | undefined;

/** Returns the kits of all extensions. Kits import what tests share, so nothing of that may load them when it is loaded. */
export function loadKits(): Promise<Kit[]> {
  const files = globSync("extensions/*/test/kit.ts", { cwd: ROOT }).sort();
  loaded ??= Promise.all(files.map(async (file) => ((await import(join(ROOT, file))) as { kit: Kit }).kit));
  return loaded;
}

/** Returns what the kits say of one thing, together. */
export async function ofKits<K extends keyof Kit>(name: K): Promise<NonNullable<Kit[K]>> {
  return Object.assign({}, ...(await loadKits()).map((kit) => kit[name]));
}
