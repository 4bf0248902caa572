import { afterAll, expect, test } from "@jest/globals";
import { SessionModel } from "../../services/identity/devices/devices.model.ts";
import { BundleModel } from "../../services/remember/bundles/bundles.model.ts";
import { DeliveryModel } from "../../services/sense/deliveries/deliveries.model.ts";
import { EventModel } from "../../services/sense/events/events.model.ts";
import { positionFrom } from "../../services/sense/events/position.ts";
import { HandoffModel } from "../../services/work/handoffs/handoffs.model.ts";
import type { Store } from "../../storage/connection.ts";
import { cloudEvent, fannedOut, firstAgent, newAgent, receive } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { settle } from "../support/settle.ts";
import { connectDevice, ok } from "../support/tenancy.ts";

const TYPE = "com.example.kept";
const DAY_MS = 86_400_000;
const ENV = {
  EVENT_RETENTION_DAYS: "2",
  DEDUPE_DAYS: "3",
  ACKNOWLEDGED_RETENTION_DAYS: "1",
  BUNDLE_RETENTION_DAYS: "5",
  SESSION_RETENTION_DAYS: "4",
  RATE_LIMIT_PER_MINUTE: "0",
};

const server = await startAlone({ env: ENV });
const admin = await firstAgent(server);
const agent = await newAgent(server, admin);
ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: TYPE }));
afterAll(() => server.stop());

async function published(id: string): Promise<string> {
  const { event_id } = ok(await admin.post("/events", cloudEvent(id, { type: TYPE })));
  await fannedOut(admin, event_id);
  return event_id;
}

/** Backdates an event's acceptance by so many days. */
async function age(store: Store, event_id: string, days: number): Promise<void> {
  const position = `${positionFrom(store.now() - days * DAY_MS)}${"0".repeat(12)}`;
  const own = { _id: event_id };
  await store.collection(EventModel).update(server.credentials.tenant_id, own, { $set: { position } });
}

test("an event is deleted when neither EVENT_RETENTION_DAYS nor DEDUPE_DAYS keeps it", async () => {
  const [old, younger] = [await published("old"), await published("younger")];
  await meanwhile(server, async (store) => {
    await store.ready();
    await age(store, old, 3.1);
    await age(store, younger, 2.9);
  });
  await settle(async () => (await admin.get(`/events/${old}`)).status === 404, {
    what: "the old event to go",
  });
  expect((await admin.get(`/events/${younger}`)).status).toBe(200);
  expect(ok(await admin.post("/events", cloudEvent("younger", { type: TYPE }))).status).toBe("duplicate");
  expect(ok(await admin.post("/events", cloudEvent("old", { type: TYPE }))).status).toBe("accepted");
});

test("an acknowledged delivery keeps its story for ACKNOWLEDGED_RETENTION_DAYS", async () => {
  const event_id = await published("acknowledged");
  const delivery = await settle(async () => {
    const deliveries = await receive(agent, 1);
    return deliveries.find(({ payload }) => payload.id === "acknowledged");
  });
  const story = async () => {
    const { state, timeline } = ok(await admin.get(`/events/${event_id}`)).receivers[0];
    return [state, ...timeline.map(({ what }: { what: string }) => what)];
  };
  expect(await story()).toEqual(["acknowledged", "matched", "handed_out", "acknowledged"]);
  let kept = 0;
  await meanwhile(server, async (store) => {
    const deliveries = store.collection(DeliveryModel);
    await store.ready();
    const own = { _id: delivery.id };
    const row = await deliveries.findOne(server.credentials.tenant_id, own);
    kept = (row?.retire_at?.getTime() ?? 0) - store.now();
    const $set = { retire_at: new Date(store.now() - 1) };
    await deliveries.update(server.credentials.tenant_id, own, { $set });
  });
  expect(Math.abs(kept - DAY_MS)).toBeLessThan(DAY_MS / 24);
  await settle(async () => (await story()).length === 2, { what: "the delivery to be reduced" });
  expect(await story()).toEqual(["acknowledged", "matched"]);
});

test("a bundle is deleted after BUNDLE_RETENTION_DAYS, unless a handoff or an attempt names it", async () => {
  const assembled = async (): Promise<string> => ok(await admin.post("/bundles", {})).id;
  const [lone, handed, begun] = [await assembled(), await assembled(), await assembled()];
  const handoff = ok(await admin.post("/handoffs", { name: "with a bundle", bundle_id: handed }));
  const run = ok(await admin.post("/runs", { goal: "g", steps: [{ step_key: "a" }] }));
  ok(await admin.post(`/runs/${run.id}/steps/start`, { step_key: "a", bundle_id: begun }));
  let kept = 0;
  const timeIsOver = async (store: Store) => {
    const bundles = store.collection(BundleModel);
    await store.ready();
    const all = await bundles.find(
      server.credentials.tenant_id,
      { expires_at: { $exists: true } },
      { bounded: "a few" },
    );
    kept = Math.max(...all.map(({ expires_at }) => (expires_at?.getTime() ?? 0) - store.now()));
    const $set = { expires_at: new Date(store.now() - 1) };
    await bundles.updateMany(server.credentials.tenant_id, { expires_at: { $exists: true } }, { $set });
  };
  const has = async (id: string) => (await admin.get(`/bundles/${id}`)).status === 200;
  await meanwhile(server, timeIsOver);
  expect(Math.abs(kept - 5 * DAY_MS)).toBeLessThan(DAY_MS / 24);
  await settle(async () => !(await has(lone)), { what: "the bundle that nothing names to go" });
  expect([await has(handed), await has(begun)]).toEqual([true, true]);
  expect(await admin.del(`/handoffs/${handoff.id}`)).toMatchObject({ status: 204 });
  await meanwhile(server, timeIsOver);
  await settle(async () => !(await has(handed)), { what: "the bundle that nothing names any more to go" });
  expect(await has(begun)).toBe(true);
});

test("a handoff that has expired is gone at once, for who saves one of its name too", async () => {
  const { id } = ok(await admin.post("/handoffs", { name: "expiring" }));
  await meanwhile(server, async (store) => {
    await store.ready();
    // Later than the reaper's look at the start, sooner than its next.
    const reap_at = new Date(store.now() + 5_000);
    const $set = { reap_at, expires_at: reap_at };
    await store.collection(HandoffModel).update(server.credentials.tenant_id, { _id: id }, { $set });
  });
  const isGone = async () => (await admin.get(`/handoffs/${id}`)).status === 404;
  await settle(isGone, { what: "the handoff to expire" });
  const anew = await admin.post("/handoffs", { name: "expiring", if_version: 0 });
  expect(anew).toMatchObject({ status: 201, body: { version_num: 1 } });
  expect(anew.body.id).not.toBe(id);
  expect(await isGone()).toBe(true);
});

test("a device that was not heard of for SESSION_RETENTION_DAYS is forgotten when its key is gone", async () => {
  const { access_token } = ok(await api(server).post("/auth/login", server.credentials.admin));
  const person = api(server, access_token);
  const [first, second] = [await connectDevice(person, agent.id), await connectDevice(person, agent.id)];
  const listed = async () =>
    ok(await person.get(`/agents/${agent.id}/sessions`)).sessions.map(
      ({ session_id }: { session_id: string }) => session_id,
    );
  const [newest] = ok(await person.get(`/agents/${agent.id}/keys`)).keys;
  expect(await person.del(`/agents/${agent.id}/keys/${newest.id}`)).toMatchObject({ status: 204 });
  expect(await listed()).toEqual([second.session_id, first.session_id]);
  await meanwhile(server, async (store) => {
    const sessions = store.collection(SessionModel);
    await store.ready();
    const $set = { last_seen_at: new Date(store.now() - 4.1 * DAY_MS) };
    await sessions.updateMany(server.credentials.tenant_id, {}, { $set });
  });
  await settle(async () => (await listed()).length === 1, {
    what: "the device without a key to be forgotten",
  });
  expect(await listed()).toEqual([first.session_id]);
});
