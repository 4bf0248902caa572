import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { Operation } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import { multiplyRows } from "../support/maximal.ts";
import { identifierKind, sampleBody } from "../support/sample.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { connectDevice, kindsOfIds, makeWorld, OPERATOR_TOKEN, ok, type World } from "../support/tenancy.ts";

/**
 * Calls every list, with rows as large as callers can make them, many times at once: the memory of the server must not
 * follow the rows. Operations come from the contracts: a new one is tried without being named here.
 */
const AT_ONCE = 20;
/** Limit of 20 answers of half a megabyte, with copies and garbage. A list that reads whole rows takes gigabytes. */
const MOST_MEGABYTES = 150;
/** Limit of all lists, one after the other: V8 returns what it used with time. */
const MOST_OF_ALL = 1_000;
/** Bytes of a page; the arrays that the specification wants whole (`inPages`) are sent in parts. */
const MOST_OF_PAGE = 8_388_608;

const isRead = (op: Operation) => (op.method === "GET" && !op.takes) || op.reads === true;
const reads = operations.filter(
  (op) => isRead(op) && isList(op) && !op.stream && !["public", "monitor", "operator"].includes(op.access.by),
);
const named = reads.map((op) => [`${op.method} ${op.url}`, op] as const);

const env: Record<string, string> = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" };
let server: TestServer;
let world: World;

/** Tries each list of a server on the embedded store, or on the MongoDB at an address. */
export async function testLists(MONGO_URL?: string): Promise<void> {
  if (MONGO_URL) Object.assign(env, { MONGO_URL, SECRET_KEY: randomBytes(32).toString("base64") });
  server = await startServer({ env });
  world = await makeWorld(server, "large");
  for (const kind of await kindsOfIds()) await world.idOf(kind);
  await makeOthers(world);
  await server.end();
  await multiplyRows(server.dataDir, world.tenant_id, MONGO_URL);
  await server.restart();
  afterAll(async () => {
    // It would first finish indexing the rows.
    await server.kill();
    await server.stop();
  });

  describe.each(named)("%s", (_, op) => {
    test("takes little memory", async () => {
      const request = await requestOf(op);
      resetPeak();
      const before = memory("VmRSS");
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => sizeOf(request)));
      const peak = memory("VmHWM");
      // Some may be refused while others read.
      expect(answers.filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([]);
      const size = Math.max(...answers.map((answer) => answer.size));
      if (op.inPages === undefined) expect(size).toBeLessThan(MOST_OF_PAGE);
      expect(peak - before).toBeLessThan(MOST_MEGABYTES);
      expect(peak).toBeLessThan(MOST_OF_ALL);
      await expectFilled(op, request);
    }, 180_000);
  });
}

/** Lists are asked for their largest page. */
function isList({ query = {}, body = {}, inPages }: Operation): boolean {
  return (
    inPages !== undefined ||
    ["offset", "cursor", "after", "limit"].some((name) => name in query || name in body)
  );
}

/** A list without rows shows nothing about its memory. */
async function expectFilled(op: Operation, { url, init }: Request): Promise<void> {
  const response = await fetch(url, init);
  const answer = (await response.json()) as unknown;
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  const rows = Array.isArray(answer)
    ? answer
    : Object.values(answer as object).find((value) => Array.isArray(value) && value.length > 0);
  if (!rows?.length && !EMPTY[op.action])
    throw new Error(
      `${op.action} lists nothing: multiply the rows that it reads (MAXIMAL in test/support/maximal.ts), or say in EMPTY why there can be none`,
    );
}

/** Makes what has no identifier in a path. */
async function makeOthers({ admin, agent, agentId, idOf }: World): Promise<void> {
  const artifact = { kind: "link", pointer: { uri: "https://example.com/a" } };
  ok(await agent.post(`/runs/${await idOf("run")}/artifacts`, artifact));
  ok(await admin.post(`/agents/${agentId}/interests`, { event_type: "com.example.own" }));
  ok(await admin.post(`/agents/${agentId}/replays`, { from: "2020-01-01T00:00:00Z" }));
  ok(await admin.post(`/channels/${await idOf("ch")}/members`, { agent_id: agentId }));
  await connectDevice(admin, agentId);
}

/** Lists that are empty here, with the reason. */
const EMPTY: Record<string, string> = {
  "memories.activity": "needs citations on several days",
  "memories.citations": "citations are small",
  "memories.search": "copies are not indexed yet",
  "documents.search": "copies are not indexed yet",
  "outputs.search": "copies are not indexed yet",
};

type Request = { url: string; init: RequestInit };

async function requestOf(op: Operation): Promise<Request> {
  let path = op.url;
  for (const [name, schema] of Object.entries(op.path ?? {})) {
    const kind = identifierKind(schema);
    const value =
      kind === "ag"
        ? world.agentId
        : kind
          ? await world.idOf(kind)
          : String(sampleBody({ [name]: schema })[name]);
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(sampleBody(op.query ?? {}))) {
    const kind = identifierKind(op.query?.[name] as never);
    query.set(name, kind ? await world.idOf(kind) : String(value));
  }
  const { limit } = (op.query ?? {}) as { limit?: { maximum?: number } };
  if (limit?.maximum) query.set("limit", String(limit.maximum));
  const headers: Record<string, string> = {
    authorization: `Bearer ${op.access.by === "agent" ? world.agentToken : world.adminToken}`,
  };
  const url = `${op.root ? server.root : server.url}${path}?${query}`;
  if (op.method === "GET") return { url, init: { headers } };
  headers["content-type"] = "application/json";
  return { url, init: { method: op.method, headers, body: JSON.stringify(sampleBody(op.body ?? {})) } };
}

async function sizeOf({ url, init }: Request): Promise<{ status: number; size: number }> {
  const { status, body } = await fetch(url, init);
  let size = 0;
  for await (const chunk of body ?? []) size += chunk.length;
  return { status, size };
}

/** Megabytes of the server's process: `VmRSS` now, `VmHWM` at most since `resetPeak`. */
function memory(name: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${server.pid()}/status`, "utf8");
  return Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1]) / 1024;
}

function resetPeak(): void {
  writeFileSync(`/proc/${server.pid()}/clear_refs`, "5");
}
