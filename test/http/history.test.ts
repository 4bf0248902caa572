import { expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive } from "../support/agents.ts";
import { type Api, api, type Json } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const ORDER = "com.example.order";
const BILL = "com.example.bill";

const server = await useShared();
const [world, other] = [await makeWorld(server, "counted"), await makeWorld(server, "uncounted")];
const publisher = await newAgent(server, world.admin);
const [agent, failing] = [await newAgent(server, world.admin), await newAgent(server, world.admin)];
ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.example.*" }));
ok(await failing.post(`/agents/${failing.id}/interests`, { event_type: BILL }));
ok(await world.admin.patch(`/agents/${failing.id}`, { retry_budget: 2 }));
for (const [id, type] of Object.entries({ o1: ORDER, o2: ORDER, b1: BILL }))
  ok(await publisher.post("/events", cloudEvent(id, { type })));
await receive(agent, 3);
for (let attempt = 0; attempt < 2; attempt++) {
  const delivery_ids = await settle(async () => {
    const { deliveries } = ok(await failing.get("/delivery/poll?wait=5"));
    return deliveries.length > 0 && deliveries.map(({ id }: { id: string }) => id);
  });
  ok(await failing.post("/delivery/nack", { delivery_ids, delay_seconds: 0, reason: "no" }));
}

const history = async (of: Api, query: string): Promise<Json> => ok(await of.get(`/stats/history?${query}`));

const EXPECTED = { published: 3, created: 4, delivered: 5, acknowledged: 3, failed: 2, dead_lettered: 1 };

/** Other nodes add their counts some seconds later. */
const all = () =>
  settle(async () => {
    const answer = await history(world.admin, "range=24h");
    expect(answer.totals).toMatchObject(EXPECTED);
    return answer;
  });

test("counts what was published, delivered, acknowledged and dead-lettered, with gaps", async () => {
  const { series, totals, step_seconds, from, to, types } = await all();
  expect(step_seconds).toBe(300);
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000);
  expect(types).toEqual([ORDER, BILL]);
  for (const [name, count] of Object.entries(EXPECTED)) {
    expect(series[name]).toHaveLength(288);
    expect(series[name].reduce((sum: number, value: number | null) => sum + (value ?? 0), 0)).toBe(count);
  }
  const latencies = series.latency_seconds.filter((value: number | null) => value !== null);
  expect(latencies.length).toBeGreaterThan(0);
  expect(totals.latency_seconds).toBeGreaterThanOrEqual(0);
  for (const latency of latencies) expect(latency).toBeGreaterThanOrEqual(0);
  // A gap, where nothing was recorded: the installation is younger than the range.
  expect(series.published[0]).toBeNull();
  expect(series.latency_seconds[0]).toBeNull();
  expect(series.published.some((value: number | null) => value !== null)).toBe(true);
});

test("is of an agent, of a type, of both", async () => {
  await all();
  const totals = async (query: string) => (await history(world.admin, `range=7d&${query}`)).totals;
  const none = { published: 0, created: 0, delivered: 0, acknowledged: 0, failed: 0, dead_lettered: 0 };
  const delivered = { created: 3, delivered: 3, acknowledged: 3 };
  expect(await totals(`agent_id=${publisher.id}`)).toMatchObject({ ...none, published: 3 });
  expect(await totals(`agent_id=${agent.id}`)).toMatchObject({ ...none, ...delivered });
  const answer = await totals(`agent_id=${failing.id}`);
  expect(answer).toMatchObject({ ...none, ...{ created: 1, delivered: 2, failed: 2, dead_lettered: 1 } });
  const found = await totals(`type=${ORDER}`);
  expect(found).toMatchObject({ ...none, ...{ published: 2, created: 2, delivered: 2, acknowledged: 2 } });
  const given = await totals(`agent_id=${agent.id}&type=${BILL}`);
  expect(given).toMatchObject({ ...none, ...{ created: 1, delivered: 1, acknowledged: 1 } });
  expect((await history(world.admin, `agent_id=${failing.id}`)).types).toEqual([BILL]);
});

test("members read the sums and their own agents only", async () => {
  await all();
  const { totals, types } = await history(world.member, "range=24h");
  expect(totals).toMatchObject(EXPECTED);
  expect(types).toEqual([]);
  const status = async (of: Api, query: string) => (await of.get(`/stats/history?${query}`)).status;
  expect(await status(world.member, `type=${ORDER}`)).toBe(403);
  expect(await status(world.member, `agent_id=${agent.id}`)).toBe(403);
  expect(await status(other.admin, `agent_id=${agent.id}`)).toBe(404);
  expect((await history(other.admin, `type=${ORDER}`)).totals).toMatchObject({ published: 0, created: 0 });
  expect(await status(world.admin, "range=2h")).toBe(400);
});

test("is erased with the tenant", async () => {
  const operator = api(server, OPERATOR_TOKEN);
  ok(await other.admin.post("/events", cloudEvent("x")));
  await settle(async () => (await history(other.admin, "")).totals.published === 1);
  const { erased } = ok(await operator.del(`/tenants/${other.tenant_id}`));
  expect(erased.traffic).toBeGreaterThanOrEqual(2);
});
