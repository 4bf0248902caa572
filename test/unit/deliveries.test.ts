import { describe, expect, jest, test } from "@jest/globals";
import { readConfig, SETTINGS } from "../../config.ts";
import { ContractValidator } from "../../lib/contract/validator.ts";
import type { Runtime } from "../../services/runtime.ts";
import { DeliveryLimits } from "../../services/sense/deliveries/agent-limits.ts";
import { AgentSettingsCache } from "../../services/sense/deliveries/agent-settings.ts";
import {
  type DeliveryDoc,
  DeliveryModel,
  deliveryId,
} from "../../services/sense/deliveries/deliveries.model.ts";
import { deliveriesService } from "../../services/sense/deliveries/deliveries.service.ts";
import { Enqueuer } from "../../services/sense/deliveries/enqueue.ts";
import { ProgressModel } from "../../services/sense/deliveries/health/progress.model.ts";
import { Progress } from "../../services/sense/deliveries/health/progress.ts";
import { Ordering } from "../../services/sense/deliveries/ordering.ts";
import type { Received } from "../../services/sense/deliveries/receive.ts";
import type { Outcomes } from "../../services/sense/deliveries/settle.ts";
import { Sweep } from "../../services/sense/deliveries/sweep.ts";
import { type Emission, emitted } from "../../services/sense/events/publish.ts";
import { unread } from "../support/audit.ts";
import { ownBroker, ownStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const tenant_id = "tn_a";
/** Events of other types than the usual one. */
const TYPES: Record<string, string> = { evt_cited: "memory.cited", evt_service: "service.run.started" };
const announcements: Emission[] = [];
/** `max_in_flight` of the agents that have it. */
const limits = new Map<string, number>();
/** The events that were asked for, call by call. */
const loads: string[][] = [];

const store = await ownStore();
const deliveries = store.collection(DeliveryModel);
const broker = await ownBroker(
  [
    unread,
    {
      name: "agents",
      actions: {
        get_many: ({ params }: { params: { agent_ids: string[] } }) =>
          params.agent_ids.map((id) => ({
            ...{ id, team_id: null, retry_budget: 2, max_in_flight: limits.get(id) ?? null },
          })),
      },
    },
    {
      name: "events",
      actions: {
        load: ({ params: { event_ids } }: { params: { event_ids: string[] } }) => {
          loads.push(event_ids);
          return event_ids
            .filter((id) => id !== "evt_gone")
            .map((event_id) => ({
              event_id,
              envelope: JSON.stringify({ type: TYPES[event_id] ?? "com.example" }),
            }));
        },
        emit: ({ params }: { params: Emission }) => {
          if (JSON.stringify(params.data).includes("evt_fails")) throw new Error("a defect");
          announcements.push(params);
        },
        fan_out_horizon: () => "z",
        ingest: ({ params: { events } }: { params: { events: { answer: object }[] } }) =>
          events.map(({ answer }) => answer),
      },
    },
    {
      name: "ingest",
      actions: {
        map_again: ({
          params: { payload },
        }: {
          params: { payload: { fails: boolean; answer?: object } };
        }) => {
          if (payload.fails) throw new Error("a defect");
          if (payload.answer) return { event: payload };
          return { error: "mapping error: still none" };
        },
      },
    },
    deliveriesService({ store, config: readConfig({}), hooks: {} } as Runtime),
  ],
  { validator: new ContractValidator() },
);

/** Of deliveries without a key. */
const unordered = { release: () => {} };
const call = <T>(action: string, params: object, meta = {}) =>
  broker.call<T, object>(`deliveries.${action}`, params, { meta });

let names = 0;
/** A new agent's id, with these events enqueued for it. */
const agentWith = (...event_ids: string[]) => agentWithKey(undefined, ...event_ids);

async function agentWithKey(ordering: string | undefined, ...event_ids: string[]): Promise<string> {
  const agent_id = `ag_${++names}`;
  const matched = { interest_ids: ["int_1"], feed_ids: [] };
  const rows = event_ids.map((event_id) => ({
    ...{ tenant_id, event_id, agent_id, priority: 5, matched, enrichment_depth: "none" },
    ...(ordering && { ordering }),
  }));
  await call("enqueue", { deliveries: rows });
  return agent_id;
}

const claim = (agent_id: string, more = {}) =>
  call<Received>("claim", { tenant_id, agent_id, limit: 100, wait_ms: 0, lease: "L", ...more });
/** Settles first. */
const exchange = (agent_id: string, some: Partial<Outcomes>, limit = 100) =>
  call<Received>("exchange", {
    ...{ tenant_id, agent_id, limit, wait_ms: 0, lease: "L" },
    outcomes: { acknowledged: [], failed: [], released: [], ...some },
  });
const rowOf = (agent_id: string, event_id: string) =>
  deliveries.findOne(tenant_id, { _id: deliveryId(event_id, agent_id) });
/** How often requests that wait for an agent's deliveries were woken meanwhile. */
async function wakesOf(agent_id: string, task: () => Promise<unknown>): Promise<number> {
  const calls = jest.spyOn(broker, "call");
  await task();
  const wakes = calls.mock.calls.filter(([action]) => action === "deliveries.wake");
  calls.mockRestore();
  return wakes.filter(([, params]) => JSON.stringify(params).includes(`"${agent_id}"`)).length;
}
const caller = (agent_id: string, scopes: string[]) => ({
  caller: { kind: "agent", tenant_id, agent_id, scopes },
});

describe("enqueue", () => {
  test("makes one row for an agent and an event, however often it is asked", async () => {
    const agent_id = await agentWith();
    const row = { tenant_id, agent_id, priority: 1, matched: { interest_ids: [], feed_ids: [] } };
    const rows = ["evt_1", "evt_2"].map((event_id) => ({ ...row, event_id, enrichment_depth: "none" }));
    expect(await call("enqueue", { deliveries: rows.slice(0, 1) })).toEqual({ enqueued: 1, known: 0 });
    expect(await call("enqueue", { deliveries: rows })).toEqual({ enqueued: 1, known: 1 });
    expect(await deliveries.count(tenant_id, { agent_id })).toBe(2);
    expect(await call("enqueue", { deliveries: [] })).toEqual({ enqueued: 0, known: 0 });
  });

  test("keeps the rows of a receiver together, in the order of their events", async () => {
    const written: string[] = [];
    const insertMany = async (rows: { _id: string }[]) => void written.push(...rows.map(({ _id }) => _id));
    const alone = new Enqueuer({
      ...{ deliveries: { insertMany }, store, notifyReady: () => {} },
      requestQueues: { hasWaiting: () => false },
    } as never);
    const matched = { interest_ids: ["int_1"], feed_ids: [] };
    const asked = ["evt_1", "evt_2"].flatMap((event_id) =>
      ["ag_a", "ag_b"].map((agent_id) => ({ tenant_id, event_id, agent_id, priority: 5, matched })),
    );
    await alone.enqueue(asked.map((each) => ({ ...each, enrichment_depth: "none" })));
    const pairs = ["ag_a", "ag_b"].flatMap((agent) =>
      ["evt_1", "evt_2"].map((event) => [event, agent] as const),
    );
    expect(written).toEqual(pairs.map(([event, agent]) => deliveryId(event, agent)));
  });

  test("leaves settled and dead deliveries; a replay revives only requested dead letters", async () => {
    const agent_id = await agentWith("evt_1", "evt_2", "evt_3");
    const ids = ["evt_1", "evt_2", "evt_3"].map((event_id) => deliveryId(event_id, agent_id));
    await deliveries.updateMany(tenant_id, { _id: ids[0] as string }, { $set: { state: "acknowledged" } });
    await deliveries.updateMany(tenant_id, { _id: { $in: ids.slice(1) } }, { $set: { state: "dead" } });
    await deliveries.updateMany(
      tenant_id,
      { _id: ids[1] as string },
      { $set: { replay_at: new Date(Date.now() + 60_000) } },
    );
    const matched = { interest_ids: ["int_2"], feed_ids: [] };
    const rows = ["evt_1", "evt_2", "evt_3"].map((event_id) => ({
      ...{ tenant_id, event_id, agent_id, priority: 9, matched, enrichment_depth: "none" as const },
    }));
    expect(await call("enqueue", { deliveries: rows })).toEqual({ enqueued: 0, known: 3 });
    await new Enqueuer({ deliveries, store, notifyReady: () => {} } as never).replay(rows);
    expect((await claim(agent_id)).deliveries).toMatchObject([
      { event_id: "evt_2", attempt_count: 1, matched },
    ]);
  });
});

describe("a lease", () => {
  test("gives back only deliveries it still holds, without counting the attempt", async () => {
    const agent_id = await agentWith("evt_1", "evt_2");
    const { deliveries: held } = await claim(agent_id);
    const [first, second] = held.map(({ id }) => id) as [string, string];
    expect((await exchange(agent_id, { acknowledged: [first] })).deliveries).toEqual([]);
    const released = (lease: string) => ({ released: [first, second].map((id) => ({ id, lease })) });
    expect((await exchange(agent_id, released("another"))).deliveries).toEqual([]);
    await exchange(agent_id, released("L"), 0);
    expect((await claim(agent_id)).deliveries).toMatchObject([{ id: second, attempt_count: 1 }]);
  });

  test.each([
    ["by a nack without a delay wakes", { delay_seconds: 0 }, true],
    ["by a nack with a delay does not wake", { delay_seconds: 5 }, false],
    ["without an attempt wakes", null, true],
  ])("that is given back %s the requests that wait", async (_, nack, isWoken) => {
    const agent_id = await agentWith("evt_1");
    const { deliveries: held } = await claim(agent_id, { max_in_flight: 1 });
    const delivery_ids = held.map(({ id }) => id);
    const woken = await wakesOf(agent_id, () =>
      nack
        ? call("nack", { delivery_ids, ...nack }, caller(agent_id, ["receive"]))
        : exchange(agent_id, { released: delivery_ids.map((id) => ({ id, lease: "L" })) }, 0),
    );
    expect(woken).toBe(isWoken ? 1 : 0);
  });

  test.each(["ack", "nack"])(
    "that ends by %s wakes the requests that wait for its room",
    async (settling) => {
      const agent_id = await agentWith("evt_1", "evt_2");
      limits.set(agent_id, 1);
      const [held, none] = [await claim(agent_id), await claim(agent_id)];
      expect([held.deliveries.length, none.deliveries.length]).toEqual([1, 0]);
      const params = {
        delivery_ids: held.deliveries.map(({ id }) => id),
        ...(settling === "nack" && { delay_seconds: 60 }),
      };
      expect(await wakesOf(agent_id, () => call(settling, params, caller(agent_id, ["receive"])))).toBe(1);
      expect((await claim(agent_id)).deliveries).toHaveLength(1);
    },
  );

  test("that is acknowledged soon counts as an attempt", async () => {
    const agent_id = await agentWith("evt_1");
    const { deliveries: held } = await claim(agent_id);
    const delivery_ids = held.map(({ id }) => id);
    await call("ack", { delivery_ids }, caller(agent_id, ["receive"]));
    expect(await rowOf(agent_id, "evt_1")).toMatchObject({
      ...{ state: "acknowledged", attempt_count: 1 },
      timeline: [{ what: "handed_out" }, { what: "acknowledged" }],
    });
  });

  test.each([
    ["ack", {}, undefined],
    ["nack", { dead_letter: true, reason: "no such order" }, "no such order"],
  ])("of a key lets the next of the key go when it ends by %s", async (settling, more, dlq_reason) => {
    const agent_id = await agentWithKey("k", "evt_1");
    const [held] = await settle(async () => {
      const { deliveries: found } = await claim(agent_id);
      return found.length > 0 && found;
    });
    const released = jest.spyOn(Ordering.prototype, "release");
    await call(settling, { delivery_ids: [held?.id], ...more }, caller(agent_id, ["receive"]));
    const groups = released.mock.calls.flatMap(([, given]) => [...given]);
    released.mockRestore();
    expect(groups).toContain(`${agent_id} k`);
    expect((await rowOf(agent_id, "evt_1"))?.dlq_reason).toBe(dlq_reason);
  });

  test("of a key is followed by the next of the key in the commit that acknowledges it", async () => {
    const agent_id = await agentWithKey("k", "evt_1", "evt_2");
    const [held] = await settle(async () => {
      const { deliveries: found } = await claim(agent_id);
      return found.length > 0 && found;
    });
    await call("ack", { delivery_ids: [held?.id] }, caller(agent_id, ["receive"]));
    expect((await claim(agent_id)).deliveries).toMatchObject([{ event_id: "evt_2" }]);
  });

  test("that is older than its agent's limit counts", async () => {
    const agent_id = await agentWith("evt_1", "evt_2", "evt_3", "evt_4");
    await claim(agent_id, { limit: 2 });
    const limit = { max_in_flight: 3, max_per_minute: null };
    const allowance = await new DeliveryLimits(deliveries).allowance({ tenant_id, agent_id }, limit, 2);
    expect(allowance).toMatchObject({ count: 1, slots: [expect.any(String)] });
  });

  test("that a stream holds and that was extended goes on counting as held", async () => {
    const agent_id = await agentWith("evt_1", "evt_2");
    const stream = { max_in_flight: 1, lease: "S", lease_seconds: 2 };
    const { deliveries: held } = await claim(agent_id, stream);
    const [{ id, lease_expires_at }] = held as [Received["deliveries"][0]];
    const extension = { delivery_ids: [id], seconds: 60 };
    expect(await call("extend", extension, caller(agent_id, ["receive"]))).toEqual({ extended: 1 });
    await settle(() => Date.now() > Date.parse(lease_expires_at));
    expect((await claim(agent_id, stream)).deliveries).toEqual([]);
    await broker.broadcast("deliveries.stream_closed", { tenant_id, agent_id, lease: "S" });
    expect(
      await settle(async () => (await claim(agent_id)).deliveries.find((each) => each.id === id)),
    ).toMatchObject({ attempt_count: 1 });
  });

  test("goes with the event when retention took it", async () => {
    const agent_id = await agentWith("evt_gone", "evt_1");
    expect((await claim(agent_id)).deliveries).toMatchObject([{ event_id: "evt_1" }]);
    expect(await rowOf(agent_id, "evt_gone")).toBeNull();
  });
});

test("an acknowledged row past its retention is a tombstone, and goes with its event", async () => {
  const agent_id = await agentWith("evt_old");
  const [delivery] = (await claim(agent_id)).deliveries;
  await exchange(agent_id, { acknowledged: [delivery?.id as string] }, 0);
  const sweeps = new Sweep({
    store: { ...store, now: () => Date.now() + 8 * 86_400_000 },
    deliveries,
  } as never);
  await sweeps.retire();
  const row = await rowOf(agent_id, "evt_old");
  expect(row).toMatchObject({ state: "acknowledged", event_id: "evt_old", agent_id });
  for (const field of ["timeline", "matched", "retire_at"]) expect(row).not.toHaveProperty(field);
  expect(await call("of_event", { tenant_id, event_id: "evt_old" })).toMatchObject([
    { agent_id, state: "acknowledged", matched: { interest_ids: [], feed_ids: [] } },
  ]);
  expect(await call("given_to", { tenant_id, agent_id, event_ids: ["evt_old", "evt_1"] })).toEqual([
    "evt_old",
  ]);
  expect(await call("forget_events", { tenant_id: "tn_b", event_ids: ["evt_old"] })).toEqual({
    forgotten: 0,
  });
  expect(await call("forget_events", { tenant_id, event_ids: ["evt_old"] })).toEqual({ forgotten: 1 });
  expect(await rowOf(agent_id, "evt_old")).toBeNull();
});

test("leases and waits from a clock that was days ahead end", async () => {
  const agent_id = await agentWith("evt_1", "evt_2", "evt_3", "evt_4", "evt_5");
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  await claim(agent_id);
  const set = (event_id: string, $set: Partial<DeliveryDoc>) =>
    deliveries.updateMany(tenant_id, { agent_id, event_id }, { $set });
  await set("evt_1", { due_at: days(3) });
  await set("evt_2", { due_at: days(3), attempt_count: 2 });
  await set("evt_3", { due_at: days(0.4) });
  await set("evt_4", { due_at: days(3), state: "waiting" });
  await set("evt_5", { due_at: days(0.9), state: "waiting" });
  const settings = new AgentSettingsCache(broker, readConfig({}));
  const notifyReady = () => {};
  const progress = new Progress(store.collection(ProgressModel), 300_000);
  const sweep = new Sweep({
    ...{ store, deliveries, agents: settings, progress, ordering: unordered, notifyReady },
  });
  await sweep.endAhead();
  await sweep.endDue();
  const rows = await deliveries.find(tenant_id, { agent_id }, { sort: { event_id: 1 }, bounded: "a few" });
  expect(rows.map(({ state }) => state)).toEqual(["ready", "dead", "leased", "ready", "waiting"]);
  expect(rows[1]?.dlq_reason).toBe("max attempts exceeded (2): lease expired");
});

test("a lease that is extended while the sweep looks at it goes on", async () => {
  const agent_id = await agentWith("evt_1", "evt_2");
  await claim(agent_id);
  const past = { due_at: new Date(Date.now() - 1000) };
  await deliveries.updateMany(tenant_id, { agent_id }, { $set: past });
  const until = new Date(Date.now() + 60_000);
  const agents = {
    getMany: async () => {
      await deliveries.updateMany(tenant_id, { agent_id, event_id: "evt_1" }, { $set: { due_at: until } });
      return new Map([[agent_id, { retry_budget: 5 }]]);
    },
  } as unknown as AgentSettingsCache;
  const progress = new Progress(store.collection(ProgressModel), 300_000);
  await new Sweep({
    ...{ store, deliveries, agents, progress, ordering: unordered, notifyReady: () => {} },
  }).endDue();
  expect(await rowOf(agent_id, "evt_1")).toMatchObject({ state: "leased", due_at: until });
  expect(await rowOf(agent_id, "evt_2")).toMatchObject({ state: "ready" });
});

test("what waited too long for an endpoint is given up, what came later is not", async () => {
  const agent_id = await agentWith("evt_1", "evt_2");
  const long_ago = new Date(Date.now() - 86_400_000);
  await deliveries.updateMany(tenant_id, { agent_id, event_id: "evt_1" }, { $set: { created_at: long_ago } });
  const before = Date.now() - 3_600_000;
  const params = { tenant_id, agent_id, before, reason: "unreachable" };
  expect(await call("give_up", params)).toEqual({ dead_lettered: 1 });
  expect(await rowOf(agent_id, "evt_1")).toMatchObject({ state: "dead", dlq_reason: "unreachable" });
  expect(await rowOf(agent_id, "evt_2")).toMatchObject({ state: "ready" });
});

test("the death of what the service itself published is not announced", async () => {
  const agent_id = await agentWith("evt_cited", "evt_service", "evt_other");
  await call("give_up", { tenant_id, agent_id, before: Date.now() + 60_000, reason: "a test" });
  await settle(
    async () => (await deliveries.count(tenant_id, { agent_id, announce_at: { $exists: true } })) === 0,
  );
  const announced = announcements.filter(({ data }) => (data as { agent_id: string }).agent_id === agent_id);
  expect(announced).toMatchObject([{ data: { event_id: "evt_other", dlq_reason: "a test" } }]);
});

/** All pages of what a caller is shown, by a field of the items. */
async function pagesOf(field: string, meta: object): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: { items: Record<string, unknown>[]; next_cursor: string | null } = await call(
      "dead_letters",
      { cursor },
      meta,
    );
    pages.push(page.items.map((item) => item[field]));
    cursor = page.next_cursor;
  }
  return pages;
}

test("dead letters are announced and listed a few megabytes at a time", async () => {
  const agent_id = await agentWith("evt_large1", "evt_large2", "evt_large3");
  await deliveries.updateMany(tenant_id, { agent_id }, { $set: { size: 3_145_728 } });
  await call("give_up", { tenant_id, agent_id, before: Date.now() + 60_000, reason: "a test" });
  await settle(
    async () => (await deliveries.count(tenant_id, { agent_id, announce_at: { $exists: true } })) === 0,
  );
  const events = await pagesOf("event_id", caller(agent_id, ["receive"]));
  const each = [["evt_large1"], ["evt_large2"], ["evt_large3"]];
  expect(events.toSorted()).toEqual(each);
  const asked = loads.filter((ids) => ids.some((id) => id.startsWith("evt_large")));
  expect(asked.toSorted()).toEqual([...each, ...each].toSorted());
});

describe("what could not be mapped to an event", () => {
  const broken = {
    ...{ tenant_id, source: "con_1", payload: { any: "thing" }, reason: "mapping error: no entity" },
  };

  test.each(["\u{1f525}", "\u0001"])(
    "has a reason of some length, however many %j it quotes",
    async (quoted) => {
      const reason = `mapping error: action: /what is "${quoted.repeat(1_000_000)}"`;
      const { id } = await call<{ id: string }>("dead_letter", { ...broken, reason });
      const announced = await settle(() => announcements.find(({ subject }) => subject === id));
      const { dlq_reason } = announced.data as { dlq_reason: string };
      expect(dlq_reason).toMatch(new RegExp(`^mapping error: action: /what is "(?:${quoted})+…$`, "u"));
      expect(dlq_reason.length).toBeLessThanOrEqual(1000);
      const size = Buffer.byteLength(JSON.stringify(emitted(announced, new Date())));
      expect(size).toBeLessThanOrEqual(SETTINGS.EVENT_MAX_BYTES.min as number);
      const row = await deliveries.findOne(tenant_id, { _id: id });
      expect(row).toMatchObject({ dlq_reason, timeline: [{ reason: dlq_reason }] });
    },
  );

  test("is listed a few megabytes at a time", async () => {
    const large = { ...broken, tenant_id: "tn_large" };
    const payloads = ["a", "b", "c"].map((letter) => letter.repeat(3_000_000));
    for (const payload of payloads) await call("dead_letter", { ...large, payload });
    const { tenant_id: its } = large;
    const admin = { caller: { kind: "agent", tenant_id: its, agent_id: "ag_admin", scopes: ["admin"] } };
    const pages = await pagesOf("payload", admin);
    expect(pages.map((page) => page.length)).toEqual([1, 1, 1]);
    expect(pages.flat().toSorted()).toEqual(payloads);
  });

  test("goes when an event that came then would", async () => {
    const { id } = await call<{ id: string }>("dead_letter", broken);
    const retireAfter = (days: number) => {
      const now = () => Date.now() + days * 86_400_000;
      return new Sweep({ store: { ...store, now }, deliveries } as never).retire();
    };
    await retireAfter(29);
    expect(await deliveries.exists(tenant_id, { _id: id })).toBe(true);
    await retireAfter(31);
    expect(await deliveries.exists(tenant_id, { _id: id })).toBe(false);
  });

  test.each<[string, object, { dlq_reason: string; replay_at?: unknown } | null]>([
    ["is gone when it is published", { status: "accepted" }, null],
    [
      "stays when its event could not be stored, and is tried again",
      { status: "rejected", error: { code: "internal_error", message: "no room" } },
      { dlq_reason: broken.reason, replay_at: expect.any(Date) },
    ],
    [
      "stays when its event is refused, and says why",
      { status: "rejected", error: { code: "invalid_event", message: "no type" } },
      { dlq_reason: "mapping error: no type" },
    ],
  ])("%s", async (_, answer, left) => {
    const origin = { inlet: "ingest", registration_id: "whk_1", default_id: "1", headers: {} };
    const { id } = await call<{ id: string }>("dead_letter", { ...broken, payload: { answer }, origin });
    await call("replay_many", { ids: [id] }, caller("ag_admin", ["admin"]));
    // Not due any more: done, refused, or due later.
    const isRequested = { _id: id, replay_at: { $lte: new Date() } };
    await settle(async () => !(await deliveries.exists(tenant_id, isRequested)));
    const row = await deliveries.findOne(tenant_id, { _id: id });
    if (left) expect(row).toMatchObject(left);
    else expect(row).toBeNull();
    expect(row?.replay_at).toEqual(left?.replay_at);
  });

  test("is kept once, however often it is received", async () => {
    const once = { ...broken, dedupe: "message 7" };
    expect(await call("dead_letter", once)).toEqual(await call("dead_letter", once));
  });
});
