import type { WireError } from "../errors.ts";
import type { Index } from "../tables/catalog.ts";
import type { PackedRows } from "../tables/packed.ts";

/** The out-of-line field of inserted documents, and for each document its text or null. */
type LongTexts = { field: string; texts: (string | null)[] };

/** Requests to the worker threads. Filters and updates travel as JSON text of their raw form. */
export type WriteRequest =
  | {
      op: "insert";
      collection: string;
      /** Null for the next one of the packed rows. */
      documents: (string | null)[];
      packed?: PackedRows | undefined;
      ordered: boolean;
      longTexts?: LongTexts | undefined;
    }
  | { op: "update" | "modify"; collection: string; request: string }
  | { op: "delete"; collection: string; filter: string; many: boolean }
  | { op: "bulk"; collection: string; requests: string; ordered: boolean }
  | { op: "createIndexes"; collection: string; indexes: Index[] }
  | { op: "rewrite"; mostBytes: number }
  | { op: "emptyLog" }
  | { op: "finishCheckpoint" };

export type ReadRequest =
  | { op: "find"; collection: string; query: string }
  | { op: "findWithin"; collection: string; query: string; most: number }
  | { op: "fetch"; collection: string; rids: number[]; projection: string }
  | { op: "count" | "bytes"; collection: string; filter: string }
  | { op: "collections" }
  | { op: "checkpoint" | "space" };

/** Requests of one event loop tick of the main thread, answered in order. */
export type Batch<Request> = Request[];
/** An answer: a value, with the milliseconds that it took if they were some, or an error under a key that no value has. */
export type Answer = { failed: WireError } | { value: unknown; ms?: number };

/** A worker's message for one batch or more; `logIsLong` asks for a checkpoint. */
export type Reply = { answers: Answer[]; logIsLong?: boolean };

/** Start settings of a worker: the file it opens. */
export type WorkerSettings = { file: string };
/** A worker's first message. */
export type Hello = { ready: true } | { ready: false; reason: string; damaged?: boolean };
/** The message that ends a worker; it answers `closed` when all earlier requests are done. */
export const CLOSE = "close";
export const CLOSED = "closed";
