import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { type BrokerMessage, type Connector, plainHeaders } from "../../connectors/connector.ts";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { mediaTypeOf } from "../../lib/http/media-type.ts";
import { SealedRows } from "../../services/identity/rotation/secret-keys.ts";
import type { Runtime } from "../../services/runtime.ts";
import type { ConnectorState } from "../../services/sense/connectors/connectors.contract.ts";
import {
  type ConnectorDoc,
  ConnectorModel,
  type ConnectorNodeDoc,
  ConnectorNodeModel,
  sealedAt,
} from "../../services/sense/connectors/connectors.model.ts";
import { FRESH_MS, present, shownUrl } from "../../services/sense/connectors/connectors.ts";
import { Consumer, nothing } from "../../services/sense/connectors/consumer.ts";
import { newIntake } from "../../services/sense/connectors/intake.ts";
import { Runner } from "../../services/sense/connectors/runner.ts";
import { resolveHost } from "../support/dns.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

test.each([
  ["amqp://user:pass@host:5672/vhost?heartbeat=3", "amqp://***@host:5672/vhost"],
  ["amqps://user@host", "amqps://***@host"],
  ["amqp://host/", "amqp://host/"],
])("%s is shown as %s", (url, shown) => expect(shownUrl(url)).toBe(shown));

test("a media type is compared without case and parameters", () => {
  expect(mediaTypeOf("Application/CloudEvents+JSON; charset=utf-8")).toBe("application/cloudevents+json");
  expect(mediaTypeOf("")).toBe("");
});

test("headers are what is plain", () =>
  expect(
    plainHeaders({ A: "x", b: 1, c: true, d: { e: 1 }, f: null, g: new Date(0), h: new Date(Number.NaN) }),
  ).toEqual({ a: "x", b: "1", c: "true", g: "1970-01-01T00:00:00.000Z" }));

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
      ...{ last_error: "new", last_error_at: new Date(2).toISOString(), lag: 7 },
    });
  });
});

describe("a runner", () => {
  let temporary: TemporaryStore;
  let silent: Server;
  let secrets: SecretBox;
  const taken: Socket[] = [];
  const at = new Date();
  const doc = {
    ...{ _id: "con_1", tenant_id: "tn_1", name: "n", kind: "amqp091", shown_url: "" },
    ...{ from: "q", source: "s", mapping: { entity: "e", action: "a" }, prefetch: 1, paused: false },
    ...{ counts: nothing(), created_at: at, updated_at: at },
  };
  const [FORMER, ACTIVE] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const unopened = (err: unknown) => {
    throw err;
  };
  const rowsOf = () => temporary.store.collection(ConnectorNodeModel).count("tn_1", {});

  beforeEach(async () => {
    temporary = await temporaryStore();
    secrets = new SecretBox(FORMER);
    silent = createServer((socket) => taken.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    for (const socket of taken.splice(0)) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await temporary.remove();
  });

  /** Runs the connector, whose broker accepts connections and says nothing. */
  async function running(): Promise<Runner> {
    const { store } = temporary;
    const connectors = store.collection(ConnectorModel);
    await store.ready();
    const url = `amqp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await connectors.insert({ ...doc, sealed_url: secrets.seal(url, sealedAt("con_1")) } as ConnectorDoc);
    const runtime = {
      store,
      // It is replaced while the connector runs.
      get secrets() {
        return secrets;
      },
      config: { CONNECTOR_ALLOW_PRIVATE: true, EVENT_MAX_BYTES: 1e6, MONGO_URL: null, NATS_URL: null },
      ...{ usage: { require() {} }, modes: { requireWrites() {} }, resolver: { resolve: resolveHost } },
    };
    const broker = {
      call: async () => [{ id: "tn_1", status: "active" }],
      broadcast: async () => {},
      logger: { info() {}, warn: (_: unknown, err: unknown) => err instanceof Error && unopened(err) },
    };
    const runner = new Runner(runtime as unknown as Runtime, broker as unknown as ServiceBroker);
    await runner.look();
    return runner;
  }

  test("waits at a second stop for the first one's end", async () => {
    const runner = await running();
    await settle(async () => (await rowsOf()) === 1);
    const ended: string[] = [];
    await Promise.all(["first", "second"].map((who) => runner.stop("con_1").then(() => ended.push(who))));
    expect(ended).toEqual(["first", "second"]);
    expect(await rowsOf()).toBe(0);
  });

  test("keeps a connection while the key of its address is replaced, and connects again without the former", async () => {
    const runner = await running();
    await settle(() => taken.length === 1);
    secrets = new SecretBox([ACTIVE, FORMER]);
    expect(await new SealedRows(temporary.store, secrets).reseal(unopened)).toBe(1);
    secrets = new SecretBox(ACTIVE);
    await runner.look();
    expect(taken.map(({ closed }) => closed)).toEqual([false]);
    taken[0]?.destroy();
    await settle(() => taken.length === 2);
    await runner.stopAll();
  });
});

describe("a message", () => {
  const doc = {
    ...{ _id: "con_1", tenant_id: "tn_1", source: "shop", mapping: { entity: "order", action: "/what" } },
  };
  const body = Buffer.from('{"what":"paid"}');
  /** Takes in messages as given; returns the events and the dead letters that they became. */
  async function takeIn(...given: Partial<BrokerMessage>[]) {
    const events: { id: string }[] = [];
    const dead: { reason: string; dedupe?: string }[] = [];
    const call = async (action: string, params: never) => {
      if (action === "deliveries.dead_letter") return { id: `dlv_${dead.push(params)}` };
      const { events: published } = params as { events: { id: string }[] };
      events.push(...published);
      return published.map(({ id }) => ({ event_id: id, status: "accepted" }));
    };
    const messages = given.map((each) => ({
      ...{ body, size: (each.body ?? body).length, content_type: null, headers: {}, acknowledge: () => {} },
      ...each,
    }));
    const verdicts = await newIntake({ call } as never, doc as never, 1000)(messages as never);
    return { verdicts, ids: events.map(({ id }) => id), dead };
  }

  test("that is delivered again has the id that it had, and another message another one", async () => {
    const first = { message_id: "7", headers: { "x-shop": "1" } };
    const again = { ...first.headers, "x-delivery-count": "2", "x-death": "[]", "x-first-death-queue": "q" };
    const { ids } = await takeIn(
      first,
      { ...first, headers: again },
      { offset: 7 },
      { offset: 7, headers: { "x-stream-offset": "7" } },
      { ...first, body: Buffer.from('{"what":"paid","n":2}') },
      { ...first, headers: { "x-shop": "2" } },
      { ...first, content_type: "application/json" },
    );
    const [one, same, offset, sameOffset, ...others] = ids;
    expect([one, same, offset, sameOffset]).toEqual([
      ...Array(2).fill(expect.stringMatching(/^con_1:7:[\da-f]{16}$/)),
      ...Array(2).fill(expect.stringMatching(/^con_1:7:[\da-f]{16}$/)),
    ]);
    expect([same, sameOffset]).toEqual([one, offset]);
    expect(new Set([one, offset, ...others]).size).toBe(5);
  });

  test("that cannot be mapped has one dead letter, however often it is delivered", async () => {
    const broken = { message_id: "7", body: Buffer.from("{") };
    const { dead } = await takeIn(broken, { ...broken, headers: { "x-delivery-count": "1" } });
    expect(dead.map(({ dedupe }) => dedupe)).toEqual(Array(2).fill(expect.stringMatching(/^7:[\da-f]{16}$/)));
    expect(dead[0]?.dedupe).toBe(dead[1]?.dedupe);
  });

  const binary = { "cloudevents:specversion": "1.0", "cloudevents:id": "1", "cloudevents:source": "urn:s" };
  test.each<[string, Partial<BrokerMessage>, RegExp]>([
    ["no JSON", { body: Buffer.from("{") }, /^mapping error: the message is not valid JSON: /],
    ["no UTF-8", { body: Buffer.from([0xff, 0xfe]) }, /^mapping error: the message is not UTF-8$/],
    [
      "not compressed as it says",
      { content_encoding: "gzip" },
      /by its content-encoding gzip: it is not valid$/,
    ],
    ["of an unknown encoding", { content_encoding: "zstd" }, /the content-encoding "zstd" is not supported/],
    ["too large", { size: 1001 }, /^mapping error: the message has 1001 bytes; the limit is 1000$/],
    ["unreadable", { unreadable: "a broken header" }, /the message cannot be read: a broken header$/],
    ["without what the mapping wants", { body: Buffer.from("{}") }, /^mapping error: action: \/what/],
    [
      "an event in binary mode whose data is no JSON",
      {
        headers: { ...binary, "cloudevents:type": "com.t" },
        content_type: "application/json",
        body: Buffer.from("{"),
      },
      /^mapping error: /,
    ],
  ])(
    "that is %s becomes a dead letter that says so, and the next one an event",
    async (_, message, reason) => {
      const { verdicts, dead } = await takeIn(message, {});
      expect(verdicts).toEqual(["mapping_error", "accepted"]);
      expect(dead.map((each) => each.reason)).toEqual([expect.stringMatching(reason)]);
    },
  );
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

  test("takes what a new connection sent while it opened, though it could not be stored at first", async () => {
    const [first, second] = [connection(), connection()];
    const opened = Promise.withResolvers<void>();
    const { open } = second.connector;
    second.connector.open = (onMessage) => Promise.all([open(onMessage), opened.promise]).then(() => {});
    const firstEnded = Promise.withResolvers<string>();
    const connectors = [{ ...first.connector, ended: firstEnded.promise }, second.connector];
    const storing = Promise.withResolvers<void>();
    const taken: string[] = [];
    const consumer = new Consumer(
      {
        connect: () => connectors.shift() as Connector,
        take: async (messages) => {
          taken.push(...messages.map(({ body }) => body.toString()));
          if (taken.length === 1) await storing.promise;
          if (taken.length === 2) throw new Error("no room");
          return messages.map(() => "accepted");
        },
        changed: () => {},
        trouble: () => {},
      },
      Date.now,
    );
    consumer.start();
    await settle(() => consumer.state === "consuming");
    first.message("a");
    await settle(() => taken.length === 1);
    firstEnded.resolve("the broker left");
    await settle(() => connectors.length === 0);
    second.message("b");
    storing.resolve();
    await settle(() => taken.length === 2);
    opened.resolve();
    await settle(() => second.log.includes("acknowledged b"));
    await consumer.stop();
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
