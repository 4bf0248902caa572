import { expect, test } from "@jest/globals";
import { withKey } from "../support/agents.ts";
import { pollMany, pollNow, pollSome, useGround } from "../support/deliveries.ts";
import type { Answer } from "../support/http.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openStream } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

const BATCH = { "content-type": "application/cloudevents-batch+json" };
const STRUCTURED = { "content-type": "application/cloudevents+json" };

interface Delivery {
  id: string;
  event_id: string;
  attempt_count: number;
  payload: { id: string; data?: unknown };
}

let count = 0;
const ground = await useGround({});

/** An agent whose interest is a type that nobody else has. */
async function fresh(agent: object = {}): Promise<Receiver & { type: string }> {
  const type = `com.example.torture${++count}`;
  return { ...(await newReceiver(ground.server, ground.admin, type, { agent, interests: [type] })), type };
}

function event(type: string, id: string, more: object = {}) {
  return { specversion: "1.0", id, type, source: "urn:torture", ...more };
}

/** Publishes events with decreasing numbers, and waits until they can be received. */
async function publish({ type, api }: Receiver & { type: string }, events: number): Promise<void> {
  for (let at = 0; at < events; at += 100) {
    const some = Math.min(100, events - at);
    const batch = Array.from({ length: some }, (_, i) => event(type, `${type}-${at + i}`));
    ok(await ground.admin.post("/events", batch, BATCH));
  }
  await settle(async () => ok(await api.get("/delivery/stats")).pending === events);
}

async function acknowledge({ api }: Pick<Receiver, "api">, ids: string[]): Promise<number> {
  return ok(await api.post("/delivery/ack", { delivery_ids: ids })).acknowledged;
}

/** Returns the recorded timelines of the deliveries of an agent's events. */
async function timelines(deliveries: Delivery[]): Promise<string[][]> {
  const pages = await Promise.all(deliveries.map(({ event_id }) => ground.admin.get(`/events/${event_id}`)));
  return pages.map((page) => {
    const [receiver] = ok(page).receivers;
    return receiver.timeline.map(({ what }: { what: string }) => what);
  });
}

test("races polls and a stream of one agent never hold the same delivery at once", async () => {
  const agent = await fresh();
  await publish(agent, 400);
  const taken: string[] = [];
  const poll = async (): Promise<void> => {
    const page = await pollNow(agent.api, "limit=7");
    taken.push(...page.map(({ id }: Delivery) => id));
    if (page.length) await poll();
  };
  const stream = await openStream(`${ground.server.url}/delivery/stream?max_in_flight=150`, agent.token);
  const streamed: string[] = [];
  const streaming = (async () => {
    for await (const messages of stream.chunks)
      streamed.push(...messages.flatMap(({ event, id }) => (event === "delivery" ? [id as string] : [])));
  })();
  await Promise.all([poll(), poll(), poll()]);
  await settle(() => taken.length + streamed.length === 400);
  expect(new Set([...taken, ...streamed]).size).toBe(400);
  stream.close();
  await streaming;
});

test("races an acknowledgement that meets the end of its lease counts once and for all", async () => {
  const agent = await fresh({ visibility_timeout_seconds: 1, retry_budget: 100 });
  await publish(agent, 300);
  const taken = new Map<string, Delivery>();
  await settle(async () => {
    // Some may be redelivered before the last are delivered.
    for (const delivery of await pollSome(agent.api, "limit=100")) taken.set(delivery.id, delivery);
    return taken.size === 300;
  });
  const first = [...taken.values()];
  await settle(async () => ok(await agent.api.get("/delivery/stats")).in_flight === 0);

  // One after another, in the order in which polls take them again.
  const done = new Map<string, number>();
  let counted = 0;
  let over = false;
  const early: string[] = [];
  const poll = async () => {
    while (!over) {
      const asked = performance.now();
      for (const { id } of await pollNow(agent.api, "limit=1")) {
        if ((done.get(id) ?? Number.POSITIVE_INFINITY) < asked) early.push(id);
      }
    }
  };
  const polling = Promise.all([poll(), poll()]);
  for (const { id } of first) {
    counted += await acknowledge(agent, [id]);
    done.set(id, performance.now());
  }
  over = true;
  await polling;
  expect({ counted, early }).toEqual({ counted: 300, early: [] });
  for (const timeline of await timelines(first)) {
    expect(timeline.filter((what) => what === "acknowledged")).toHaveLength(1);
    expect(timeline.at(-1)).toBe("acknowledged");
  }
  expect(ok(await agent.api.get("/delivery/stats"))).toMatchObject({ pending: 0, dead: 0 });
});

test("races a dead letter that is replayed ten times at once comes back once", async () => {
  const agent = await fresh({ retry_budget: 1 });
  await publish(agent, 20);
  const dying: Delivery[] = await pollSome(agent.api);
  const delivery_ids = dying.map(({ id }) => id);
  ok(await agent.api.post("/delivery/nack", { delivery_ids, reason: "on purpose" }));
  const [{ dlq_reason }] = ok(await agent.api.get("/delivery/dlq?limit=1")).items;
  const came: Delivery[] = [];
  const receiving = settle(
    async () => {
      const page: Delivery[] = await pollNow(agent.api, "wait=1");
      came.push(...page);
      if (page.length)
        await acknowledge(
          agent,
          page.map(({ id }) => id),
        );
      return came.length >= 20 && page.length === 0;
    },
    { what: "20 deliveries again" },
  );
  const replays: Promise<Answer>[] = [];
  for (let again = 0; again < 5; again++) {
    replays.push(agent.api.post("/delivery/dlq/replay", { reason: dlq_reason }));
    replays.push(...delivery_ids.map((id) => agent.api.post(`/delivery/dlq/${id}/replay`)));
  }
  // It may be gone from there when a later one comes.
  for (const { status } of await Promise.all(replays)) expect([200, 404]).toContain(status);
  await receiving;
  expect(came.map(({ id }) => id).sort()).toEqual(delivery_ids.toSorted());
  for (const { attempt_count } of came) expect(attempt_count).toBe(1);
  expect(ok(await agent.api.get("/delivery/dlq")).count).toBe(0);
});

test("races a poll that waits ends when its agent is deactivated, and what comes then stays", async () => {
  const agent = await fresh({ visibility_timeout_seconds: 10 });
  await publish(agent, 1);
  const [{ id }] = (await pollSome(agent.api)) as [Delivery];
  const waiting = agent.api.get("/delivery/poll?wait=30");
  const metrics = async () => (await ground.admin.get(`${ground.server.root}/metrics`)).body;
  await settle(async () => /in_flight 2/.test(await metrics()), { what: "the poll to be under way" });
  ok(await ground.admin.patch(`/agents/${agent.id}/status`, { status: "inactive" }));
  // Not with the delivery, whose lease ends in the meantime.
  expect((await waiting).status).toBe(401);
  const { agents } = ok(await ground.admin.get("/delivery/stats?limit=200"));
  expect(agents.find((row: { agent_id: string }) => row.agent_id === agent.id)).toMatchObject({ pending: 1 });
  ok(await ground.admin.patch(`/agents/${agent.id}/status`, { status: "active" }));
  const back = await withKey(ground.server, ground.admin, agent.id, ["receive"]);
  expect(await settle(async () => acknowledge({ api: back }, [id]))).toBe(1);
});

const MEGABYTE = 1_048_576;

/** Returns an event of exactly this size as JSON. */
function sized(type: string, id: string, bytes: number): string {
  const empty = Buffer.byteLength(JSON.stringify(event(type, id, { data: "" })));
  return JSON.stringify(event(type, id, { data: "x".repeat(bytes - empty) }));
}

test("sizes an event of 1 MB arrives whole; one byte more is refused, alone and in a batch", async () => {
  const agent = await fresh();
  const fits = sized(agent.type, "fits", MEGABYTE);
  expect((await ground.admin.post("/events", fits, STRUCTURED)).status).toBe(202);
  await settle(async () => ok(await agent.api.get("/delivery/stats")).pending === 1);
  const over = await ground.admin.post("/events", sized(agent.type, "over", MEGABYTE + 1), STRUCTURED);
  expect(over.status).toBe(413);
  expect(over.body.error.details).toEqual({ actual_size: MEGABYTE + 1, max_size: MEGABYTE });
  const both = `[${sized(agent.type, "fits too", MEGABYTE)},${sized(agent.type, "over", MEGABYTE + 1)}]`;
  const batch = await ground.admin.post("/events", both, BATCH);
  expect(batch.body).toMatchObject([{ status: "accepted" }, { error: { code: "payload_too_large" } }]);
  const page: Delivery[] = await pollMany(agent.api, 2);
  expect(page.map(({ payload }) => payload.id)).toEqual(["fits", "fits too"]);
  expect(JSON.stringify(page[0]?.payload)).toBe(fits);
});

test.each([
  ["arrays", (levels: number) => "[".repeat(levels) + "]".repeat(levels)],
  ["objects", (levels: number) => '{"a":'.repeat(levels) + 1 + "}".repeat(levels)],
])(
  "sizes deeply nested %s are refused where they are too deep, and arrive whole where not",
  async (name, nest) => {
    const agent = await fresh();
    const publish = (levels: number) => {
      const rest = JSON.stringify(event(agent.type, `${name}-${levels}`)).slice(0, -1);
      return ground.admin.post("/events", `${rest},"data":${nest(levels)}}`, STRUCTURED);
    };
    for (const levels of [1000, 10_000, 30_000]) {
      const { status, body } = await publish(levels);
      expect([status, body.error.code]).toEqual([400, "validation_failed"]);
    }
    // With the envelope around it this is the deepest that is taken.
    expect((await publish(999)).status).toBe(202);
    const [{ payload, event_id }] = (await pollSome(agent.api)) as [Delivery];
    expect(JSON.stringify(payload.data)).toBe(nest(999));
    expect(ok(await ground.admin.get(`/events/${event_id}`)).payload).toEqual(payload);
  },
);

test.each([
  ["from everywhere", "ид-🎉-日本語"],
  ["of combined characters", "e\u0301 and \u00e9"],
  ["of one space", " "],
  ["like a URL", "a/b?c#d&e=%20+f"],
  ["like SQL", "'; DROP TABLE events; --"],
  ["like a property of every object", "__proto__"],
  ["like an operator", "$where"],
  ["like a path", "a.b.$c"],
  ["like a condition", '{"$gt":""}'],
  ["of many characters", "x".repeat(1000)],
])("identifiers an id %s is one like any other", async (_, id) => {
  const agent = await fresh();
  const first = await ground.admin.post("/events", event(agent.type, id, { subject: id }));
  expect(first).toMatchObject({ status: 202, body: { status: "accepted" } });
  const again = await ground.admin.post("/events", event(agent.type, id));
  expect(again).toMatchObject({ status: 200, body: { status: "duplicate", event_id: first.body.event_id } });
  for (const field of ["id", "subject"]) {
    const { events } = ok(await ground.admin.get(`/events?${field}=${encodeURIComponent(id)}`));
    expect(events.map(({ event_id }: Delivery) => event_id)).toEqual([first.body.event_id]);
  }
  const [{ payload }] = (await pollSome(agent.api)) as [Delivery];
  expect(payload).toMatchObject({ id, subject: id });
});

test("identifiers the two ways to write é are two ids", async () => {
  const agent = await fresh();
  const ids = ["\u00e9-1", "e\u0301-1"];
  for (const id of ids)
    expect((await ground.admin.post("/events", event(agent.type, id))).body.status).toBe("accepted");
});
