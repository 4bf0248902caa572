import type { MongoClient } from "mongodb";
import { metrics, observeGauge, observeValue } from "./metrics.ts";

/** Commands that are counted by name; the others count together. */
const COMMANDS = new Set([
  "find",
  "getMore",
  "insert",
  "update",
  "delete",
  "findAndModify",
  "aggregate",
  "count",
]);

/** Shows the latency of MongoDB's commands, and the use of the connections to it. */
export function observeRecord(client: MongoClient): void {
  const observe = (outcome: "ok" | "error") => (event: { commandName: string; duration: number }) => {
    const command = COMMANDS.has(event.commandName) ? event.commandName : "other";
    metrics.recordSeconds.observe({ command, outcome }, event.duration / 1000);
  };
  client.on("commandSucceeded", observe("ok"));
  client.on("commandFailed", observe("error"));
  observeConnections(client);
}

/** A connection in the driver's events. */
interface Named {
  address: string;
  connectionId: number | string;
}

/** Counts the connections of all servers of the record together. */
function observeConnections(client: MongoClient): void {
  const open = new Set<string>();
  const used = new Set<string>();
  let waiting = 0;
  const nameOf = ({ address, connectionId }: Named) => `${address} ${connectionId}`;
  client.on("connectionCreated", (event) => open.add(nameOf(event)));
  client.on("connectionClosed", (event) => {
    open.delete(nameOf(event));
    used.delete(nameOf(event));
  });
  client.on("connectionCheckOutStarted", () => waiting++);
  client.on("connectionCheckedOut", (event) => {
    waiting = Math.max(0, waiting - 1);
    // Also those from before anybody listened.
    open.add(nameOf(event));
    used.add(nameOf(event));
    metrics.recordWait.observe(event.durationMS / 1000);
  });
  client.on("connectionCheckOutFailed", () => {
    waiting = Math.max(0, waiting - 1);
    metrics.recordNoConnection.inc();
  });
  client.on("connectionCheckedIn", (event) => used.delete(nameOf(event)));
  observeGauge("record_connections", "Connections to MongoDB, by use", "state", async () => ({
    used: used.size,
    idle: open.size - used.size,
  }));
  observeValue(
    "record_connections_limit",
    "Most connections to each server of MongoDB",
    () => client.options.maxPoolSize,
  );
  observeValue("record_connections_waiting", "Commands that wait for a connection to MongoDB", () => waiting);
}
