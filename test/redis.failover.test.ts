/** @needs redis: the same windows in a Redis Cluster and behind Sentinels, before and after a master is lost. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { SharedWindows } from "../connectors/redis.ts";
import { onPath } from "./support/needs.ts";
import {
  type RedisCluster,
  type Sentinels,
  startRedisCluster,
  startSentinels,
} from "./support/redis-several.ts";
import { settle } from "./support/settle.ts";

const here = onPath("redis-server") && onPath("redis-cli");
/** A busy machine's Redis may be late for what requests wait. */
const PATIENT = { windowMs: 60_000, patienceMs: 20_000, steadyMs: 0 };

/** Two nodes with the same address, and what the first of them said. */
function open(url: string) {
  const said: (string | null)[] = [];
  const one = new SharedWindows(url, { ...PATIENT, report: (lost) => said.push(lost) });
  const other = new SharedWindows(url, { ...PATIENT, report: () => {} });
  const usable = () => settle(() => one.lost === null && other.lost === null);
  const close = () => {
    one.close();
    other.close();
  };
  return { one, other, said, usable, close };
}

/** Takes one hit more than fits from a tenant's caller, alternately on both nodes. */
async function takeAll({ one, other }: ReturnType<typeof open>, tenant: string, max: number) {
  const limits = [
    { key: `rate {${tenant}} caller`, max },
    { key: `rate {${tenant}}`, max: max * 10 },
  ];
  const taken = [];
  for (let i = 0; i <= max; i++) taken.push(await (i % 2 ? one : other).take(limits));
  return taken.map((standing) => standing && [standing.allowed, standing.tightest, standing.remaining]);
}

const USED_UP = [
  [true, 0, 2],
  [true, 0, 1],
  [true, 0, 0],
  [false, 0, 0],
];

(here ? describe : describe.skip)("a Redis Cluster", () => {
  let cluster: RedisCluster;
  let nodes: ReturnType<typeof open>;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    nodes = open(cluster.url);
    await nodes.usable();
  });
  afterAll(async () => {
    nodes?.close();
    await cluster?.stop();
  });

  test("two keys of a tenant are counted together, on whichever node they are", async () => {
    for (let i = 0; i < 20; i++) expect(await takeAll(nodes, `tn_${i}`, 3)).toEqual(USED_UP);
    const attempt = [{ key: "attempt address ::1", max: 1 }];
    const hit = await nodes.one.take(attempt);
    await nodes.other.giveBack(["attempt address ::1"], hit?.slot ?? 0);
    expect(await nodes.one.take(attempt)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test("after a master was killed its replica counts, and what it had counted is known", async () => {
    const before = Array.from({ length: 20 }, (_, i) => `tn_before_${i}`);
    for (const tenant of before) expect(await takeAll(nodes, tenant, 3)).toEqual(USED_UP);
    await cluster.masters[0]?.kill();
    for (const [i, tenant] of before.entries()) {
      const by = i % 2 ? nodes.one : nodes.other;
      const standing = await settle(() => by.take([{ key: `rate {${tenant}} caller`, max: 3 }]));
      expect(standing).toMatchObject({ allowed: false });
    }
    expect(nodes.one.lost ?? nodes.other.lost).toBeNull();
    for (let i = 0; i < 20; i++) expect(await takeAll(nodes, `tn_after_${i}`, 3)).toEqual(USED_UP);
  });
});

(here ? describe : describe.skip)("a Redis behind Sentinels", () => {
  let redis: Sentinels;
  let nodes: ReturnType<typeof open>;

  beforeAll(async () => {
    redis = await startSentinels();
    nodes = open(redis.url);
    await nodes.usable();
  });
  afterAll(async () => {
    nodes?.close();
    await redis?.stop();
  });

  test("the master that they name is used", async () =>
    expect(await takeAll(nodes, "tn_1", 3)).toEqual(USED_UP));

  test("after the master was killed its replica counts, and what it had counted is known", async () => {
    nodes.said.length = 0;
    await redis.master.kill();
    await settle(() => nodes.one.lost !== null && nodes.other.lost !== null);
    expect(await nodes.one.take([{ key: "meanwhile", max: 1 }])).toBeNull();
    await nodes.usable();
    await settle(() => nodes.said.length > 1);
    expect(nodes.said).toEqual([expect.any(String), null]);
    expect(await nodes.one.take([{ key: "rate {tn_1} caller", max: 3 }])).toMatchObject({ allowed: false });
    expect(await takeAll(nodes, "tn_2", 3)).toEqual(USED_UP);
  });

  test("after the old master is back, as a replica, nothing changes", async () => {
    await redis.master.start();
    await settle(async () => (await redis.replication()).includes("role:slave"));
    expect(await takeAll(nodes, "tn_3", 3)).toEqual(USED_UP);
  });
});
