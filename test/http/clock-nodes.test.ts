/** @needs mongodb, nats: nodes whose clocks are wrong, and one that was started while the record answered late. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { TestAgent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { agentIn, memory } from "../support/memories.ts";
import { onNodes } from "../support/on-nodes.ts";
import { startProxy, type TcpProxy } from "../support/proxy.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";

// A replica set that was given would be found behind the proxy, at its own address.
const conditions = { workers: 1, isHere: !process.env.MONGO_URL };
const NODE_OPTIONS = `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`;
const LATE_MS = 260;

const settings = { DEVICE_CLAIMS_PER_HOUR: "1000", EMBEDDER: "none", NODE_OPTIONS };

await onNodes("nodes with wrong clocks", conditions, settings, ({ url: mongoUrl, nodes, admin }) => {
  let proxy: TcpProxy;
  let servers: TestServer[];
  let orgAdmin: TestAgent;
  /** Log lines about the clock, of the node whose record answered late. */
  let whileLate: { status: number; clock: string };

  beforeAll(async () => {
    const url = new URL(mongoUrl);
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    const ahead = await nodes.addServer([], { CLOCK_SKEW_MS: "90000" });
    const behind = await nodes.addServer([], { CLOCK_SKEW_MS: "-45000", CLOCK_STEP_MS: "-800" });
    proxy.delayAnswers(LATE_MS);
    const late = await nodes.addServer([], { MONGO_URL: url.href });
    servers = [ahead, behind, late];
    whileLate = await readiness(late);
    proxy.delayAnswers(0);
    const { admin: founder, tenant_slug } = nodes.gateway.credentials;
    const token = await signIn(nodes.gateway, founder, tenant_slug);
    orgAdmin = { ...api(nodes.gateway, token), id: "", token };
    process.kill(behind.pid(), "SIGUSR2");
    await settle(() => behind.logs().includes("the clock is set"));
    await settle(async () => (await Promise.all(servers.map(clockError))).every((error) => error < 0.1), {
      what: "every node to know the record's time",
    });
  });
  afterAll(() => proxy?.stop());

  const readiness = async (server: TestServer) => {
    const { status, body } = await api(server).get(`${server.root}/readyz`);
    return { status, clock: body.checks.clock as string };
  };
  const metric = async (server: TestServer, name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await server.metrics())?.[1]);
  const clockError = (server: TestServer) => metric(server, "sensorium_clock_error_seconds");
  const at = (server: TestServer | undefined, agent: TestAgent) => api(server as TestServer, agent.token);

  test("memories created in a row through different nodes are listed in their order", async () => {
    let wrong = 0;
    const agent = await agentIn(nodes.gateway, admin, {});
    for (let round = 0; round < 30; round++) {
      const tags = [`round-${round}`];
      const created: string[] = [];
      for (let i = 0; i < 3; i++) {
        const through = at(servers[(round + i) % 3], agent);
        created.push(ok(await through.post("/memories", memory({ tags }))).id);
      }
      const listed = ok(await agent.get(`/memories?tags=${tags}&order=asc`)).memories;
      if (listed.map(({ id }: { id: string }) => id).join() !== created.join()) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test("batches of memories too, and each batch in its own order", async () => {
    const agent = await agentIn(nodes.gateway, admin, {});
    const created: string[] = [];
    for (let i = 0; i < 9; i++) {
      const memories = [0, 1, 2].map((n) => memory({ title: `${i}.${n}` }));
      created.push(...memories.map(({ title }) => title));
      ok(await at(servers[i % 3], agent).post("/memories/batch", { memories }));
    }
    const listed = ok(await agent.get("/memories?order=asc")).memories;
    expect(listed.map(({ title }: { title: string }) => title)).toEqual(created);
  });

  test("a superseded device code is refused, through whichever nodes the codes were issued", async () => {
    let wrong = 0;
    const client_info = { name: "test", version: "1", host: "here" };
    for (let round = 0; round < 40; round++) {
      const { id } = ok(await admin.post("/agents", { name: "device", delivery_mode: "poll" }));
      const issue = async (n: number) =>
        ok(await at(servers[n % 3], orgAdmin).post(`/agents/${id}/device-code`, {})).user_code;
      const codes = [await issue(round), await issue(round + 1)];
      const claims: number[] = [];
      for (const user_code of codes) {
        const through = api(servers[round % 3] as TestServer);
        claims.push((await through.post("/device-codes:claim", { user_code, client_info })).status);
      }
      if (claims.join() !== "404,200") wrong++;
    }
    expect(wrong).toBe(0);
  });

  test("each node shows how far its own clock is off", async () => {
    const offsets = await Promise.all(
      servers.map((server) => metric(server, "sensorium_clock_offset_seconds")),
    );
    expect(offsets.map((offset) => Math.round(offset * 10) / 10 + 0)).toEqual([-90, 45.8, 0]);
  });

  test("a node that does not know the record's time well says so, and serves", async () => {
    const expected = { status: 200, clock: expect.stringMatching(/^known to within [1-3]\d\d ms only/) };
    expect(whileLate).toMatchObject(expected);
    const answer = await Promise.all(servers.map(readiness));
    expect(answer).toEqual(servers.map(() => ({ status: 200, clock: "ok" })));
  });
});
