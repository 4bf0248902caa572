import { beforeAll, describe, expect, test } from "@jest/globals";
import { DocumentModel } from "../../services/remember/documents/documents.model.ts";
import { MemoryModel } from "../../services/remember/memories/memories.model.ts";
import { OutputModel } from "../../services/work/outputs/outputs.model.ts";
import type { Store } from "../../storage/connection.ts";
import { cloudEvent, fannedOut, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { ingest, textFile } from "../support/documents.ts";
import { type Api, agentToken, api, type Json } from "../support/http.ts";
import { ofKits } from "../support/kits.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { makeCast, remember } from "../support/memories.ts";
import { act, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { openStream, type StreamMessage } from "../support/stream.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, signIn } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";
import { order, register, SHOP, send } from "../support/webhooks.ts";

const server = await useServer({
  env: {
    ...{ OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" },
    ...{ DEVICE_CLAIMS_PER_HOUR: "3", TRUST_PROXY: "loopback", PUSH_ALLOW_PRIVATE: "true" },
  },
});
const world = await makeWorld(server, "restarts");

/** The last step of a test before the server is gone, what changes in its store while it ended, and the checks when it is back. */
type Case = { last?(): Promise<unknown>; away?(store: Store): Promise<unknown>; check(): Promise<unknown> };

async function listener(event_type: string): Promise<TestAgent> {
  const agent = await newAgent(server, world.admin);
  ok(await agent.post(`/agents/${agent.id}/interests`, { event_type }));
  return agent;
}

const KILLED = Object.entries<() => Promise<Case>>({
  ...Object.fromEntries(
    Object.entries(await ofKits("restarts")).map(([name, make]) => [name, () => make(server, world)]),
  ),
  "an accepted webhook is delivered": async () => {
    const hook = await register(world.admin, { ...SHOP, source: "crash" });
    const agent = await listener("com.crash.order.*");
    let event_id: string;
    return {
      last: async () => {
        const answer = await send(hook, order({ n: "crash" }));
        expect(answer.status).toBe(202);
        event_id = answer.body.event_id;
      },
      check: async () => {
        const [delivery] = await receive(agent, 1);
        expect(delivery.event_id).toBe(event_id);
        expect((await send(hook, order({ n: "crash" }))).body.status).toBe("duplicate");
        await settle(async () => ok(await world.admin.get(`/events/${event_id}`)).state === "matched");
      },
    };
  },
  "events that many publish reach each receiver once": async () => {
    const agents = await Promise.all([1, 2, 3].map(() => listener("com.kill.*")));
    const accepted: string[] = [];
    let [next, isGone] = [0, false];
    const publish = async () => {
      while (!isGone) {
        const event = cloudEvent(`kill-${next++}`, { type: "com.kill.round" });
        const { status, body } = await world.agent.post("/events", event);
        if (status === 202) accepted.push(body.event_id);
      }
    };
    let publishing: Promise<unknown>;
    return {
      last: async () => {
        const until = () =>
          publish().finally(() => {
            isGone = true;
          });
        publishing = Promise.allSettled(Array.from({ length: 24 }, until));
        await settle(() => accepted.length >= 100);
      },
      check: async () => {
        await publishing;
        for (const event_id of accepted) {
          const { receivers } = await fannedOut(world.agent, event_id);
          const reached = receivers.map(({ agent_id }: Json) => agent_id);
          expect(reached.sort()).toEqual(agents.map(({ id }) => id).sort());
        }
        for (const agent of agents) {
          const got: string[] = [];
          // Among them are events whose publisher got no answer.
          await settle(async () => {
            got.push(...(await receive(agent, 0)).map(({ event_id }) => event_id));
            return accepted.every((id) => got.includes(id));
          });
          expect(new Set(got).size).toBe(got.length);
        }
      },
    };
  },
  "an answer and a deadline of questions to people are delivered once": async () => {
    const agent = await newAgent(server, world.admin);
    const question = { title: "Refund order 1042?", question: "The cup is **broken**." };
    const key = { "idempotency-key": "one-question" };
    const answered = ok(await agent.post("/approvals", question, key));
    const expiring = ok(await agent.post("/approvals", { ...question, deadline_seconds: 1 }));
    return {
      last: async () => ok(await world.admin.post(`/approvals/${answered.id}/answer`, { choice: "approve" })),
      check: async () => {
        const told = await receive(agent, 2);
        expect(Object.fromEntries(told.map(({ payload }) => [payload.type, payload.subject]))).toEqual({
          "service.approval.answered": answered.id,
          "service.approval.expired": expiring.id,
        });
        expect(ok(await agent.post("/approvals", question, key)).id).toBe(answered.id);
        expect(ok(await agent.get("/delivery/poll?wait=0")).deliveries).toEqual([]);
        const { events } = ok(await world.admin.get("/events?type=service.approval.answered"));
        expect(events).toHaveLength(1);
      },
    };
  },
  "a delayed event that became due meanwhile is delivered, a later one waits": async () => {
    const agent = await listener("com.restart.*");
    const at = (id: string, ms: number) => {
      const notbefore = new Date(Date.now() + ms).toISOString();
      return world.agent.post("/events", cloudEvent(id, { type: "com.restart.x", notbefore }));
    };
    const { event_id } = ok(await at("due-later", 86_400_000));
    return {
      last: async () => ok(await at("due-meanwhile", 200)),
      check: async () => {
        const found = await receive(agent, 1);
        expect(found.map(({ payload }) => payload.id)).toEqual(["due-meanwhile"]);
        expect(ok(await world.agent.get(`/events/${event_id}`)).state).toBe("waiting");
      },
    };
  },
  "schedules that are due at the time publish their events once": async () => {
    const list = async () => ok(await world.admin.get("/schedules?search=at the crash&limit=50")).schedules;
    const published = async (): Promise<Json[]> =>
      ok(await world.admin.get("/events?type=com.killed.x&limit=50")).events;
    return {
      last: async () => {
        for (let i = 0; i < 6; i++)
          // Again where it is refused, as its time was over before it came.
          await settle(async () => {
            const at = new Date(Date.now() + 1000 + i * 500).toISOString();
            const schedule = { name: `at the crash ${i}`, at, event: { type: "com.killed.x" } };
            return ok(await world.admin.post("/schedules", schedule)).id;
          });
        await settle(async () => (await published()).length >= 2);
      },
      check: async () => {
        await settle(async () => (await list()).every(({ status }: Json) => status === "ended"));
        const made = (await list()).map(({ id }: Json) => id).toSorted();
        expect(made).toHaveLength(6);
        const sources = (await published()).map(({ payload }) => payload.source.split("/").at(-1));
        expect(sources.toSorted()).toEqual(made);
        for (const { run_count } of await list()) expect(run_count).toBe(1);
      },
    };
  },
  "a replay of history goes on, and loses and doubles nothing": async () => {
    const type = "com.replayed.x";
    const events = Array.from({ length: 120 }, (_, n) => cloudEvent(`replayed-${n}`, { type }));
    const batch = { "content-type": "application/cloudevents-batch+json" };
    for (const some of [events.slice(0, 100), events.slice(100)])
      ok(await world.agent.post("/events", some, batch));
    const agent = await listener(type);
    const place = `/agents/${agent.id}/replays`;
    const from = "2020-01-01T00:00:00.000Z";
    await settle(async () => ok(await world.admin.post(`${place}:count`, { from })).deliverable === 120);
    let id: string;
    const read = async () => ok(await world.admin.get(`${place}/${id}`));
    return {
      last: async () => {
        id = ok(await world.admin.post(place, { from, per_minute: 1200 })).id;
        await settle(async () => (await read()).delivered >= 20);
      },
      check: async () => {
        await settle(async () => (await read()).state === "completed");
        expect(await read()).toMatchObject({ matched: 120, delivered: 120 });
        const given = await receive(agent, 120);
        expect(new Set(given.map(({ event_id }) => event_id)).size).toBe(120);
        expect(given.filter(({ replay_id }) => replay_id !== id)).toEqual([]);
        expect(await poll(agent, "wait=0")).toEqual([]);
      },
    };
  },
  "an agent's place among findings is kept": async () => {
    const [reader, writer] = [await newReader(), await newReader()];
    const look = async () =>
      ok(await reader.get("/memories/findings")).findings.map(
        ({ memory_id }: { memory_id: string }) => memory_id,
      );
    ok(await writer.post("/memories", { ...FINDING, title: "before" }));
    expect(await look()).toHaveLength(1);
    let id: string;
    return {
      last: async () => {
        id = ok(await writer.post("/memories", FINDING)).id;
      },
      check: async () => {
        expect(await look()).toEqual([id]);
        expect(await look()).toEqual([]);
      },
    };
  },
});

const FINDING = { title: "t", content: "c", type: "semantic", scope: "institutional" };
const newReader = () => newAgent(server, world.admin, ["memory:read", "memory:write"]);

/** Longer than a restart takes. */
const HOLDING = { visibility_timeout_seconds: 3600 };

const poll = async (agent: TestAgent, query = "wait=30"): Promise<Json[]> =>
  ok(await agent.get(`/delivery/poll?${query}`)).deliveries;
const ack = async (agent: TestAgent, deliveries: { id: string }[]) =>
  ok(await agent.post("/delivery/ack", { delivery_ids: deliveries.map(({ id }) => id) }));

/** How one of each kind is made for the team of its caller, and where its id is in a result. */
const SEARCHED = {
  memories: {
    model: MemoryModel,
    make: async (by: Api) => (await remember(by, { scope: "team", content: "A numbat." })).id,
    idOf: ({ memory }: Json) => memory.id,
  },
  documents: {
    model: DocumentModel,
    make: async (by: Api) =>
      (await ingest(by, textFile("A numbat.", { sensitivity: "confidential" }))).document_id,
    idOf: ({ document }: Json) => document.document_id,
  },
  outputs: {
    model: OutputModel,
    make: async (by: Api) =>
      ok(await by.post("/outputs", { title: "numbat", body: "A numbat.", scope: "team" })).id,
    idOf: ({ output }: Json) => output.id,
  },
};
const cast = await makeCast(server);

/** Cases in which the index is left with what a row was: a search returns what both let the caller read. */
const INDEXED = Object.entries(SEARCHED).map(
  ([kind, { model, make, idOf }]) =>
    [
      `a search of ${kind} gives nothing that either the index or the row denies`,
      async (): Promise<Case> => {
        const { alice, bob, carol, teamA, teamB } = cast;
        const find = async (by: Api): Promise<string[]> =>
          ok(await by.post(`/${kind}/search`, { query: "numbat" })).results.map(idOf);
        /** Of team A by the index, of team B by the row; and the other way round. */
        const [left, joined]: [string, string] = [await make(alice), await make(carol)];
        await settle(async () => (await find(bob)).join() === left && (await find(carol)).join() === joined);
        return {
          away: async (store) => {
            const rows = store.collection(model as typeof MemoryModel);
            const { tenant_id } = server.credentials;
            await rows.update(tenant_id, { _id: left }, { $set: { team_id: teamB } });
            await rows.update(tenant_id, { _id: joined }, { $set: { team_id: teamA } });
          },
          check: async () => {
            for (const id of [left, joined]) expect(await find(bob)).not.toContain(id);
            expect(await find(alice)).toContain(left);
            expect(await find(carol)).toContain(joined);
          },
        };
      },
    ] as const,
);

/** A run as an earlier version created it. */
async function runWithoutValues(): Promise<Case> {
  const wait_for = { event_type: "com.paid", filter_expression: "data.id == run.values.id" };
  const steps = [
    { step_key: "order" },
    { step_key: "pay", depends_on: ["order"], wait_for },
    { step_key: "ship", depends_on: ["pay"] },
  ];
  const run = await newRun(world.agent, { steps, values: { id: 7 } });
  return {
    away: async (store) => {
      const runs = (await store.collections()).get("runs");
      await runs?.updateOne({ _id: run.id }, { $unset: { values: 1 } });
    },
    check: async () => {
      const complete = () => act(world.agent, run, "complete", { step_key: "order" });
      const refused = await complete();
      expect(refused).toMatchObject(refusal(409, "conflict"));
      expect(refused.body.error.message).toMatch(
        /^The step "pay" .*`run.values.id` has no value.* Skip that step/,
      );
      ok(await act(world.agent, run, "skip", { step_key: "pay", reason: "no values" }));
      ok(await complete());
      expect(ok(await act(world.agent, run, "complete", { step_key: "ship" })).run_completed).toBe(true);
    },
  };
}

const ENDED = Object.entries<() => Promise<Case>>({
  ...Object.fromEntries(INDEXED),
  "a run that lacks values says so, and goes on when its step is skipped": runWithoutValues,
  "an agent's `max_in_flight` counts what it already has": async () => {
    const agent = await listener("com.limited.*");
    ok(await world.admin.patch(`/agents/${agent.id}`, { max_in_flight: 1, ...HOLDING }));
    for (const id of ["limited-1", "limited-2"])
      ok(await world.agent.post("/events", cloudEvent(id, { type: "com.limited.x" })));
    await settle(async () => ok(await agent.get("/delivery/stats")).pending === 2);
    let first: { id: string }[];
    return {
      last: async () => {
        first = await poll(agent);
      },
      check: async () => {
        expect(first).toHaveLength(1);
        expect(await poll(agent, "wait=0")).toEqual([]);
        const stats = ok(await agent.get("/delivery/stats"));
        expect(stats).toMatchObject({ in_flight: 1, limited_by: "max_in_flight" });
        await ack(agent, first);
        expect(await poll(agent)).toHaveLength(1);
      },
    };
  },
  "what a stream has in flight is free at once, and uncounted": async () => {
    const agent = await listener("com.streamed.*");
    ok(await world.agent.post("/events", cloudEvent("streamed", { type: "com.streamed.x" })));
    const { chunks } = await openStream(`${server.url}/delivery/stream`, agent.token);
    const got: StreamMessage[] = [];
    const over = (async () => {
      for await (const chunk of chunks) got.push(...chunk);
    })();
    // Reported by its own check, which may begin later.
    over.catch(() => {});
    return {
      last: () => settle(() => got.some(({ event }) => event === "delivery")),
      check: async () => {
        await over;
        expect(await poll(agent)).toMatchObject([{ attempt_count: 1 }]);
      },
    };
  },
  "tries at codes of devices have a budget per address": async () => {
    const stranger = api(server);
    const user_code = "BBBB-BBBB";
    const client_info = { name: "editor", version: "2.1", host: "laptop" };
    const claim = (headers = {}) => stranger.post("/device-codes:claim", { user_code, client_info }, headers);
    const look = () => stranger.get(`/device-codes/${user_code}`);
    return {
      last: async () => expect([(await claim()).status, (await look()).status]).toEqual([404, 404]),
      check: async () => {
        expect((await claim()).status).toBe(404);
        const refused = refusal(429, "rate_limited", { limit: 3, window_seconds: 3600 });
        for (const answer of [await claim(), await look()]) expect(answer).toMatchObject(refused);
        expect((await claim({ "x-forwarded-for": "203.0.113.9" })).status).toBe(404);
      },
    };
  },
  "a login that was ended stays so, and when a key was used is kept": async () => {
    const { id } = ok(await world.admin.post("/agents", { name: "keyed", delivery_mode: "poll" }));
    const { key } = ok(await world.admin.post(`/agents/${id}/keys`, { scopes: ["send"] }));
    const login = async () => api(server, await signIn(server, world.credentials, world.slug));
    const [ended, other] = [await login(), await login()];
    const usedAt = async () => ok(await world.admin.get(`/agents/${id}/keys`)).keys[0].last_used_at;
    let before: string | null;
    return {
      last: async () => {
        await agentToken(server, key);
        before = await usedAt();
        expect((await ended.post("/auth/logout")).status).toBe(204);
      },
      check: async () => {
        expect((await ended.get("/auth/me")).status).toBe(401);
        expect((await other.get("/auth/me")).status).toBe(200);
        expect(before).not.toBeNull();
        expect(await usedAt()).toBe(before);
      },
    };
  },
  "deliveries with the same key keep their order": async () => {
    const agent = await newAgent(server, world.admin);
    ok(await world.admin.patch(`/agents/${agent.id}`, HOLDING));
    const interest = { event_type: "com.ordered.*", ordering_key: "data.order" };
    ok(await agent.post(`/agents/${agent.id}/interests`, interest));
    for (const id of ["a1", "a2", "a3"])
      ok(await world.agent.post("/events", cloudEvent(id, { type: "com.ordered.x", data: { order: "a" } })));
    await settle(async () => ok(await agent.get("/delivery/stats")).pending === 3);
    let got: { id: string; payload: { id: string } }[];
    return {
      last: async () => {
        got = await poll(agent);
      },
      check: async () => {
        for (const id of ["a1", "a2", "a3"]) {
          expect(got.map(({ payload }) => payload.id)).toEqual([id]);
          expect(await poll(agent, "wait=0")).toEqual([]);
          await ack(agent, got);
          got = await poll(agent, id === "a3" ? "wait=0" : "wait=30");
        }
      },
    };
  },
  "an erased memory is in no answer, nor in the rebuilt index": async () => {
    const agent = await newReader();
    const query = "xylophonequartz";
    const search = async () => ok(await agent.post("/memories/search", { query })).results;
    const { id } = ok(await agent.post("/memories", { ...FINDING, title: query }));
    expect(await search()).toHaveLength(1);
    return {
      last: async () => ok(await world.admin.post("/memories/erase", { ids: [id] })),
      check: async () => expect(await search()).toEqual([]),
    };
  },
  "types of events, and the history of a tenant, go on counting": async () => {
    const counted = await makeWorld(server, "counted");
    const publish = async (id: string) =>
      ok(await counted.agent.post("/events", cloudEvent(id, { type: "com.restart.seen" })));
    const count = (expected: number) =>
      settle(async () => {
        const { types } = ok(await counted.agent.get("/events/types?search=restart"));
        const { totals } = ok(await counted.admin.get("/stats/history?range=24h"));
        return types[0]?.count === expected && totals.published === expected;
      });
    return {
      last: () => publish("before"),
      check: async () => {
        await count(1);
        await publish("after");
        await count(2);
      },
    };
  },
});

/** Kills the server, and starts it again. */
async function crash(): Promise<void> {
  await server.kill();
  await server.restart();
}

describe.each([
  ["a crash", KILLED, crash],
  ["an end", ENDED, (change: Parameters<typeof meanwhile>[1]) => meanwhile(server, change)],
] as const)("after %s", (_, cases, pass) => {
  const checks = new Map<string, Case["check"]>();

  beforeAll(async () => {
    const ready: Case[] = [];
    for (const [name, prepare] of cases) {
      const made = await prepare();
      ready.push(made);
      checks.set(name, made.check);
    }
    await Promise.all(ready.map(({ last }) => last?.()));
    await pass(async (store) => {
      for (const { away } of ready) await away?.(store);
    });
  });

  test.each(cases.map(([name]) => name))("%s", (name) => checks.get(name)?.());
});
