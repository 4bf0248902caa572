/** What a request costs and holds, on a server that nobody else asks. */
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { onGround } from "../support/deliveries.ts";
import { api } from "../support/http.ts";
import { connectMcp } from "../support/mcp.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useAlone } from "../support/use.ts";

const ROOT = join(import.meta.dirname, "../..");
const REQUESTS = 400;
/** Functions of every request are called as often, but for the ends of the last; those of loops are not. */
const CALLS = REQUESTS - 10;
/** Files that a reader of a request opens, besides general functions and the driver of the record. */
const MOST_FILES = 16;
const GENERAL = /^(lib|packages)\//;

const server = await useAlone({
  env: { NODE_OPTIONS: "--inspect=127.0.0.1:0", RATE_LIMIT_PER_MINUTE: "0" },
});
const { admin, publish } = await onGround(server);

type FunctionCoverage = { ranges: { count: number }[] };
type Coverage = { result: { url: string; functions: FunctionCoverage[] }[] };

/** A session with the debugger of a server. */
async function debuggerAt(url: string) {
  const socket = new WebSocket(url);
  const pending = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    pending.get(id)?.(result);
  };
  await new Promise((resolve) => (socket.onopen = resolve));
  let last = 0;
  return {
    send: <T>(method: string, params: object = {}): Promise<T> => {
      const id = ++last;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve) => pending.set(id, resolve as (result: unknown) => void));
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

test("GET /channels runs code of few files", async () => {
  const caller = api(server, server.credentials.agent.api_key);
  const [, url = ""] = await settle(() => /Debugger listening on (ws:\S+)/.exec(server.logs()));
  using debug = await debuggerAt(url);
  const list = async () => ok(await caller.get("/channels"));
  for (let i = 0; i < 50; i++) await list();
  await debug.send("Profiler.enable");
  await debug.send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  for (let i = 0; i < REQUESTS; i++) await list();
  const { result } = await debug.send<Coverage>("Profiler.takePreciseCoverage");
  const files = result
    .filter(({ url }) => url.startsWith("file:") && !url.includes("node_modules"))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= CALLS))
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
    .filter((file) => !GENERAL.test(file))
    .sort();
  expect(files.length <= MOST_FILES ? [] : files).toEqual([]);
  expect(files).toContain("services/sense/channels/channels.service.ts");
});

test("settling deliveries and taking the next takes one commit of the embedded store", async () => {
  const type = "com.example.next";
  const receiver = await newReceiver(server, admin, "next", { interests: [type] });
  for (let n = 0; n < 20; n++) await publish(type, { n });
  await settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === 20);
  const commitsSoFar = async () =>
    Number(/^sensorium_store_commit_seconds_count (\d+)/m.exec(await server.metrics())?.[1]);
  const commits: number[] = [];
  let held: string[] = [];
  for (let n = 0; n < 9; n++) {
    const before = await commitsSoFar();
    const body = { ack: { delivery_ids: held }, limit: 2 };
    const { deliveries, ...counts } = ok(await receiver.api.post("/delivery/next", body));
    expect(counts).toMatchObject({ acknowledged: held.length, count: 2 });
    if (held.length > 0) commits.push((await commitsSoFar()) - before);
    held = deliveries.map(({ id }: { id: string }) => id);
  }
  // Others are the service's own, which writes some statistics now and then.
  commits.sort((a, b) => a - b);
  expect([commits[0], commits[4]]).toEqual([1, 1]);
});

test("an MCP client that leaves gives up its poll", async () => {
  const type = "com.example.left";
  await using own = await connectMcp(server, server.credentials.agent.api_key);
  await own.call("interests_create", { event_type: type });
  const leaving = new AbortController();
  const { signal } = leaving;
  const poll = own.client.callTool({ name: "deliveries_poll", arguments: { wait: 30 } }, { signal });
  const gone = expect(poll).rejects.toThrow();
  // Besides the request for the measures.
  const polling = async () => /http_requests_in_flight 2/.test(await server.metrics());
  await settle(polling);
  leaving.abort();
  await gone;
  await settle(async () => !(await polling()));
  await own.call("events_publish", { specversion: "1.0", id: "left", source: "urn:test", type });
  const { deliveries } = await own.call("deliveries_poll", { wait: 30 });
  expect(deliveries).toMatchObject([{ payload: { id: "left" } }]);
});
