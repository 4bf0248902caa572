import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, describe, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { outcomeOf, PushSender, retryAfter, signingKeys } from "../../connectors/push-sender.ts";
import { FairQueue } from "../../lib/queue/fair-queue.ts";
import { newHostResolver } from "../../services/outgoing.ts";
import type { Outcomes } from "../../services/sense/deliveries/settle.ts";
import {
  type OpenBreaker,
  opened,
  PushWorker,
  parkedTooLong,
  type WorkerDeps,
} from "../../services/sense/push/push-worker.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { settle } from "../support/settle.ts";

const PARKED_MS = 24 * 3_600_000;

const answered = (status: number, retry_after_seconds: number | null = null) =>
  ({ kind: "answered", status, retry_after_seconds }) as const;

describe("what follows from an attempt", () => {
  test.each([200, 201, 202, 204, 299])("%i acknowledges", (status) =>
    expect(outcomeOf(answered(status))).toEqual({ do: "acknowledge" }),
  );

  test("410 stops", () => expect(outcomeOf(answered(410))).toEqual({ do: "stop" }));

  test.each([301, 302, 307, 400, 404, 429, 500, 503])("%i is retried by the receiver's delays", (status) =>
    expect(outcomeOf(answered(status))).toEqual({
      ...{ do: "retry", delay_seconds: null, reason: `the endpoint responded with ${status}` },
    }),
  );

  test("Retry-After replaces them, and is at most a day", () => {
    expect(outcomeOf(answered(429, 7))).toMatchObject({ do: "retry", delay_seconds: 7 });
    expect(outcomeOf(answered(503, 1e9))).toMatchObject({ delay_seconds: 86_400 });
  });

  test("what could not be reached is parked, what failed otherwise is retried", () => {
    const unreachable = { kind: "unreachable", reason: "ECONNREFUSED" } as const;
    expect(outcomeOf(unreachable)).toEqual({ do: "park", reason: "ECONNREFUSED" });
    expect(outcomeOf({ kind: "failed", reason: "no response within 15 s" })).toMatchObject({
      do: "retry",
      reason: "no response within 15 s",
    });
    expect(outcomeOf({ kind: "aborted" })).toEqual({ do: "release" });
  });
});

test("Retry-After is read as seconds and as a date", () => {
  const now = Date.parse("2026-01-31T09:30:00Z");
  expect(retryAfter("120", now)).toBe(120);
  expect(retryAfter("Sat, 31 Jan 2026 09:30:30 GMT", now)).toBe(30);
});

test("a Retry-After that asks for no wait is none", () => {
  const now = Date.parse("2026-01-31T09:30:00Z");
  const none = [undefined, "soon", "", "0", "-5", "Sat, 31 Jan 2026 09:00:00 GMT"];
  expect(none.map((value) => retryAfter(value, now))).toEqual(none.map(() => null));
});

describe("breaker", () => {
  test("probes at growing intervals, up to an hour", () => {
    let breaker = opened(null, 0, "ECONNREFUSED");
    const waits = [breaker.next_probe_at.getTime()];
    for (let i = 0; i < 12; i++) {
      const at = breaker.next_probe_at.getTime();
      breaker = opened(breaker, at, "ENOTFOUND");
      waits.push(breaker.next_probe_at.getTime() - at);
    }
    const minute = 60_000;
    expect(waits.slice(0, 5)).toEqual([5000, 10_000, 20_000, 40_000, 80_000]);
    expect(waits.slice(-2)).toEqual([60 * minute, 60 * minute]);
    expect(breaker).toMatchObject({ opened_at: new Date(0), probes: 12, last_error: "ENOTFOUND" });
  });

  test("gives up what has waited a day, and only after a day", () => {
    const breaker = opened(null, 1000, "ECONNREFUSED");
    expect(parkedTooLong(breaker, 1000 + PARKED_MS - 1)).toBeNull();
    expect(parkedTooLong(breaker, 1000 + PARKED_MS)).toBe(1000);
    expect(parkedTooLong(breaker, 5000 + PARKED_MS)).toBe(5000);
  });
});

const NEW = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;

let secrets = [NEW, OLD];
let waiting = 0;
/** The calls that settle and claim. */
let claims: { agent_id: string; limit: number; outcomes: Outcomes }[] = [];
let now = 0;
const sender = new PushSender({ resolver: newHostResolver([]), allowPrivate: true, timeoutMs: 60_000 });

const endpoint = await startEndpoint();
const broker = new ServiceBroker({ logger: false });
broker.createService({ name: "agents", actions: { signing_secrets: () => secrets, stop_push: () => {} } });
broker.createService({
  name: "deliveries",
  actions: {
    exchange: ({ params }: { params: (typeof claims)[number] }) => {
      claims.push(params);
      const given = Math.min(waiting, params.limit);
      waiting -= given;
      const deliveries = Array.from({ length: given }, (_, i) => ({
        ...{ id: `dlv_${waiting + i}`, lease: "token", envelope: "{}", attempt_count: 1 },
      }));
      return { deliveries, drained: given < params.limit };
    },
  },
});
await broker.start();

afterAll(async () => {
  await broker.stop();
  await sender.close();
  await endpoint.stop();
});

function newWorker(breaker: OpenBreaker | null = null, agent_id = "ag_a"): PushWorker {
  const deps: WorkerDeps = {
    ...{ broker, sender, attempts: new FairQueue({ capacity: 64, maxWaiting: 100 }), now: () => now },
    report: (err) => {
      throw err;
    },
    saveBreaker: async () => {},
  };
  const target = { tenant_id: "tn_a", agent_id, endpoint: endpoint.url, format: "structured" } as const;
  return new PushWorker({ ...target, is_limited: false }, breaker, deps);
}

/** Gives an agent's worker something to push. */
async function push(worker: PushWorker) {
  const before = endpoint.pushed.length;
  waiting = 1;
  worker.nudge();
  return settle(() => endpoint.pushed[before]);
}

test("a replaced secret stops signing when its time is over", async () => {
  const worker = newWorker();
  const signatures = async () => (await push(worker)).headers["webhook-signature"]?.split(" ").length;
  expect(await signatures()).toBe(2);
  secrets = [NEW];
  now += 86_400_000;
  expect(await signatures()).toBe(1);
  await worker.stop();
});

test("an endpoint that could not be reached gets one probe, when that is due, and then the others", async () => {
  const next_probe_at = new Date(now + 5000);
  const down = { opened_at: new Date(now), probes: 0, next_probe_at, last_error: "ECONNREFUSED" };
  const [parked, other] = [newWorker(down, "ag_parked"), newWorker(null, "ag_other")];
  const limits = () => claims.filter(({ agent_id }) => agent_id === "ag_parked").map(({ limit }) => limit);
  claims = [];
  parked.nudge();
  await push(other);
  now += 4999;
  parked.nudge();
  await push(other);
  expect(limits()).toEqual([]);
  now += 1;
  await push(parked);
  await settle(() => limits().length > 1);
  expect(limits().slice(0, 2)).toEqual([1, 9]);
  await Promise.all([parked.stop(), other.stop()]);
});

test("what was answered is settled by the call that claims the next, each delivery once", async () => {
  const worker = newWorker();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  endpoint.answer((_, res) => void answered.then(() => res.writeHead(204).end()));
  const before = endpoint.pushed.length;
  claims = [];
  waiting = 40;
  worker.nudge();
  await settle(() => endpoint.pushed.length === before + 8);
  expect(claims.map(({ limit }) => limit)).toEqual([8]);
  answer();
  const acknowledged = () => claims.flatMap(({ outcomes }) => outcomes.acknowledged);
  await settle(() => acknowledged().length === 40);
  await worker.stop();
  expect(new Set(acknowledged()).size).toBe(40);
  for (const { limit, outcomes } of claims) expect(limit + outcomes.acknowledged.length).toBeGreaterThan(0);
  const both = claims.filter(({ limit, outcomes }) => limit > 0 && outcomes.acknowledged.length > 0);
  expect(both.length).toBeGreaterThan(0);
  endpoint.answer(204);
});

test("what is aborted is released", async () => {
  const worker = newWorker();
  endpoint.answer(() => {});
  const before = endpoint.pushed.length;
  claims = [];
  waiting = 3;
  worker.nudge();
  await settle(() => endpoint.pushed.length === before + 3);
  await worker.stop();
  expect(claims.flatMap(({ outcomes }) => outcomes.released)).toHaveLength(3);
  endpoint.answer(204);
});

const share = { tenant_id: "tn_a", caller: "ag_a" };
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("a connection is reused, and ended by closing the sender", async () => {
  const sockets = new Set<unknown>();
  let open = 0;
  const server = createHttpServer((req, res) => {
    sockets.add(req.socket);
    res.end("ok");
  });
  server.on("connection", (socket) => {
    open++;
    socket.once("close", () => open--);
  });
  const url = await listen(server);
  const own = new PushSender({ resolver: newHostResolver([]), allowPrivate: true, timeoutMs: 60_000 });
  const push = { share, url, id: "dlv_1", envelope: "{}", keys: [] };
  for (let i = 0; i < 3; i++) {
    expect(await own.send(push)).toMatchObject({ kind: "answered", status: 200 });
    // The connection is free after the tick in which its answer ended.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sockets.size).toBe(1);
  await own.close();
  await settle(() => open === 0);
  await new Promise((resolve) => server.close(resolve));
});

test("an endpoint that would switch protocols has failed", async () => {
  const switching = createServer((socket) => {
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
    );
  });
  const push = { share, url: await listen(switching), id: "dlv_1", envelope: "{}", keys: signingKeys([NEW]) };
  expect(await sender.send(push)).toEqual({ kind: "failed", reason: "bad upgrade" });
  await new Promise((resolve) => switching.close(resolve));
});

/** Where the client of the sender reports that it has read the status of an answer. */
const STATUS_READ = "undici:request:headers";
const ENDS = "Connection: close\r\n\r\n";
const BROKEN = { next: "close" } as const;
test.each<[string, string, { next?: "close" | "abort"; result?: object }]>([
  ["that never ends", `202 Accepted\r\nContent-Type: text/plain\r\n\r\nwait`, {}],
  ["that breaks off", `200 OK\r\nContent-Length: 900\r\n${ENDS}par`, { next: "close" }],
  ["in chunks that are none", `200 OK\r\nTransfer-Encoding: chunked\r\n${ENDS}zz\r\n`, { next: "close" }],
  ["during which the node stops", "201 Created\r\nContent-Length: 9\r\n\r\n{", { next: "abort" }],
  ["of a refusal, that breaks off", `503 Busy\r\nRetry-After: 40\r\nContent-Length: 5\r\n${ENDS}no`, BROKEN],
  ["that was only announced", "103 Early Hints\r\n\r\n", { next: "close", result: { kind: "failed" } }],
])("the status settles an answer with a body %s", async (_, head, { next, result }) => {
  const leave = new AbortController();
  const abort = () => void setImmediate(() => leave.abort());
  if (next === "abort") subscribe(STATUS_READ, abort);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(`HTTP/1.1 ${head}`);
      if (next === "close") socket.end();
    });
  });
  const content = { headers: {}, body: Buffer.from("{}") };
  const answer = await sender.post({ share, url: await listen(server), content, signal: leave.signal });
  unsubscribe(STATUS_READ, abort);
  const status = Number(head.slice(0, 3));
  expect(answer).toMatchObject(result ?? { kind: "answered", status });
  if (status === 503) expect(answer).toMatchObject({ retry_after_seconds: 40 });
  await new Promise((resolve) => server.close(resolve));
});
