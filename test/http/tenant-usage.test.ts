import { beforeAll, describe, expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, type World } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const operator = api(server, OPERATOR_TOKEN);
const [noisy, quiet] = [await makeWorld(server, "noisy"), await makeWorld(server, "quiet")];

const usage = async (query = "") => ok(await operator.get(`/tenants/usage?${query}`));

describe("the use of tenants", () => {
  beforeAll(async () => {
    ok(await noisy.agent.post(`/agents/${noisy.agentId}/interests`, { event_type: "com.example.*" }));
    for (let n = 0; n < 20; n++) {
      const event = { specversion: "1.0", id: `e${n}`, type: "com.example.noise", source: "/noise" };
      ok(await noisy.agent.post("/events", event));
      ok(await noisy.agent.post("/memories/search", { query: `noise ${n}` }));
    }
    ok(await quiet.agent.get("/agents"));
  });

  test("is counted by tenant, and the noisy one is found by each kind", async () => {
    await settle(async () => (await usage()).tenants[0].deliveries === 20);
    const { tenants, total } = await usage();
    const [first] = tenants;
    expect(total).toBe(3);
    expect(first).toMatchObject({
      ...{ id: noisy.tenant_id, slug: noisy.slug, status: "active" },
      ...{ events: 20, deliveries: 20, dead_letters: 0 },
    });
    expect(first.searches).toBeGreaterThanOrEqual(20);
    expect(first.requests).toBeGreaterThanOrEqual(41);
    expect(first.cpu_ms).toBeGreaterThan(0);
    const share = tenants.reduce((sum: number, each: { cpu_share: number }) => sum + each.cpu_share, 0);
    expect(share).toBeCloseTo(1);
    const other = tenants.find(({ slug }: { slug: string }) => slug === quiet.slug);
    expect(other).toMatchObject({ events: 0, deliveries: 0, searches: 0 });
    expect(other.requests).toBeLessThan(first.requests);
    for (const sort of ["requests", "events", "deliveries", "searches", "stored_bytes"])
      expect([sort, (await usage(`sort=${sort}&limit=1`)).tenants[0].slug]).toEqual([sort, noisy.slug]);
    expect((await usage("offset=2")).tenants).toHaveLength(1);
    expect((await usage("hours=24")).tenants[0].events).toBe(20);
  });

  test("is sorted by what it has", () =>
    refused(operator.get("/tenants/usage?sort=name"), "validation_failed", "sort"));

  test("has its largest tenants in the metrics, and a label for none without any", async () => {
    const text = await settle(async () => {
      const lines = String((await api(server).get(`${server.root}/metrics`)).body).split("\n");
      const own = lines.filter((line) => line.startsWith("sensorium_top_tenants_events{"));
      return own.length > 0 && own;
    });
    expect(text).toEqual([`sensorium_top_tenants_events{tenant="${noisy.slug}"} 20`]);
  });
});

const limitOf = async (world: World["agent"]) =>
  Number((await world.get("/limits")).headers.get("x-ratelimit-limit"));

test("limits of requests of a tenant are the operator's, and need no restart", async () => {
  const path = `/tenants/${quiet.tenant_id}`;
  expect(ok(await operator.patch(path, { requests_per_minute: 50 }))).toMatchObject({
    requests_per_minute: 50,
  });
  await settle(async () => (await limitOf(quiet.admin)) === 50);
  expect(ok(await quiet.admin.get("/limits")).requests_per_minute).toMatchObject({ tenant: 50 });
  expect(await limitOf(noisy.agent)).toBe(0);
  ok(await operator.patch(path, { status: "active" }));
  expect(await limitOf(quiet.admin)).toBe(50);
  expect(ok(await operator.patch(path, { requests_per_minute: null })).requests_per_minute).toBeNull();
  await settle(async () => (await limitOf(quiet.admin)) === 0);
});

test("limits of requests of a key hold for it and its tokens, and for no other key", async () => {
  const keys = `/agents/${noisy.agentId}/keys`;
  const made = ok(await noisy.admin.post(keys, { scopes: ["send"], requests_per_minute: 40 }));
  expect(made.requests_per_minute).toBe(40);
  const own = api(server, made.key);
  expect(await limitOf(own)).toBe(40);
  const { access_token } = ok(await api(server).post("/auth/token", { api_key: made.key }));
  expect(await limitOf(api(server, access_token))).toBe(40);
  expect(await limitOf(noisy.agent)).toBe(0);
  const changed = ok(await noisy.admin.patch(`${keys}/${made.id}`, { requests_per_minute: 2 }));
  expect(changed).toMatchObject({ id: made.id, requests_per_minute: 2 });
  await settle(async () => (await own.get("/limits")).status === 429);
  await refused(own.get("/limits"), "rate_limited", { limit: 2 });
  ok(await noisy.admin.patch(`${keys}/${made.id}`, { requests_per_minute: null }));
  await settle(async () => (await own.get("/limits")).status === 200);
  expect(await limitOf(own)).toBe(0);
  const { keys: listed } = ok(await noisy.admin.get(keys));
  expect(listed[0]).toMatchObject({ id: made.id, requests_per_minute: null });
});
