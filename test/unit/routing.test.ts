import { beforeEach, expect, test } from "@jest/globals";
import { readConfig } from "../../config.ts";
import { ContractValidator } from "../../lib/contract/validator.ts";
import { exposition } from "../../observability/metrics.ts";
import type { RoutingState, RoutingSubject } from "../../services/identity/tenants/routing-change.ts";
import type { Runtime } from "../../services/runtime.ts";
import { InterestModel } from "../../services/sense/interests/interests.model.ts";
import { interestsService } from "../../services/sense/interests/interests.service.ts";
import { unread } from "../support/audit.ts";
import { ownBroker, ownStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const TEAMS_EVENT = { type: "service.memory.created", data: {}, audience: "ag_author team_1" };

/** The team that every agent is in now. */
let team_id: string | null = null;
/** As `TenantDoc` has them. */
let version = 1;
const recorded: RoutingSubject[] = [];
let failing = false;
/** The record does not say what was changed, either. */
let away = false;
/** Hook that runs before the version is next increased. */
let beforeRaise = async () => {};
/** Hook that runs at the next read of a table, after the interests. */
let afterInterests = async () => {};

const store = await ownStore();
const routed = () => ({ feeds: [], members: [] });
const feeds_page = async () => {
  const after = afterInterests;
  afterInterests = async () => {};
  await after();
  return [];
};
const none = () => [];
const actions = { feeds_page, members_page: none, feeds_of_agent: none, routed };
const broker = await ownBroker(
  [
    unread,
    {
      name: "tenants",
      actions: {
        routing_version: () => version,
        routing_since: ({ params }: { params: { version: number } }): RoutingState => {
          if (away) throw new Error("the store did not answer");
          const known = recorded.length - (version - params.version);
          return { version, changes: known < 0 ? null : recorded.slice(known) };
        },
        bump_routing: async ({ params: { subject } }: { params: { subject: RoutingSubject } }) => {
          if (failing) throw new Error("the store did not answer");
          const before = beforeRaise;
          beforeRaise = async () => {};
          await before();
          recorded.push(subject);
          return ++version;
        },
      },
    },
    {
      name: "agents",
      actions: {
        get_many: ({ params }: { params: { agent_ids: string[] } }) =>
          params.agent_ids.map((id) => ({ id, status: "active", team_id })),
        owned_by: () => [{ id: "ag_a" }],
      },
    },
    { name: "channels", actions },
    {
      name: "events",
      actions: { load: () => [{ event_id: "evt_1", envelope: JSON.stringify(TEAMS_EVENT) }] },
    },
    interestsService({ store, config: readConfig({}) } as Runtime),
  ],
  { validator: new ContractValidator() },
);

beforeEach(() => {
  failing = false;
  away = false;
});

const caller = { kind: "agent", tenant_id: "tn_a", agent_id: "ag_a", scopes: ["receive"] };
const call = <T>(action: string, params: object) =>
  broker.call<T, object>(`interests.${action}`, params, { meta: { caller } });

/** Returns how many routing tables this process has read as a whole. */
async function loads(): Promise<number> {
  return Number(/^sensorium_routing_loads_total (\d+)/m.exec(await exposition())?.[1]);
}

async function matches(type: string): Promise<number> {
  const event = { event_id: "evt_1", envelope: { type, data: {} } };
  const params = { tenant_id: "tn_a", events: [event] };
  const { matches: found } = await call<{ matches: { receivers: object[] }[] }>("match", params);
  return found[0]?.receivers.length ?? 0;
}

test("an event of a team is for its members of now: by interest, in a replay, and for a step that waits", async () => {
  const tenant_id = "tn_a";
  await call("create", { agent_id: "ag_a", event_type: "service.memory.*" });
  const wait = { owner_id: "run_1", version: 1, action: "runs.event", key: "step", since: new Date(0) };
  const waits = ["ag_a", "usr_a"].map((reader_id) => ({
    ...wait,
    ...{ _id: `wait_${reader_id}`, event_type: TEAMS_EVENT.type, filter_expression: null, reader_id },
  }));
  await call("begin_waits", { tenant_id, waits });
  const past = { position: "1", type: TEAMS_EVENT.type, size: 1, accepted_at: "", waits: false };
  const receivers = async () => {
    const events = [{ event_id: "evt_1", envelope: TEAMS_EVENT, at: Date.now() }];
    type Matches = { matches: { receivers: object[]; waits?: string[] }[] };
    const [match] = (await call<Matches>("match", { tenant_id, events })).matches;
    const replayed = await call<{ matches: object[] }>("match_agent", {
      ...{ tenant_id, agent_id: "ag_a", interest_id: null, events: [{ event_id: "evt_1", ...past }] },
      most: 9,
    });
    return [match?.receivers.length, match?.waits?.toSorted() ?? [], replayed.matches.length];
  };
  team_id = "team_1";
  expect(await receivers()).toEqual([1, ["wait_ag_a", "wait_usr_a"], 1]);
  team_id = "team_2";
  expect(await receivers()).toEqual([0, [], 0]);
  team_id = null;
  expect(await receivers()).toEqual([0, [], 0]);
});

test("a change that was written and could not be counted holds soon all the same", async () => {
  const agent_id = "ag_a";
  const { id } = await call<{ id: string }>("create", { agent_id, event_type: "com.a" });
  expect([await matches("com.a"), await matches("com.b")]).toEqual([1, 0]);
  failing = true;
  await expect(call("create", { agent_id, event_type: "com.b" })).rejects.toThrow("did not answer");
  await settle(async () => (await matches("com.b")) === 1);
  expect(await matches("com.a")).toBe(1);
  await expect(call("delete", { agent_id, id })).rejects.toThrow("did not answer");
  await settle(async () => (await matches("com.a")) === 0);
  expect(await matches("com.b")).toBe(1);
});

/** Stops at a hook, until it is released. */
function hold() {
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hook = () => {
    reached.resolve();
    return held.promise;
  };
  return { hook, reached: reached.promise, release: held.resolve };
}

test("a change that could not be counted holds while the table is being read", async () => {
  const agent_id = "ag_a";
  const { id } = await call<{ id: string }>("create", { agent_id, event_type: "com.read" });
  const held = hold();
  afterInterests = held.hook;
  // What was changed is no longer recorded.
  version++;
  recorded.length = 0;
  const reading = matches("com.read");
  await held.reached;
  failing = true;
  await expect(call("delete", { agent_id, id })).rejects.toThrow("did not answer");
  held.release();
  await reading;
  await settle(async () => (await matches("com.read")) === 0);
});

test("a change that could not be counted holds once the record is back, and no failure goes unhandled", async () => {
  const agent_id = "ag_a";
  const { id } = await call<{ id: string }>("create", { agent_id, event_type: "com.away" });
  expect(await matches("com.away")).toBe(1);
  const unhandled: unknown[] = [];
  const note = (err: unknown) => void unhandled.push(err);
  process.on("unhandledRejection", note);
  failing = true;
  away = true;
  await expect(call("delete", { agent_id, id })).rejects.toThrow("did not answer");
  // Without a table the next event asks the record.
  await settle(() =>
    matches("com.away").then(
      () => false,
      () => true,
    ),
  );
  away = false;
  expect(await matches("com.away")).toBe(0);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("of two changes of one interest at once that one holds which was written last", async () => {
  const agent_id = "ag_a";
  const { id } = await call<{ id: string }>("create", { agent_id, event_type: "com.race.first" });
  expect(await matches("com.race.first")).toBe(1);
  const held = hold();
  beforeRaise = held.hook;
  const first = call("update", { agent_id, id, event_type: "com.race.second" });
  await held.reached;
  await call("update", { agent_id, id, event_type: "com.race.third" });
  held.release();
  await first;
  expect([await matches("com.race.second"), await matches("com.race.third")]).toEqual([0, 1]);
});

test("after a node fails its changes are read while events are matched by the table in memory", async () => {
  const agent_id = "ag_a";
  await call("create", { agent_id, event_type: "com.kept" });
  expect(await matches("com.kept")).toBe(1);
  // Another node wrote this, and failed before it could count it.
  const at = new Date();
  const row = {
    ...{ agent_id, event_type: "com.left", filter_expression: null, priority: 5, conflict_key: "left" },
  };
  const all = { ...row, enrichment_depth: "none" as const, created_at: at, updated_at: at };
  await store.collection(InterestModel).insert({ _id: "int_left", tenant_id: "tn_a", ...all });
  expect(await matches("com.left")).toBe(0);
  const held = hold();
  afterInterests = held.hook;
  broker.broadcastLocal("$node.disconnected", { unexpected: true });
  await held.reached;
  expect(await matches("com.kept")).toBe(1);
  await call("create", { agent_id, event_type: "com.meanwhile" });
  expect(await matches("com.meanwhile")).toBe(1);
  held.release();
  await settle(async () => (await matches("com.left")) === 1);
  expect([await matches("com.kept"), await matches("com.meanwhile")]).toEqual([1, 1]);
});

test("a table reads what other nodes changed, and all of it if that is no longer recorded", async () => {
  const agent_id = "ag_a";
  const { id } = await call<{ id: string }>("create", { agent_id, event_type: "com.elsewhere" });
  expect(await matches("com.elsewhere")).toBe(1);
  const before = await loads();
  await store.collection(InterestModel).delete("tn_a", { _id: id });
  version++;
  recorded.push(`interest ${id}`);
  expect([await matches("com.elsewhere"), await loads()]).toEqual([0, before]);
  version++;
  recorded.length = 0;
  expect([await matches("com.elsewhere"), await loads()]).toEqual([0, before + 1]);
});
