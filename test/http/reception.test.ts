import { expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("open");
const world = await makeWorld(server, "reception");
const id = ok(await world.admin.post("/agents", { name: "listener", delivery_mode: "poll" })).id;
const { key } = ok(await world.admin.post(`/agents/${id}/keys`, { scopes: ["receive"] }));
const listener = api(server, key);

const explain = async (query = "", by = world.admin) => ok(await by.get(`/agents/${id}/reception${query}`));
const reasons = async (query = "") =>
  (await explain(query)).reasons.map(({ reason }: { reason: string }) => reason);
let events = 0;
async function publish(type: string, more: object = {}): Promise<string> {
  const event = { specversion: "1.0", id: `r${++events}`, type, source: "/shop", ...more };
  const { event_id } = ok(await world.agent.post("/events", event));
  await settle(async () => ok(await world.admin.get(`/events/${event_id}`)).state === "matched");
  return event_id;
}
const attention = async () =>
  ok(await world.admin.get("/agents?needs_attention=true&include=delivery&limit=200")).agents;
const stateOf = async (agent_id: string) =>
  (await attention()).find((each: { id: string }) => each.id === agent_id)?.delivery.state;

test("why an agent gets nothing without an event, and without interests", async () => {
  const found = await explain();
  expect(found).toMatchObject({ event: null, delivery: null, subscriptions: [], more: false });
  expect(found.limits).toEqual({
    visibility_timeout_seconds: expect.any(Number),
    retry_budget: expect.any(Number),
    ...{ max_in_flight: null, max_per_minute: null, requests_per_minute: null },
  });
  expect(await reasons()).toEqual(expect.arrayContaining(["unsubscribed", "no_event"]));
  await settle(async () => (await stateOf(id)) === "unsubscribed");
  // One that cannot receive is there for something else.
  const sender = ok(await world.admin.post("/agents", { name: "sender", delivery_mode: "poll" })).id;
  ok(await world.admin.post(`/agents/${sender}/keys`, { scopes: ["send"] }));
  const settled = ok(await world.admin.post("/agents", { name: "late", delivery_mode: "poll" })).id;
  ok(await world.admin.post(`/agents/${settled}/keys`, { scopes: ["receive"] }));
  await settle(async () => (await stateOf(settled)) === "unsubscribed");
  expect(await stateOf(sender)).toBeUndefined();
});

test("why an agent gets nothing each interest and feed says whether it matches, and why not", async () => {
  const order = await publish("com.shop.order", { data: { total: 5 } });
  const add = async (event_type: string, filter_expression: string | null = null) =>
    ok(await world.admin.post(`/agents/${id}/interests`, { event_type, filter_expression })).id;
  const ids = {
    type: await add("com.shop.bill"),
    filter: await add("com.shop.*", "data.total > 10"),
    error: await add("com.shop.*", "data.sum > 10"),
    later: await add("com.shop.order"),
  };
  const channel = ok(await world.admin.post("/channels", { name: "bills" })).id;
  ok(await world.admin.post(`/channels/${channel}/members`, { agent_id: id }));
  const feed = ok(await world.admin.post(`/channels/${channel}/feeds`, { event_type_glob: "com.other" })).id;
  const found = await explain(`?event_id=${order}`);
  expect(found.event).toMatchObject({ event_id: order, type: "com.shop.order", source: "/shop" });
  const verdicts = Object.fromEntries(
    found.subscriptions.map((each: { id: string; reason: string }) => [each.id, each.reason]),
  );
  expect(verdicts).toEqual({
    ...{ [ids.type]: "type", [ids.filter]: "filter", [ids.error]: "filter_error" },
    ...{ [ids.later]: "later", [feed]: "type" },
  });
  expect(found.subscriptions.find((each: { id: string }) => each.id === feed)).toMatchObject({
    ...{ kind: "feed", channel_id: channel },
  });
  expect(found.reasons[0]).toMatchObject({ reason: "later", text: expect.stringContaining(ids.later) });
  await publish("com.none");
  expect(await reasons()).toContain("no_match");
  await settle(async () => (await stateOf(id)) === "unmatched");
});

test("why an agent gets nothing its delivery is shown from the lease to the dead letter", async () => {
  const order = await publish("com.shop.order", { data: { total: 20 } });
  const query = `?event_id=${order}`;
  expect((await reasons(query))[0]).toBe("pending");
  const { deliveries: got } = ok(await listener.get("/delivery/poll?wait=30&limit=10"));
  expect(got).toHaveLength(1);
  expect(await explain(query)).toMatchObject({
    reasons: [{ reason: "in_flight", text: expect.stringContaining("leased until") }, {}],
    delivery: { status: "in_flight", attempt_count: 1, event: { event_id: order } },
  });
  ok(await listener.post("/delivery/ack", { delivery_ids: [got[0].id] }));
  await settle(async () => (await reasons(query))[0] === "acknowledged");
  const matched = (await explain(query)).subscriptions.filter(
    (each: { reason: string }) => each.reason === "match",
  );
  expect(matched).toHaveLength(2);
  await settle(async () =>
    (await explain(query)).subscriptions
      .filter((each: { reason: string }) => each.reason === "match")
      .every((each: { unmatched_since: string | null }) => each.unmatched_since === null),
  );
});

test("why an agent gets nothing an agent asks about events that it may see, was given or could test an interest on", async () => {
  const path = `/agents/${id}/reception`;
  const given = await publish("com.shop.order", { data: { total: 30 } });
  const old = await publish("com.none");
  const latest = Array.from({ length: 100 }, (_, n) => ({
    ...{ specversion: "1.0", id: `latest${n}`, type: "com.none", source: "/shop" },
  }));
  const batch = { "content-type": "application/cloudevents-batch+json" };
  const results = ok(await world.agent.post("/events", latest, batch));
  const asks = async (event_id: string, by = listener) => {
    const { status, body } = await by.get(`${path}?event_id=${event_id}`);
    return status === 200 ? body.reasons[0].reason : body.error.code;
  };
  await settle(async () => (await asks(results[99].event_id)) === "no_match");
  expect(await asks(given)).toBe("pending");
  expect(await asks(old)).toBe("not_found");
  expect(await asks(old, world.admin)).toBe("no_match");
});

test("why an agent gets nothing explains what waits to be explained: a dead letter, else what is pending", async () => {
  const eventOf = async () => (await explain()).event.event_id;
  const latest = await publish("com.none");
  const { deliveries } = ok(await listener.get("/delivery/poll?limit=10&wait=30"));
  expect(await eventOf()).toBe(deliveries.at(-1).event_id);
  ok(
    await listener.post("/delivery/ack", { delivery_ids: deliveries.map((each: { id: string }) => each.id) }),
  );
  await settle(async () => (await eventOf()) === latest);
  const { retry_budget } = ok(await world.admin.patch(`/agents/${id}`, { retry_budget: 1 }));
  expect(retry_budget).toBe(1);
  const lost = await publish("com.shop.order", { data: { total: 40 } });
  const { deliveries: got } = ok(await listener.get("/delivery/poll?wait=30"));
  ok(await listener.post("/delivery/nack", { delivery_ids: [got[0].id] }));
  await publish("com.shop.order", { data: { total: 50 } });
  await settle(async () => (await reasons())[0] === "dead");
  expect(await eventOf()).toBe(lost);
  expect(await explain("", listener)).toMatchObject({ event: { event_id: lost } });
});

test("why an agent gets nothing an inactive agent, and who may ask", async () => {
  ok(await world.admin.patch(`/agents/${id}/status`, { status: "inactive" }));
  expect((await reasons())[0]).toBe("inactive");
  ok(await world.admin.patch(`/agents/${id}/status`, { status: "active" }));
  const path = `/agents/${id}/reception`;
  await refused(world.admin.get(`${path}?event_id=evt_${ABSENT}`), "not_found");
  await refused(world.member.get(path), "forbidden");
  await settle(async () => (await listener.get(path)).status === 200);
});
