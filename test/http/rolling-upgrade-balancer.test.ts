/** @needs mongodb, nats, history: forward to this version and back, behind a balancer that checks health. */
import { randomBytes } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import type { Answer } from "../support/http.ts";
import { remember } from "../support/memories.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import { versionsBefore } from "../support/needs.ts";
import { ownFolder } from "../support/own-folder.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";
import { checkOutFormer, type FormerVersion } from "../support/versions.ts";

const LONGEST_MS = 900_000;
const WORKERS = ["worker-1", "worker-2"];
const GATEWAYS = ["gateway-1", "gateway-2"];
const RECEIVERS = 2;
/** A node starts next to four others that are busy. */
const START_MS = 150_000;
/** Events that are accepted after each step, so that it happens under load. */
const MORE = 6;
/** Between requests: the load is there to be interrupted, not to slow the starts down. */
const PAUSE_MS = 250;
const mongo = await useMongo();
const here = "url" in mongo && (await versionsBefore()).length > 0;

(here ? describe : describe.skip)("behind a balancer", () => {
  let scratch: string;
  let former: FormerVersion;
  let nats: NatsServer;
  let env: Record<string, string>;
  let balancer: Balancer | undefined;
  const nodes = new Map<string, TestServer>();

  beforeAll(async () => {
    scratch = await ownFolder();
    [former, nats] = await Promise.all([checkOutFormer(), startNats()]);
    env = {
      MONGO_URL: "url" in mongo ? mongo.url : "",
      NATS_URL: nats.url,
      ...{ SECRET_KEY: randomBytes(32).toString("base64"), RATE_LIMIT_PER_MINUTE: "0", DRAIN_SECONDS: "3" },
      EMBEDDER: "none",
    };
    // The first start makes the tenant, whose credentials all nodes of the tests know.
    const first = await startAlone({ env, root: former.folder });
    for (const name of [...WORKERS, ...GATEWAYS]) {
      await mkdir(join(scratch, name));
      await copyFile(join(first.dataDir, "credentials.json"), join(scratch, name, "credentials.json"));
    }
    await first.stop();
    for (const those of [WORKERS, GATEWAYS])
      await Promise.all(those.map((name) => start(name, former.folder)));
    balancer = await startBalancer(GATEWAYS.map((name) => (nodes.get(name) as TestServer).root));
    await settle(() => balancer?.inRotation().length === GATEWAYS.length);
  }, LONGEST_MS);
  afterAll(async () => {
    await balancer?.stop();
    await Promise.all([...nodes.values()].map((node) => node.stop()));
    await nats?.stop();
    await former?.remove();
  }, LONGEST_MS);

  /** @param root the version, this one if absent */
  async function start(name: string, root?: string): Promise<void> {
    const SERVICES = WORKERS.includes(name) ? "-gateway" : "gateway";
    const port = nodes.get(name) && new URL((nodes.get(name) as TestServer).root).port;
    const options = { env: { ...env, SERVICES }, dataDir: join(scratch, name), within: START_MS };
    nodes.set(name, await startAlone({ ...options, ...(root && { root }), ...(port && { port }) }));
  }

  test(
    "no request fails but for a while, nothing accepted is lost, and a gateway is always in rotation",
    async () => {
      const inFront = balancer as Balancer;
      const at = { ...(nodes.get("gateway-1") as TestServer), url: inFront.url };
      const admin = await firstAgent(at);
      const receivers = await Promise.all(
        Array.from({ length: RECEIVERS }, async () => {
          const agent = await newAgent(at, admin);
          ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.rolling.*" }));
          return { agent, received: new Set<string>() };
        }),
      );
      await remember(admin, { content: "the walrus sings at dusk" });
      const findsWalrus = async () =>
        ok(await admin.post("/memories/search", { query: "walrus" })).results.length === 1;
      await settle(findsWalrus);

      const failures: string[] = [];
      const accepted = new Set<string>();
      let over = false;
      /** Repeats a request until it is answered, as a client does that honours Retry-After. */
      const answered = async (what: string, ask: () => Promise<Answer>): Promise<Answer> => {
        for (;;) {
          const { status, headers, body } = await ask();
          const isRetryable = status === 503 && headers.get("retry-after") !== null && body.error?.message;
          if (status < 300) return { status, headers, body };
          if (!isRetryable) failures.push(`${what}: ${status} ${JSON.stringify(body)}`);
          await sleep(PAUSE_MS);
        }
      };
      const lane = async (step: () => Promise<void>) => {
        while (!over) {
          await step().catch((err) => void failures.push(String(err)));
          await sleep(PAUSE_MS);
        }
      };
      const publish = async (id: string) => {
        const event = cloudEvent(id, { type: "com.rolling.x" });
        await answered(`publishing ${id}`, () => admin.post("/events", event));
        accepted.add(id);
      };
      const poll = async ({ agent, received }: { agent: TestAgent; received: Set<string> }) => {
        const { body } = await answered("a poll", () => agent.get("/delivery/poll?wait=2"));
        const delivery_ids = body.deliveries.map(({ id }: { id: string }) => id);
        for (const { payload } of body.deliveries) received.add(payload.id);
        if (delivery_ids.length)
          await answered("an ack", () => agent.post("/delivery/ack", { delivery_ids }));
      };
      const search = async () => {
        const { body } = await answered("a search", () =>
          admin.post("/memories/search", { query: "walrus" }),
        );
        if (body.results.length !== 1 && !body.degraded)
          failures.push(`a search found ${JSON.stringify(body)}`);
      };
      let n = 0;
      const lanes = [
        ...[1, 2].map(() => lane(() => publish(`event ${n++}`))),
        ...receivers.map((receiver) => lane(() => poll(receiver))),
        lane(search),
      ];
      const under = async () => {
        const before = accepted.size;
        await settle(() => accepted.size >= before + MORE, {
          within: 120_000,
          what: "events to be accepted",
        });
      };
      const replaceAll = async (root?: string) => {
        // Workers first, as the guide says: what a newer gateway needs is there before it.
        for (const name of [...WORKERS, ...GATEWAYS]) {
          await under();
          await nodes.get(name)?.stop();
          await start(name, root);
          await settle(() => inFront.inRotation().length === GATEWAYS.length, { within: 120_000 });
        }
      };

      inFront.watch();
      try {
        await replaceAll();
        await replaceAll(former.folder);
        await under();
      } finally {
        over = true;
        await Promise.all(lanes);
      }
      for (const receiver of receivers)
        await settle(
          async () => {
            await poll(receiver);
            return accepted.difference(receiver.received).size === 0;
          },
          { within: 120_000, what: "every accepted event to be received" },
        );
      expect(failures).toEqual([]);
      expect(inFront.fewest()).toBe(GATEWAYS.length - 1);
      expect(accepted.size).toBeGreaterThanOrEqual(9 * MORE);
      expect(await findsWalrus()).toBe(true);
    },
    LONGEST_MS,
  );
});
