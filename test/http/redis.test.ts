/** @needs mongodb, redis: two gateways on one record, whose limits are counted together in Redis. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Api, agentToken, api } from "../support/http.ts";
import { onPath } from "../support/needs.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";

const LIMIT = 24;
const ATTEMPTS = 4;
const mongo = await useMongo();
const here = "url" in mongo && onPath("redis-server");

(here ? describe : describe.skip)("two gateways with one Redis", () => {
  let redis: RedisServer;
  let one: TestServer;
  let other: TestServer;
  let admin: Api;

  beforeAll(async () => {
    redis = await startRedis();
    const env = {
      MONGO_URL: "url" in mongo ? mongo.url : "",
      REDIS_URL: redis.url,
      SECRET_KEY: randomBytes(32).toString("base64"),
      RATE_LIMIT_PER_MINUTE: String(LIMIT),
      PUBLIC_FAILURES_PER_MINUTE: String(ATTEMPTS),
      TRUST_PROXY: "loopback",
    };
    one = await startServer({ env });
    other = await startServer({ env, beside: one });
    admin = api(one, await agentToken(one, one.credentials.agent.api_key));
  });
  afterAll(async () => {
    await other?.stop();
    await one?.stop();
    await redis?.stop();
  });

  const readyz = async (server: TestServer) => (await api(server).get(`${server.root}/readyz`)).body;
  const shared = () =>
    settle(async () => {
      const reports = await Promise.all([readyz(one), readyz(other)]);
      return reports.every(({ checks }) => checks.redis === "ok");
    });
  /** How many requests the gateways counted by themselves, as they do where Redis is late. */
  const countedAlone = async () => {
    const said = await Promise.all([one.metrics(), other.metrics()]);
    const counts = said.map((text) => /^sensorium_limits_counted_here_total (\d+)$/m.exec(text)?.[1] ?? 0);
    return counts.reduce<number>((sum, count) => sum + Number(count), 0);
  };
  let tries = 0;
  /** Retries until Redis was never late, as it may be on a busy machine. Attempts are numbered. */
  const together = async <T>(attempt: (n: number) => Promise<T>): Promise<T> => {
    const [result] = await settle(async () => {
      await shared();
      const before = await countedAlone();
      const result = await attempt(++tries);
      return (await countedAlone()) === before && [result];
    });
    return result;
  };
  /** An agent that has not asked for anything yet, at both gateways. */
  const newAgent = async () => {
    const { id } = ok(await admin.post("/agents", { name: "asker", delivery_mode: "poll" }));
    const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes: ["send"] }));
    const token = await agentToken(one, key);
    return [api(one, token), api(other, token)];
  };
  /** Sends requests to the gateways in turn and returns how many each admits. */
  const letThrough = async (agent: Api[], requests: number) => {
    const through = [0, 0];
    for (let i = 0; i < requests; i++) {
      const { status } = await (agent[i % 2] as Api).get("/auth/me");
      expect([200, 429]).toContain(status);
      if (status === 200) through[i % 2] = (through[i % 2] as number) + 1;
    }
    return through as [number, number];
  };
  test("requests admitted by one node count at the other", async () => {
    const { through, refused } = await together(async () => {
      const agent = await newAgent();
      const through = await letThrough(agent, LIMIT * 2);
      return { through, refused: await (agent[1] as Api).get("/auth/me") };
    });
    expect(through[0] + through[1]).toBe(LIMIT);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: "rate_limited", details: { limit: LIMIT, window_seconds: 60 } } },
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("wrong keys count together, and right ones do not", async () => {
    const right = one.credentials.agent.api_key;
    const statuses = await together(async (n) => {
      const from = { "x-forwarded-for": `198.51.100.${n}` };
      const wrong = `ak_live_${String(n).padStart(32, "x")}`;
      const exchange = async (api_key: string, i: number) =>
        (await api(i % 2 ? one : other).post("/auth/token", { api_key }, from)).status;
      const given: number[] = [];
      for (let i = 0; i < ATTEMPTS * 2; i++) given.push(await exchange(right, i));
      for (let i = 0; i < ATTEMPTS + 2; i++) given.push(await exchange(wrong, i));
      return given;
    });
    expect(statuses).toEqual([...Array(ATTEMPTS * 2).fill(200), ...Array(ATTEMPTS).fill(401), 429, 429]);
  });

  test("Redis killed: both stay ready, say so, and count alone; started again, they count together", async () => {
    const agent = await together(async () => {
      const fresh = await newAgent();
      await letThrough(fresh, LIMIT);
      return fresh;
    });
    await redis.kill();
    const reports = await settle(async () => {
      const both = await Promise.all([readyz(one), readyz(other)]);
      return both.every(({ checks }) => checks.redis !== "ok") && both;
    });
    for (const report of reports)
      expect(report).toMatchObject({ status: "ready", checks: { redis: expect.stringContaining("alone") } });
    // Each has the room that it has not given away itself: together once the limit.
    const before = await countedAlone();
    const [first, second] = await letThrough(agent, LIMIT * 4);
    expect(first + second).toBe(LIMIT);
    expect(await one.metrics()).toMatch(/^sensorium_limits_shared\{by="redis"\} 0$/m);
    expect(await countedAlone()).toBeGreaterThan(before);
    await redis.start();
    const again = await together(async () => letThrough(await newAgent(), LIMIT * 2));
    expect(again[0] + again[1]).toBe(LIMIT);
  });
});
