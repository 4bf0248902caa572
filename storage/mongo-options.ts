import type { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import type { ConnectOptions } from "mongoose";

/** While no server is writable, callers get an error after this time and retry. */
const SERVER_SELECTION_MS = 5000;

/**
 * Guarantees depend on these, whatever the address says: a write is answered when a majority has it on disk, and later
 * reads see it.
 */
const PINNED = {
  w: "majority",
  journal: true,
  readPreference: "primary",
  readConcernLevel: "local",
  serverSelectionTimeoutMS: SERVER_SELECTION_MS,
} as const satisfies ConnectOptions;

/** Defaults that the address may override. */
const USUAL = {
  appName: "sensorium",
  // A silent server is noticed after the sum of both, and requests waiting for it fail.
  heartbeatFrequencyMS: 5000,
  connectTimeoutMS: 5000,
  waitQueueTimeoutMS: 10_000,
  // Without a majority of data-bearing members, a write would wait forever and hold its connection.
  wtimeoutMS: 20_000,
  // Cloud networks drop idle connections silently after four minutes.
  maxIdleTimeMS: 120_000,
} as const satisfies ConnectOptions;

const DATABASE = "sensorium";

type DriverConnection = new (stream: Duplex, options: object) => EventEmitter;

const { Connection } = createRequire(import.meta.url)("mongodb/lib/cmap/connection") as {
  Connection: DriverConnection;
};

/**
 * The driver's connection, whose commands end when it closes. The driver (7.8.0) lets a command that is written to a
 * destroyed socket, before its `close` is told, wait for `drain` without end. If it is the monitor's, the driver never
 * connects to that server again. Told `drain`, the command finds the connection closed, and fails.
 */
class EndingConnection extends Connection {
  constructor(stream: Duplex, options: object) {
    super(stream, options);
    this.once("close", () => stream.emit("drain"));
  }
}

/** Returns the driver's options for an address. Statement timeouts are set elsewhere. */
export function mongoOptions(url: string): ConnectOptions {
  const [, database, query = ""] = /^[^:]+:\/\/[^/?]*(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? [];
  const named = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  const usual = Object.entries(USUAL).filter(([name]) => !named.has(name.toLowerCase()));
  // As an option, mongoose consumes it: the login's database stays the one that the address implies.
  const measured = { monitorCommands: true, connectionType: EndingConnection };
  return { ...Object.fromEntries(usual), ...PINNED, ...measured, ...(!database && { dbName: DATABASE }) };
}
