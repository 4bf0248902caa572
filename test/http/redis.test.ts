/** @needs mongodb, redis: two gateways on one record, whose limits are counted together in Redis. */
import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Api, agentToken, api } from "../support/http.ts";
import { startMongo } from "../support/mongo.ts";
import { onPath } from "../support/needs.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";

const LIMIT = 12;
const ATTEMPTS = 4;
const mongo = await startMongo();
const here = "url" in mongo && onPath("redis-server");

(here ? describe : describe.skip)("two gateways with one Redis", () => {
  let redis: RedisServer;
  let one: TestServer;
  let other: TestServer;
  let dataDir: string;
  let agents: Api[];

  beforeAll(async () => {
    redis = await startRedis();
    const env = {
      MONGO_URL: "url" in mongo ? mongo.url : "",
      REDIS_URL: redis.url,
      SECRET_KEY: randomBytes(32).toString("base64"),
      RATE_LIMIT_PER_MINUTE: String(LIMIT),
      LOGIN_ATTEMPTS_PER_MINUTE: String(ATTEMPTS),
    };
    one = await startServer({ env });
    dataDir = await mkdtemp(join(tmpdir(), "afferent-node-"));
    await copyFile(join(one.dataDir, "credentials.json"), join(dataDir, "credentials.json"));
    other = await startServer({ env, dataDir });
    const token = await agentToken(one, one.credentials.agent.api_key);
    agents = [api(one, token), api(other, token)];
  });
  afterAll(async () => {
    await other?.stop();
    await one?.stop();
    await redis?.stop();
    if (dataDir) await rm(dataDir, { recursive: true });
    if ("url" in mongo) await mongo.stop();
  });

  const readyz = async (server: TestServer) => (await api(server).get(`${server.root}/readyz`)).body;
  const shared = () =>
    settle(async () => {
      const reports = await Promise.all([readyz(one), readyz(other)]);
      return reports.every(({ checks }) => checks.redis === "ok");
    });
  /** How many of so many requests each gateway lets through, in turns. */
  const letThrough = async (requests: number) => {
    const through = [0, 0];
    for (let i = 0; i < requests; i++) {
      const { status } = await (agents[i % 2] as Api).get("/auth/me");
      expect([200, 429]).toContain(status);
      if (status === 200) through[i % 2] = (through[i % 2] as number) + 1;
    }
    return through as [number, number];
  };
  const wrongKey = async (server: TestServer) =>
    (await api(server).post("/auth/token", { api_key: `ak_live_${"x".repeat(32)}` })).status;

  test("what one lets through is not left at the other", async () => {
    await shared();
    const [first, second] = await letThrough(LIMIT * 2);
    expect(first + second).toBe(LIMIT);
    const refused = await (agents[1] as Api).get("/auth/me");
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: "rate_limited", details: { limit: LIMIT, window_seconds: 60 } } },
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("failed attempts at a key count together, and successes do not count", async () => {
    for (let i = 0; i < ATTEMPTS * 2; i++) {
      await agentToken(i % 2 ? one : other, one.credentials.agent.api_key);
    }
    const statuses = [];
    for (let i = 0; i < ATTEMPTS + 2; i++) statuses.push(await wrongKey(i % 2 ? one : other));
    expect(statuses).toEqual([...Array(ATTEMPTS).fill(401), 429, 429]);
  });

  test("Redis killed: both stay ready, say so, and count alone; started again, they count together", async () => {
    await redis.kill();
    const reports = await settle(async () => {
      const both = await Promise.all([readyz(one), readyz(other)]);
      return both.every(({ checks }) => checks.redis !== "ok") && both;
    });
    for (const report of reports) {
      expect(report).toMatchObject({ status: "ready", checks: { redis: expect.stringContaining("alone") } });
    }
    // Each has the room that it has not given away itself: together once the limit.
    const [first, second] = await letThrough(LIMIT * 4);
    expect(first + second).toBe(LIMIT);
    const measures = await (await fetch(`${one.root}/metrics`)).text();
    expect(measures).toMatch(/^afferent_limits_shared\{by="redis"\} 0$/m);
    expect(Number(/^afferent_limits_counted_here_total (\d+)$/m.exec(measures)?.[1])).toBeGreaterThan(0);

    await redis.start();
    await shared();
    const again = await letThrough(LIMIT * 2);
    expect(again[0] + again[1]).toBe(LIMIT);
  });
});
