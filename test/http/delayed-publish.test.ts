import { describe, expect, test } from "@jest/globals";
import { CloudEvent, HTTP } from "cloudevents";
import {
  cloudEvent,
  fannedOut,
  firstAgent,
  newAgent,
  newReceiver,
  receive,
  type TestAgent,
} from "../support/agents.ts";
import { ahead } from "../support/ahead.ts";
import { type Api, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const admin = await firstAgent(server);
const { admin: user, tenant_slug } = server.credentials;
const orgAdmin = api(server, await signIn(server, user, tenant_slug));

const DAY_MS = 86_400_000;

const receiver = (event_type: string) => newReceiver(server, admin, event_type);

describe("an event with notbefore", () => {
  test("waits, visible to its publisher, and is delivered when it is due, not before", async () => {
    const { agent, event, event_id } = await ahead(4000, async (notbefore) => {
      const type = `com.delayed${Date.parse(notbefore)}`;
      const agent = await receiver(`${type}.*`);
      const event = cloudEvent(`delayed-${notbefore}`, { type: `${type}.one`, notbefore });
      const { event_id, status } = ok(await admin.post("/events", event));
      expect(status).toBe("accepted");
      const waiting = ok(await admin.get(`/events/${event_id}`));
      expect(waiting).toMatchObject({
        ...{ state: "waiting", waits_until: notbefore, matched_at: null, matched_count: null },
        timeline: [{ what: "published" }, { what: "waiting", reason: `until ${notbefore}` }],
        receivers: [],
      });
      expect(ok(await admin.get("/events?waiting=true")).events).toMatchObject([{ event_id }]);
      expect(ok(await admin.get(`/events?waiting=false&type=${type}.*`)).events).toEqual([]);
      expect((await agent.get(`/events/${event_id}`)).status).toBe(404);
      expect(ok(await admin.post("/events", event))).toEqual({ event_id, status: "duplicate" });
      // Events published meanwhile do not wait for it.
      ok(await admin.post("/events", cloudEvent(`at-once-${notbefore}`, { type: `${type}.two` })));
      const [other] = await receive(agent, 1);
      expect(other.payload.type).toBe(`${type}.two`);
      return { agent, event, event_id };
    });
    const [delivery] = await receive(agent, 1);
    expect(delivery).toMatchObject({ event_id, payload: event });
    const done = await fannedOut(admin, event_id);
    expect(done).toMatchObject({ waits_until: null, matched_count: 1 });
    expect(done.matched_at >= delivery.payload.notbefore).toBe(true);
    const answer = done.timeline.map(({ what }: { what: string }) => what);
    expect(answer).toEqual(["published", "waiting", "matched"]);
    expect(ok(await admin.get("/events?waiting=true")).events).toEqual([]);
  });

  test("is matched to the interests of the time when it is due", async () => {
    const { early, late, event_id } = await ahead(3000, async (notbefore) => {
      const type = `com.later${Date.parse(notbefore)}`;
      const early = await receiver(type);
      const event = cloudEvent(`later-${notbefore}`, { type, notbefore });
      const { event_id } = ok(await admin.post("/events", event));
      const { interests } = ok(await early.get(`/agents/${early.id}/interests`));
      expect((await early.del(`/agents/${early.id}/interests/${interests[0].id}`)).status).toBe(204);
      return { early, late: await receiver(type), event_id };
    });
    expect((await receive(late, 1))[0]).toMatchObject({ event_id });
    expect(ok(await early.get("/delivery/poll")).deliveries).toEqual([]);
  });

  test("whose time has come already is delivered at once, in any notation", async () => {
    const agent = await receiver("com.past.*");
    for (const [i, notbefore] of ["2026-01-31T09:30:00+01:00", "2026-01-31t09:30:00.123456789z"].entries())
      ok(await admin.post("/events", cloudEvent(`past-${i}`, { type: "com.past.x", notbefore })));
    expect(await receive(agent, 2)).toHaveLength(2);
  });

  test("waits in binary mode and in batches too, each on its own", async () => {
    const ids = async (agent: TestAgent) => (await receive(agent, 2)).map(({ payload }) => payload.id).sort();
    const agent = await ahead(3000, async (notbefore) => {
      const type = `com.modes${Date.parse(notbefore)}`;
      const agent = await receiver(type);
      const given = { source: `/${type}`, type, data: {}, notbefore };
      const { headers, body } = HTTP.binary(new CloudEvent({ ...given, id: "binary" }));
      expect((await admin.post("/events", body, headers as Record<string, string>)).status).toBe(202);
      const batch = [
        { ...given, specversion: "1.0", id: "first", notbefore: undefined },
        { ...given, specversion: "1.0", id: "delayed" },
        { ...given, specversion: "1.0", id: "wrong", notbefore: "tomorrow" },
        { ...given, specversion: "1.0", id: "last", notbefore: undefined },
      ];
      const results = ok(await admin.post("/events", JSON.stringify(batch), BATCH));
      const answer = results.map(({ status }: { status: string }) => status);
      expect(answer).toEqual(["accepted", "accepted", "rejected", "accepted"]);
      expect(await ids(agent)).toEqual(["first", "last"]);
      return agent;
    });
    expect(await ids(agent)).toEqual(["binary", "delayed"]);
  });

  test.each(["soon", "2026-13-01T00:00:00Z", 5, "2126-01-01T00:00:00Z", "2026-12-31T23:59:60Z"])(
    "is refused with the time %s",
    async (notbefore) => {
      const answer = await admin.post("/events", cloudEvent(`refused-${notbefore}`, { notbefore }));
      await refused(answer, "invalid_event", { field: "notbefore", value: notbefore });
    },
  );
});

describe("cancelling", () => {
  const waiting = async (by: Api, id: string) => {
    const notbefore = new Date(Date.now() + DAY_MS).toISOString();
    const event = cloudEvent(id, { type: "com.cancelled.x", notbefore });
    return ok(await by.post("/events", event)).event_id as string;
  };

  test("its publisher and admins cancel a waiting event; its id can then be used again", async () => {
    const agent = await receiver("com.cancelled.*");
    const first = await waiting(agent, "cancel-1");
    expect((await agent.del(`/events/${first}`)).status).toBe(204);
    await refused(agent.get(`/events/${first}`), "not_found");
    await refused(agent.del(`/events/${first}`), "not_found");
    const second = await waiting(agent, "cancel-1");
    expect(second).not.toBe(first);
    expect((await orgAdmin.del(`/events/${second}`)).status).toBe(204);
    const { entries } = ok(await orgAdmin.get("/audit?action=events.cancel"));
    expect(entries.map(({ resource_id }: { resource_id: string }) => resource_id)).toContain(second);
  });

  test("is refused for another's event, and for one that does not wait", async () => {
    const agent = await receiver("com.cancelled.*");
    const other = await newAgent(server, admin);
    const event_id = await waiting(agent, "cancel-2");
    await refused(other.del(`/events/${event_id}`), "not_found");
    const sent = ok(await agent.post("/events", cloudEvent("cancel-3"))).event_id;
    await refused(agent.del(`/events/${sent}`), "conflict");
    expect(ok(await agent.get(`/events/${event_id}`)).state).toBe("waiting");
    expect((await agent.del(`/events/${event_id}`)).status).toBe(204);
  });

  test("either cancels an event or comes too late for its delivery", async () => {
    const agent = await receiver("com.race.*");
    const notbefore = new Date(Date.now() + 1200).toISOString();
    const ids: string[] = [];
    for (let i = 0; i < 20; i++)
      ids.push(
        ok(await admin.post("/events", cloudEvent(`race-${i}`, { type: "com.race.x", notbefore }))).event_id,
      );
    await settle(() => Date.now() >= Date.parse(notbefore) - 2);
    const statuses = await Promise.all(
      ids.map(async (id) => [id, (await admin.del(`/events/${id}`)).status] as const),
    );
    const late = statuses.filter(([, status]) => status !== 204).map(([id]) => id);
    const got = late.length ? (await receive(agent, late.length)).map(({ event_id }) => event_id) : [];
    expect(got.sort()).toEqual(late.sort());
    expect(ok(await agent.get("/delivery/poll")).deliveries).toEqual([]);
  });
});

const BATCH = { "content-type": "application/cloudevents-batch+json" };
