/** Threads that own a SQLite file, for programs that have another file in addition to the store. */
export { toWire } from "../errors.ts";
export { Channel, OnDemand, type ThreadsOptions } from "./channel.ts";
export { type Batch, CLOSE, CLOSED, type Hello, type Reply, type WorkerSettings } from "./protocol.ts";
