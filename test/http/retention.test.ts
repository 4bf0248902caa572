import { beforeAll, expect, test } from "@jest/globals";
import { AuditModel } from "../../services/identity/audit/audit.model.ts";
import { SessionModel } from "../../services/identity/devices/devices.model.ts";
import { BundleModel } from "../../services/remember/bundles/bundles.model.ts";
import { MemoryErasureModel } from "../../services/remember/memories/memories.model.ts";
import { DeliveryModel } from "../../services/sense/deliveries/deliveries.model.ts";
import { EventModel } from "../../services/sense/events/events.model.ts";
import { positionFrom } from "../../services/sense/events/position.ts";
import { HandoffModel } from "../../services/work/handoffs/handoffs.model.ts";
import type { Store } from "../../storage/connection.ts";
import { cloudEvent, fannedOut, firstAgent, newAgent, newReceiver } from "../support/agents.ts";
import { pollSome } from "../support/deliveries.ts";
import { api } from "../support/http.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { connectDevice, ok } from "../support/tenancy.ts";
import { useAlone } from "../support/use.ts";

const TYPE = "com.example.kept";
const DAY_MS = 86_400_000;
const ENV = {
  ...{ EVENT_RETENTION_DAYS: "2", DEDUPE_DAYS: "3", ACKNOWLEDGED_RETENTION_DAYS: "1" },
  ...{ BUNDLE_RETENTION_DAYS: "5", SESSION_RETENTION_DAYS: "4", RATE_LIMIT_PER_MINUTE: "0" },
};

const server = await useAlone({ env: ENV });
const admin = await firstAgent(server);
const agent = await newAgent(server, admin);
ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: TYPE }));

/** Lets time pass: has its change made while the service is away. */
type Pass = (change: (store: Store) => Promise<unknown>) => Promise<unknown>;

const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
beforeAll(() => begin());
let unfinished = 0;
const waiting: { change: Parameters<Pass>[0]; done: PromiseWithResolvers<void> }[] = [];

/** A test that runs at the same time as the others: the service goes away once for all of them. */
function story(title: string, tell: (pass: Pass) => Promise<void>): void {
  unfinished++;
  const told = begun
    .then(() =>
      tell((change) => {
        const done = Promise.withResolvers<void>();
        waiting.push({ change, done });
        void passWhenAllWait();
        return done.promise;
      }),
    )
    .finally(() => {
      unfinished--;
      void passWhenAllWait();
    });
  // Reported by its own test, which may begin later.
  told.catch(() => {});
  test(title, () => told);
}

async function passWhenAllWait(): Promise<void> {
  if (waiting.length === 0 || waiting.length < unfinished) return;
  const round = waiting.splice(0);
  try {
    await meanwhile(server, async (store) => {
      await store.ready();
      for (const { change } of round) await change(store);
    });
    for (const { done } of round) done.resolve();
  } catch (err) {
    for (const { done } of round) done.reject(err);
  }
}

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

story("an event is deleted when neither EVENT_RETENTION_DAYS nor DEDUPE_DAYS keeps it", async (pass) => {
  const [old, younger] = [await published("old"), await published("younger")];
  await pass(async (store) => {
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

story(
  "an acknowledged delivery keeps its story and its log for ACKNOWLEDGED_RETENTION_DAYS",
  async (pass) => {
    const type = "com.example.logged";
    const logger = await newReceiver(server, admin, type);
    const { event_id } = ok(await admin.post("/events", cloudEvent("acknowledged", { type })));
    const [{ id }] = await pollSome(logger);
    const log = "tokenlike-4711-in-a-log";
    for (const refused of [log, log.padEnd(20_000, "!")])
      await logger.post("/delivery/ack", { delivery_ids: [id, id], log: refused });
    ok(await logger.post("/delivery/ack", { delivery_ids: [id], log }));
    const kept = async () => ok(await logger.get(`/agents/${logger.id}/deliveries/${id}/log`)).log;
    expect(await kept()).toBe(log);
    const story = async () => {
      const { state, timeline } = ok(await admin.get(`/events/${event_id}`)).receivers[0];
      return [state, ...timeline.map(({ what }: { what: string }) => what)];
    };
    expect(await story()).toEqual(["acknowledged", "matched", "handed_out", "acknowledged"]);
    let keptFor = 0;
    await pass(async (store) => {
      // All that it has logged is there when it has ended.
      expect(server.logs()).not.toContain("tokenlike");
      const deliveries = store.collection(DeliveryModel);
      const row = await deliveries.findOne(server.credentials.tenant_id, { _id: id });
      keptFor = (row?.retire_at?.getTime() ?? 0) - store.now();
      const $set = { retire_at: new Date(store.now() - 1) };
      await deliveries.update(server.credentials.tenant_id, { _id: id }, { $set });
    });
    expect(Math.abs(keptFor - DAY_MS)).toBeLessThan(DAY_MS / 24);
    await settle(async () => (await story()).length === 2, { what: "the delivery to be reduced" });
    expect(await story()).toEqual(["acknowledged", "matched"]);
    expect(await kept()).toBeNull();
  },
);

story("entries of the audit log end after their retention", async (pass) => {
  const person = api(
    server,
    ok(await api(server).post("/auth/login", server.credentials.admin)).access_token,
  );
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
  const logged = async () => {
    const { entries } = ok(await person.get(`/audit?until=${daysAgo(300).toISOString()}`));
    return entries.map(({ id }: { id: string }) => id);
  };
  const [last, first] = ok(await person.get("/audit")).entries;
  await pass(async (store) => {
    const entries = store.collection(AuditModel);
    await entries.system.updateOne({ _id: last.id }, { $set: { at: daysAgo(366) } });
    await entries.system.updateOne({ _id: first.id }, { $set: { at: daysAgo(364) } });
  });
  await settle(async () => (await logged()).join() === first.id);
});

story("a deletion of an agent that was cut off is finished after the next start", async (pass) => {
  const leaver = await newAgent(server, admin, ["memory:read", "memory:write"]);
  const own = await remember(leaver);
  const { tenant_id } = server.credentials;
  const target = JSON.stringify({ agent_id: leaver.id, gone: "keep" });
  // A node that starts alone takes it at once, whoever holds it.
  const times = { begun_at: new Date(), lease_ends_at: new Date(Date.now() + 600_000) };
  const erasure = { _id: "era_gone", tenant_id, target, batch: [], by: "{}", ...times };
  await pass((store) => store.collection(MemoryErasureModel).insert(erasure));
  await settle(async () => (await admin.get(`/agents/${leaver.id}`)).status === 404);
  expect((await admin.get(`/memories/${own.id}`)).status).toBe(404);
  expect((await leaver.get("/memories")).status).toBe(401);
});

story(
  "a bundle is deleted after BUNDLE_RETENTION_DAYS, unless a handoff or an attempt names it",
  async (pass) => {
    const assembled = async (): Promise<string> => ok(await admin.post("/bundles", {})).id;
    const [lone, handed, begun] = [await assembled(), await assembled(), await assembled()];
    const handoff = ok(await admin.post("/handoffs", { name: "with a bundle", bundle_id: handed }));
    const run = ok(await admin.post("/runs", { goal: "g", steps: [{ step_key: "a" }] }));
    ok(await admin.post(`/runs/${run.id}/steps/start`, { step_key: "a", bundle_id: begun }));
    let kept = 0;
    const timeIsOver = async (store: Store) => {
      const bundles = store.collection(BundleModel);
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
    await pass(timeIsOver);
    expect(Math.abs(kept - 5 * DAY_MS)).toBeLessThan(DAY_MS / 24);
    await settle(async () => !(await has(lone)), { what: "the bundle that nothing names to go" });
    expect([await has(handed), await has(begun)]).toEqual([true, true]);
    expect(await admin.del(`/handoffs/${handoff.id}`)).toMatchObject({ status: 204 });
    await pass(timeIsOver);
    await settle(async () => !(await has(handed)), { what: "the bundle that nothing names any more to go" });
    expect(await has(begun)).toBe(true);
  },
);

story("a handoff that has expired is gone at once, for who saves one of its name too", async (pass) => {
  const { id } = ok(await admin.post("/handoffs", { name: "expiring" }));
  await pass(async (store) => {
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

story(
  "a device that was not heard of for SESSION_RETENTION_DAYS is forgotten when its key is gone",
  async (pass) => {
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
    await pass(async (store) => {
      const sessions = store.collection(SessionModel);
      const $set = { last_seen_at: new Date(store.now() - 4.1 * DAY_MS) };
      await sessions.updateMany(server.credentials.tenant_id, {}, { $set });
    });
    await settle(async () => (await listed()).length === 1, {
      what: "the device without a key to be forgotten",
    });
    expect(await listed()).toEqual([first.session_id]);
  },
);
