import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import type { Operation } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import { newAgent } from "../support/agents.ts";
import { type Attack, ofKits } from "../support/kits.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, type World } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const EVENTS = 16;
const LONG = "x".repeat(900_000);
/** Connections of each caller. */
const CLIENTS = 25;
/** Without bounds these connections would take several times as much. */
const MOST_MB = 1200;
const TYPE = "com.example.maximal";
const SCOPES = ["send", "receive", "memory:read"];

/** Parameters of the longest answers of a stream, by action: several for an operation with methods. */
const FILLED: Record<string, () => Promise<Attack[]>> = {
  ...Object.fromEntries(
    Object.entries(await ofKits("streams")).map(([action, fill]) => [action, () => fill(server, newTenant)]),
  ),
  "deliveries.stream": async () => {
    const world = await newTenant();
    const agent = await newAgent(server, world.admin, SCOPES);
    ok(await world.admin.post(`/agents/${agent.id}/interests`, { event_type: TYPE }));
    await publish(world);
    return [{ token: agent.token, query: { max_in_flight: "1000" }, clients: 2 }];
  },
  "events.stream": async () => {
    const world = await newTenant();
    await publish(world);
    return [{ token: world.adminToken, query: { since: "2020-01-01T00:00:00Z" } }];
  },
  "live.watch": async () => [{ token: calm.adminToken, isShort: true }],
  "gateway.mcp": async () => {
    const world = await newTenant();
    await publish(world);
    const params = { name: "events_list", arguments: { limit: 200, type: TYPE } };
    const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    // A page of a list is too short to fill a socket.
    return [{ token: world.adminToken, headers, body, isShort: true }];
  },
};

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const calm = await makeWorld(server, "calm");

/** Each attack comes from another tenant: together they use as much as they can. */
let tenants = 0;
const newTenant = () => makeWorld(server, `unread-${++tenants}`);

async function publish({ agent }: World): Promise<void> {
  for (let i = 0; i < EVENTS; i++) {
    const event = { specversion: "1.0", id: `maximal ${i}`, source: "urn:t", type: TYPE, data: LONG };
    ok(await agent.post("/events", event, { "content-type": "application/cloudevents+json" }));
  }
}

/** Opens a connection that is read until its answer begins, and no further. */
function open(op: Operation, { token, headers, path = {}, query, body }: Attack): Promise<Socket> {
  const filled = op.url.replace(/\{(\w+)\}/g, (_, name: string) => path[name] as string);
  const target = `${op.root ? "" : "/v1"}${filled}${query ? `?${new URLSearchParams(query)}` : ""}`;
  const text = body ? JSON.stringify(body) : "";
  const lines = [
    `${op.method} ${target} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${token}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(body ? ["Content-Type: application/json", `Content-Length: ${text.length}`] : []),
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.root).port), "127.0.0.1", () =>
      socket.write(`${lines.join("\r\n")}\r\n\r\n${text}`),
    );
    socket.on("error", reject).once("data", (data) => {
      socket
        .pause()
        .off("error", reject)
        .on("error", () => {});
      const status = data.toString().slice(9, 12);
      if (status === "200") resolve(socket);
      else reject(new Error(`${op.action} answered ${status}`));
    });
  });
}

const residentMb = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid()}/status`, "utf8"))?.[1]) / 1024;

/** How many connections of an operation the server has ended because nobody read them. */
async function ended({ action }: Operation): Promise<number> {
  const line = new RegExp(`^sensorium_unread_answers_total\\{operation="${action}"\\} (\\d+)$`, "m");
  return Number(line.exec(await server.metrics())?.[1] ?? 0);
}

test("streams that nobody reads take little memory, leave the others alone and are ended", async () => {
  const streams = operations.filter(({ stream }) => stream);
  const unknown = streams.filter(({ action }) => !FILLED[action]).map(({ action }) => action);
  if (unknown.length)
    throw new Error(`no way to fill the stream ${unknown.join(", ")}: add one to FILLED in this file`);
  const attacks: { op: Operation; request: Attack }[] = [];
  for (const op of streams)
    for (const request of (await FILLED[op.action]?.()) ?? []) attacks.push({ op, request });

  const before = residentMb();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentMb() - before);
  }, 100);
  const sockets: Socket[] = [];
  try {
    await Promise.all(
      attacks.map(async ({ op, request }) => {
        // Some wait for the memory of others of the same caller.
        const own = Array.from({ length: request.clients ?? CLIENTS }, () => open(op, request));
        for (const each of own) each.then((socket) => sockets.push(socket)).catch(() => {});
        await Promise.any(own);
      }),
    );
    await Promise.all(attacks.map(({ request }) => request.lengthen?.()));
    for (const path of ["/delivery/stats", "/memories", `/agents/${calm.agentId}`])
      await settle(async () => (await calm.agent.get(path)).status === 200, { what: path });
    for (const { op, request } of attacks) {
      const what = `${op.action} ends connections that are not read`;
      if (!request.isShort) await settle(async () => (await ended(op)) > 0, { within: 60_000, what });
    }
  } finally {
    clearInterval(watch);
    for (const socket of sockets) socket.destroy();
  }
  expect(most).toBeLessThan(MOST_MB);
  // All is returned.
  await settle(async () => /resource_in_use\{resource="memory"\} 0$/m.test(await server.metrics()));
}, 180_000);
