import type { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import type { ConnectOptions } from "mongoose";

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

/** An option that the driver's types omit. */
export const ENDING_CONNECTIONS = { connectionType: EndingConnection } as ConnectOptions;
