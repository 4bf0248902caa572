/** @needs mongodb: connections that break at the moment a command is written to them. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { MongoClient } from "mongodb";
import { openStore, type Store } from "../storage/connection.ts";
import { settle } from "./support/settle.ts";
import { useMongo } from "./support/use.ts";

type Broken = { socket: { destroy(): void } };
/** The driver's connections to a server: its monitor's, and those of commands. */
type DriverServer = { monitor: { connection: Broken | null }; pool: { checkedOut: Set<Broken> } };

const mongo = await useMongo();
const here = "url" in mongo;

(here ? describe : describe.skip)("a connection that breaks as a command is written to it", () => {
  let store: Store;
  let client: MongoClient;
  let server: DriverServer;

  beforeAll(async () => {
    if (!here) return;
    // Monitoring in turns writes each command again; in a stream it would only read.
    const url = `${mongo.url}${mongo.url.includes("?") ? "&" : "?"}serverMonitoringMode=poll&heartbeatFrequencyMS=500`;
    store = await openStore({ DATA_DIR: "", MONGO_URL: url });
    client = store.connection.getClient() as unknown as MongoClient;
    const { topology } = client as unknown as { topology: { s: { servers: Map<string, DriverServer> } } };
    [server] = topology.s.servers.values() as unknown as [DriverServer];
  });
  afterAll(async () => {
    await store?.close();
  });

  test("fails the command, and the next one is answered", async () => {
    client.once("commandStarted", () => {
      for (const { socket } of server.pool.checkedOut) socket.destroy();
    });
    await expect(store.ping()).rejects.toThrow("closed");
    await store.ping();
  });

  test("is replaced, if it is the one that watches the server", async () => {
    await settle(() => server.monitor.connection !== null);
    let failed = 0;
    client.on("serverHeartbeatFailed", () => failed++);
    client.once("serverHeartbeatStarted", () => server.monitor.connection?.socket.destroy());
    await settle(() => failed > 0, { what: "the driver to notice" });
    await store.ping();
  });
});
