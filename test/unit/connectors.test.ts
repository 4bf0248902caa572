import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import type { BrokerMessage, Connector } from "../../connectors/connector.ts";
import { plainHeaders } from "../../connectors/connector.ts";
import { mediaTypeOf } from "../../lib/http/media-type.ts";
import { shownUrl } from "../../services/sense/connectors/address.ts";
import type { ConnectorState } from "../../services/sense/connectors/connectors.contract.ts";
import {
  type ConnectorDoc,
  ConnectorModel,
  type ConnectorNodeDoc,
  ConnectorNodeModel,
} from "../../services/sense/connectors/connectors.model.ts";
import { Consumer, nothing } from "../../services/sense/connectors/consumer.ts";
import { Runner } from "../../services/sense/connectors/runner.ts";
import { FRESH_MS, present } from "../../services/sense/connectors/status.ts";
import { resolveHost } from "../support/dns.ts";
import { temporaryStore } from "../support/gateway.ts";
import { settle } from "../support/settle.ts";

test.each([
  ["amqp://user:pass@host:5672/vhost?heartbeat=3", "amqp://***@host:5672/vhost"],
  ["amqps://user@host", "amqps://***@host"],
  ["amqp://host/", "amqp://host/"],
])("%s is shown as %s", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test("a media type is compared without case and parameters", () => {
  expect(mediaTypeOf("Application/CloudEvents+JSON; charset=utf-8")).toBe("application/cloudevents+json");
  expect(mediaTypeOf("")).toBe("");
});

test("headers are what is plain", () => {
  expect(
    plainHeaders({ A: "x", b: 1, c: true, d: { e: 1 }, f: null, g: new Date(0), h: new Date(Number.NaN) }),
  ).toEqual({
    a: "x",
    b: "1",
    c: "true",
    g: "1970-01-01T00:00:00.000Z",
  });
});

describe("what several nodes say of a connector", () => {
  const at = new Date("2026-01-01T00:00:00.000Z");
  const doc = {
    ...{ _id: "con_1", tenant_id: "tn_1", name: "n", kind: "amqp091", sealed_url: "", shown_url: "amqp://h" },
    ...{ from: "q", source: "s", mapping: { entity: "e", action: "a" }, prefetch: 1, paused: false },
    ...{ counts: nothing(), created_at: at, updated_at: at },
  } as ConnectorDoc;
  const said = (state: ConnectorState, age: number, more: Partial<ConnectorNodeDoc> = {}) =>
    ({
      ...{ _id: `con_1 ${age}`, tenant_id: "tn_1", connector_id: "con_1", state },
      ...{ last_error: null, last_error_at: null, lag: null, seen_at: new Date(at.getTime() - age) },
      ...more,
    }) as ConnectorNodeDoc;
  const shown = (rows: ConnectorNodeDoc[], more: Partial<ConnectorDoc> = {}) =>
    present({ ...doc, ...more }, rows, at.getTime());

  test("the best of them counts, of those that still speak", () => {
    expect(shown([said("retrying", 1), said("consuming", 2)]).state).toBe("consuming");
    expect(shown([said("retrying", 1), said("consuming", FRESH_MS)]).state).toBe("retrying");
    expect(shown([]).state).toBe("connecting");
    expect(shown([said("consuming", 1)], { paused: true }).state).toBe("paused");
  });

  test("the latest error and the longest lag are shown", () => {
    const rows = [
      said("retrying", 1, { last_error: "old", last_error_at: new Date(1), lag: 7 }),
      said("consuming", 1, { last_error: "new", last_error_at: new Date(2), lag: 3 }),
    ];
    expect(shown(rows)).toMatchObject({
      last_error: "new",
      last_error_at: new Date(2).toISOString(),
      lag: 7,
    });
  });
});

test("a second stop waits for the first one's end", async () => {
  const { store, remove } = await temporaryStore();
  const taken: Socket[] = [];
  const silent = createServer((socket) => taken.push(socket));
  try {
    const connectors = store.collection(ConnectorModel);
    const nodes = store.collection(ConnectorNodeModel);
    await store.ready();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const at = new Date();
    await connectors.insert({
      ...{ _id: "con_1", tenant_id: "tn_1", name: "n", kind: "amqp091", sealed_url: "", shown_url: "" },
      ...{ from: "q", source: "s", mapping: { entity: "e", action: "a" }, prefetch: 1, paused: false },
      ...{ counts: nothing(), created_at: at, updated_at: at },
    } as ConnectorDoc);
    const broker = { call: async () => [{ id: "tn_1", status: "active" }] } as unknown as ServiceBroker;
    const parts = {
      connectors,
      nodes,
      broker,
      instance: "one",
      allowPrivate: true,
      resolver: { resolve: resolveHost },
      maxBytes: 1e6,
    };
    const report = (err: unknown) => {
      throw err;
    };
    const urlOf = () => `amqp://127.0.0.1:${port}`;
    const runner = new Runner({
      ...parts,
      urlOf,
      report,
      now: Date.now,
      tell: () => {},
      requireQuota: () => {},
    });
    await runner.look();
    await settle(async () => (await nodes.count("tn_1", {})) === 1);
    const ended: string[] = [];
    await Promise.all(["first", "second"].map((who) => runner.stop("con_1").then(() => ended.push(who))));
    expect(ended).toEqual(["first", "second"]);
    expect(await nodes.count("tn_1", {})).toBe(0);
  } finally {
    for (const socket of taken) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await remove();
  }
});

describe("a consumer", () => {
  /** A connection that delivers messages on request. */
  function connection() {
    const log: string[] = [];
    let give: (message: BrokerMessage) => void = () => {};
    const connector: Connector = {
      open: async (onMessage) => {
        give = onMessage;
      },
      ended: new Promise(() => {}),
      depth: async () => 3,
      close: async () => {
        log.push("closed");
      },
    };
    const message = (name: string) =>
      give({
        ...{ body: Buffer.from(name), size: name.length, content_type: null, message_id: name, headers: {} },
        acknowledge: () => log.push(`acknowledged ${name}`),
      });
    return { connector, log, message };
  }

  test("acknowledges nothing before it is durable, and finishes what it has when it is stopped", async () => {
    const { connector, log, message } = connection();
    const taken: string[][] = [];
    let store = () => {};
    const consumer = new Consumer(
      {
        connect: () => connector,
        take: async (messages) => {
          taken.push(messages.map(({ body }) => body.toString()));
          await new Promise<void>((resolve) => {
            store = resolve;
          });
          return messages.map(() => "accepted");
        },
        changed: () => {},
        trouble: () => {},
      },
      Date.now,
    );
    consumer.start();
    await settle(() => consumer.state === "consuming");
    message("a");
    await settle(() => taken.length === 1);
    // While the first is stored, the others gather.
    message("b");
    message("c");
    expect(log).toEqual([]);
    const stopped = consumer.stop();
    message("too late");
    store();
    await settle(() => taken.length === 2);
    store();
    await stopped;
    expect(taken).toEqual([["a"], ["b", "c"]]);
    expect(log).toEqual(["acknowledged a", "acknowledged b", "acknowledged c", "closed"]);
    expect(consumer.countsSince()).toEqual({ ...nothing(), received: 3, accepted: 3 });
  });

  test("has failed, once and for all, when there is nothing to connect with", async () => {
    const connect = () => {
      throw new Error("The secret does not open.");
    };
    const troubles: (string | null)[] = [];
    const consumer = new Consumer(
      { connect, take: async () => [], changed: () => {}, trouble: (reason) => troubles.push(reason) },
      Date.now,
    );
    consumer.start();
    await settle(() => consumer.state === "failed");
    expect(consumer.last_error).toBe("The secret does not open.");
    expect(troubles).toEqual(["The secret does not open."]);
    await consumer.stop();
  });
});
