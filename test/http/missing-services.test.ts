/** @needs mongodb, nats: a gateway in front of a worker that lacks services, as one of an earlier version does. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import type { Child } from "../support/child.ts";
import { api } from "../support/http.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import { ownFolder } from "../support/own-folder.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";
import { AT_THE_EDGE, startWorker, workerReady } from "../support/worker.ts";

const LACKED = ["schedules", "search"];
const mongo = await useMongo();

("url" in mongo ? describe : describe.skip)("a gateway whose worker lacks services", () => {
  let nats: NatsServer;
  let folder: string;
  let worker: Child;
  let gateway: TestServer;
  let env: Record<string, string>;
  let admin: TestAgent;

  beforeAll(async () => {
    nats = await startNats();
    folder = await ownFolder();
    env = {
      MONGO_URL: "url" in mongo ? mongo.url : "",
      ...{ NATS_URL: nats.url, SECRET_KEY: randomBytes(32).toString("base64"), RATE_LIMIT_PER_MINUTE: "0" },
    };
    worker = await startWorker(
      env,
      join(folder, "worker"),
      [...AT_THE_EDGE, ...LACKED].map((name) => `-${name}`),
    );
    gateway = await startAlone({ env: { ...env, SERVICES: AT_THE_EDGE.join(",") } });
    admin = await firstAgent(gateway);
  });
  afterAll(async () => {
    await gateway?.stop();
    await worker?.end("SIGTERM");
    await nats?.stop();
  });

  const readyz = () => api(gateway).get(`${gateway.root}/readyz`);
  const missing = async () => /^sensorium_services_missing (\d+)$/m.exec(await gateway.metrics())?.[1];

  test("is ready, names them, and answers 503 with their name where they are needed", async () => {
    expect(await readyz()).toMatchObject({
      status: 200,
      body: { checks: { services: "ok", other_services: "no node runs schedules, search" } },
    });
    expect(await missing()).toBe("2");
    await settle(() => gateway.logs().includes("no node runs these services"));
    const unavailable = (service: string) => ({
      status: 503,
      body: {
        error: {
          code: "service_unavailable",
          message: expect.stringContaining(`service ${service} `),
          details: { service, retry_after_seconds: 1 },
        },
      },
    });
    expect(await admin.get("/schedules")).toMatchObject(unavailable("schedules"));
    // Called by the worker, for an operation that it has.
    expect(await admin.post("/memories/search", { query: "anything" })).toMatchObject(unavailable("search"));
  });

  test("serves all else, and everything once a node has them", async () => {
    const agent = await newAgent(gateway, admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.rolled" }));
    ok(await admin.post("/events", cloudEvent("back", { type: "com.rolled" })));
    expect(await receive(agent, 1)).toHaveLength(1);
    const other = await startWorker(env, join(folder, "other"), LACKED);
    try {
      await workerReady(other);
      await settle(async () => (await admin.get("/schedules")).status === 200);
      expect(await readyz()).toMatchObject({ body: { checks: { other_services: "ok" } } });
      expect(await missing()).toBe("0");
    } finally {
      await other.end("SIGTERM");
    }
  });
});
