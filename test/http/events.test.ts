import { describe, expect, test } from "@jest/globals";
import { CloudEvent, HTTP } from "cloudevents";
import { cloudEvent, fannedOut, firstAgent, newAgent, newReceiver, receive } from "../support/agents.ts";
import { type Api, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const admin = await firstAgent(server);
const { admin: user, tenant_slug } = server.credentials;
const orgAdmin = api(server, await signIn(server, user, tenant_slug));

const EVENT_ID = /^evt_[\w-]{21}$/;

const receiver = (event_type: string, more = {}) => newReceiver(server, admin, event_type, more);

describe("publishing by the SDK", () => {
  const everything = {
    ...{ id: "sdk-1", source: "https://example.com/a%20b", type: "com.sdk.sent", subject: "order/1" },
    ...{ time: "2026-01-31T09:30:00.000Z", dataschema: "https://example.com/schema" },
    ...{ datacontenttype: "application/json", comexampleext: "kept" },
    data: { text: "Grüße", list: [1, 2.5, null] },
  };

  test("structured mode keeps the event as it was sent", async () => {
    const agent = await receiver("com.sdk.sent");
    const { headers, body } = HTTP.structured(new CloudEvent({ ...everything, id: "sdk-structured" }));
    const published = await admin.post("/events", body, headers as Record<string, string>);
    const expected = { status: 202, body: { event_id: expect.stringMatching(EVENT_ID), status: "accepted" } };
    expect(published).toMatchObject(expected);
    const [delivery] = await receive(agent, 1);
    expect(delivery).toMatchObject({ event_id: published.body.event_id, attempt_count: 1 });
    expect(delivery.payload).toEqual({ specversion: "1.0", ...everything, id: "sdk-structured" });
  });

  test("binary mode: attributes from headers, data by its content type", async () => {
    const agent = await receiver("com.sdk.*");
    const { headers, body } = HTTP.binary(new CloudEvent({ ...everything, id: "sdk-binary" }));
    expect((await admin.post("/events", body, headers as Record<string, string>)).status).toBe(202);
    const [delivery] = await receive(agent, 1);
    expect(delivery.payload).toEqual({ specversion: "1.0", ...everything, id: "sdk-binary" });
  });

  test("batch mode: one result for each, in order", async () => {
    const agent = await receiver("com.batch.*");
    const good = (id: string) => new CloudEvent({ id, source: "/s", type: "com.batch.x", data: {} }).toJSON();
    const events = [good("b1"), { ...good("b2"), source: "no uri" }, good("b1"), "text", good("b3")];
    const answer = await admin.post("/events", JSON.stringify(events), BATCH);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject([
      { status: "accepted" },
      { status: "rejected", error: { code: "invalid_event", details: { field: "source", value: "no uri" } } },
      { status: "duplicate" },
      { status: "rejected", error: { code: "invalid_event", details: { field: "" } } },
      { status: "accepted" },
    ]);
    expect(answer.body[2].event_id).toBe(answer.body[0].event_id);
    const ids = (await receive(agent, 2)).map(({ payload }) => payload.id);
    expect(ids.sort()).toEqual(["b1", "b3"]);
  });
});

const BATCH = { "content-type": "application/cloudevents-batch+json" };
const BINARY = { "ce-specversion": "1.0", "ce-source": "/bin", "ce-type": "com.binary.sent" };

describe("binary mode", () => {
  test.each([
    ["text/plain", "Grüße", { data: "Grüße" }],
    ["application/xml", "<a/>", { data: "<a/>" }],
    ["application/vnd.acme+json; charset=utf-8", '{"a":1}', { data: { a: 1 } }],
    ["application/octet-stream", Buffer.from([0, 255, 1]), { data_base64: "AP8B" }],
    ["text/plain", Buffer.from([0xff, 0xfe]), { data_base64: "//4=" }],
    ["text/plain; charset=utf-16", Buffer.from([65, 0]), { data_base64: "QQA=" }],
  ])("%s", async (type, body, data) => {
    const id = `bin-${type}-${body}`.replaceAll(/[^\w-]/g, "");
    const headers = { ...BINARY, "ce-id": id, "content-type": type };
    const { event_id } = ok(await admin.post("/events", body, headers));
    const { payload } = ok(await admin.get(`/events/${event_id}`));
    expect(payload).toMatchObject({ ...data, datacontenttype: type, type: "com.binary.sent" });
  });

  test("takes JSON without a content type, as SDKs send it, for what a filter can look into", async () => {
    const body = Buffer.from('{"total": 120}');
    const { event_id } = ok(
      await admin.post("/events", body, { ...BINARY, "ce-id": "bin-untyped", "content-type": "" }),
    );
    expect(ok(await admin.get(`/events/${event_id}`)).payload.data).toEqual({ total: 120 });
  });

  // fetch takes a header as the Latin-1 characters of its bytes.
  const inUtf8 = (text: string) => Buffer.from(text).toString("latin1");
  test.each([
    ["percent-encoding, in quotes", '"Euro%20%E2%82%AC"', "Euro €"],
    ["UTF-8", inUtf8("Straße €😀"), "Straße €😀"],
    ["UTF-8, with percent-encoding", inUtf8("Straße%20€"), "Straße €"],
    ["UTF-8, with a percent sign", inUtf8("Größe 50%"), "Größe 50%"],
    ["Latin-1, as Python's http.client and Node send it", "Straße", "Straße"],
    ["Latin-1, with percent-encoding", "Straße%20x", "Straße x"],
  ])("takes a header in %s", async (name, given, subject) => {
    const headers = { ...BINARY, "ce-id": name.replaceAll(/\W/g, ""), "ce-subject": given };
    const { event_id } = ok(await admin.post("/events", undefined, headers));
    expect(ok(await admin.get(`/events/${event_id}`)).payload.subject).toBe(subject);
  });

  test.each(["data", "data_base64"])("data is the body, and no header: ce-%s", async (name) => {
    const headers = { ...BINARY, "ce-id": `bin-${name}`, [`ce-${name}`]: "AAEC" };
    const { status, body } = await admin.post("/events", undefined, headers);
    expect([status, body.error.code, body.error.details.field]).toEqual([400, "invalid_event", name]);
  });
});

describe("refusals leave nothing behind", () => {
  const big = "x".repeat(1_048_576);
  const structured = { "content-type": "application/cloudevents+json" };
  test.each(["application/json", "application/cloudevents+json"])("an array as %s", async (type) => {
    const answer = await admin.post("/events", [cloudEvent("r7")], { "content-type": type });
    expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_event"]);
    expect(answer.body.error.message).toContain("application/cloudevents-batch+json");
  });

  test.each([
    ["a missing attribute", { ...cloudEvent("r1"), type: undefined }, {}, 400, "invalid_event"],
    ["another specversion", cloudEvent("r2", { specversion: "0.3" }), {}, 400, "invalid_event"],
    ["a type of ours", cloudEvent("r3", { type: "service.run.started" }), {}, 400, "invalid_event"],
    ["a cited memory", cloudEvent("r4", { type: "memory.cited" }), {}, 400, "invalid_event"],
    ["an event over the limit", cloudEvent("r5", { data: big }), {}, 413, "payload_too_large"],
    ["no JSON", "{", structured, 400, "validation_failed"],
    ["another content type", "x", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ["a batch that is no array", "{}", BATCH, 400, "validation_failed"],
    ["a batch of 101", JSON.stringify(Array(101).fill(cloudEvent("r6"))), BATCH, 400, "validation_failed"],
  ])("%s", async (_, body, headers, status, code) => {
    const before = ok(await admin.get("/events?limit=1")).events[0]?.event_id;
    const answer = await admin.post("/events", body, headers);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(ok(await admin.get("/events?limit=1")).events[0]?.event_id).toBe(before);
  });
});

describe("the same id again", () => {
  test("is a duplicate, delivered once, and counted when it comes from elsewhere", async () => {
    const agent = await receiver("com.twice.*");
    const event = cloudEvent("twice", { type: "com.twice.x" });
    const first = await admin.post("/events", event);
    const again = await admin.post("/events", event);
    const elsewhere = await admin.post("/events", { ...event, source: "urn:other" });
    expect([first.status, again.status, elsewhere.status]).toEqual([202, 200, 200]);
    expect(again.body).toEqual({ event_id: first.body.event_id, status: "duplicate" });
    expect(elsewhere.body).toEqual({ ...again.body, differs: true });
    const page = await fannedOut(admin, first.body.event_id);
    const expected = { duplicate_sources: 1, deliveries: { pending: 1 }, payload: { source: "urn:test" } };
    expect(page).toMatchObject(expected);
    expect(await receive(agent, 1)).toHaveLength(1);
    expect(ok(await agent.get("/delivery/poll")).count).toBe(0);
  });

  test("published sixty-four times at once is accepted once", async () => {
    const event = cloudEvent("at-once");
    const answers = await Promise.all(Array.from({ length: 64 }, () => admin.post("/events", event)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(63);
  });

  test("with another content type under the same Idempotency-Key is another request", async () => {
    const sendAs = async (type: string, key: string) => {
      const headers = { ...BINARY, "ce-id": key, "content-type": type, "idempotency-key": key };
      return (await admin.post("/events", "1", headers)).status;
    };
    // In binary mode it says what the bytes are.
    const answer = [await sendAs("text/plain", "retyped"), await sendAs("application/json", "retyped")];
    expect(answer).toEqual([202, 409]);
  });
});

describe("reading events", () => {
  test("the page of an event shows its whole timeline", async () => {
    const agent = await receiver("com.story.*", { filter_expression: "n == 1" });
    const { event_id } = ok(await admin.post("/events", cloudEvent("story", { type: "com.story.x" })));
    const { deliveries } = ok(await agent.get("/delivery/poll?wait=30"));
    ok(await agent.post("/delivery/nack", { delivery_ids: [deliveries[0].id], delay_seconds: 0 }));
    await receive(agent, 1);
    const page = await fannedOut(admin, event_id);
    expect(page).toMatchObject({
      ...{ event_id, state: "matched", matched_count: 1, publisher_id: admin.id, park_reason: null },
      deliveries: { pending: 0, acknowledged: 1, dlq: 0 },
      timeline: [{ what: "published" }, { what: "matched", reason: "1 receiver" }],
      receivers: [{ agent_id: agent.id, state: "acknowledged", attempt_count: 2, matched: { feed_ids: [] } }],
    });
    const steps = page.receivers[0].timeline.map(({ what }: { what: string }) => what);
    expect(steps).toEqual(["matched", "handed_out", "nacked", "handed_out", "acknowledged"]);
    const [matched, received] = [page.timeline[1].at, page.receivers[0].timeline[0].at];
    expect(matched <= received && matched >= page.timeline[0].at).toBe(true);
    expect(page.receivers[0].matched.interest_ids).toHaveLength(1);
  });

  test("an event without a match says so, and is listed as unmatched", async () => {
    const { event_id } = ok(await admin.post("/events", cloudEvent("lonely", { type: "com.lonely.x" })));
    const page = await fannedOut(admin, event_id);
    expect(page).toMatchObject({ matched_count: 0, timeline: [{}, { what: "unmatched" }] });
    const { events } = ok(await admin.get("/events?unmatched=true&type=com.lonely.*"));
    expect(events.map((event: { event_id: string }) => event.event_id)).toEqual([event_id]);
  });

  test("the outcome is what its deliveries are now, and lists find the events that have it", async () => {
    const [first, second] = [await receiver("com.fate.*"), await receiver("com.fate.both")];
    const ids: Record<string, string> = {};
    for (const n of ["1", "2", "both", "none"]) {
      const type = n === "none" ? "com.doom.none" : n === "both" ? "com.fate.both" : "com.fate.one";
      const event = cloudEvent(`fate-${n}`, { type, source: "urn:fate" });
      ids[n] = ok(await admin.post("/events", event)).event_id;
      await fannedOut(admin, ids[n] as string);
    }
    const later = { notbefore: new Date(Date.now() + 3_600_000).toISOString(), source: "urn:fate" };
    ids.later = ok(await admin.post("/events", cloudEvent("fate-later", later))).event_id;
    const found = async (query: string, caller: Api = admin): Promise<string[]> => {
      const { events } = ok(await caller.get(`/events?source=urn:fate&${query}`));
      return events.map(({ payload }: { payload: { id: string } }) => payload.id.slice("fate-".length));
    };
    expect(await found("outcome=dead")).toEqual([]);
    expect(await found("outcome=pending")).toEqual(["later", "both", "2", "1"]);
    expect(await found("outcome=none")).toEqual(["none"]);
    // One is acknowledged by all, one by nobody, and one is a dead letter of one receiver and pending for the other.
    ok(await admin.patch(`/agents/${first.id}`, { retry_budget: 1 }));
    const { deliveries } = ok(await first.get("/delivery/poll?wait=30"));
    const of = (id: string) =>
      deliveries.flatMap((each: { id: string; event_id: string }) =>
        each.event_id === ids[id] ? each.id : [],
      );
    ok(await first.post("/delivery/ack", { delivery_ids: of("1") }));
    ok(await first.post("/delivery/nack", { delivery_ids: of("both"), reason: "no" }));
    expect(
      await settle(async () => (await found("outcome=dead")).length > 0 && found("outcome=dead")),
    ).toEqual(["both"]);
    expect(await found("outcome=pending")).toEqual(["later", "2"]);
    const { events } = ok(await admin.get("/events?source=urn:fate"));
    expect(events).toMatchObject([
      { outcome: "pending", deliveries: { pending: 0 }, state: "waiting" },
      { outcome: "none", deliveries: { pending: 0, acknowledged: 0, dlq: 0 }, state: "matched" },
      { outcome: "dead", deliveries: { pending: 1, acknowledged: 0, dlq: 1 } },
      { outcome: "pending", deliveries: { pending: 1, acknowledged: 0, dlq: 0 } },
      { outcome: "done", deliveries: { pending: 0, acknowledged: 1, dlq: 0 } },
    ]);
    expect(ok(await admin.get(`/events/${ids.both}`))).toMatchObject({
      outcome: "dead",
      deliveries: { dlq: 1 },
    });
    // Filters, pages and what a caller may see apply as to any list.
    expect(await found("outcome=pending&type=com.fate.*")).toEqual(["2"]);
    expect(await found("outcome=pending", second)).toEqual([]);
    expect(await found("outcome=dead", second)).toEqual(["both"]);
    const page = ok(await admin.get("/events?source=urn:fate&outcome=pending&limit=1"));
    expect(await found(`outcome=pending&limit=1&cursor=${page.next_cursor}`)).toEqual(["2"]);
  });

  test("filters and pages", async () => {
    for (const n of [1, 2, 3, 4, 5]) {
      const more = { type: `com.paged.${n % 2 ? "odd" : "even"}`, source: "urn:paged", subject: `s/${n}` };
      ok(await admin.post("/events", cloudEvent(`paged-${n}`, more)));
    }
    const ids = async (query: string) => {
      const { events, next_cursor } = ok(await admin.get(`/events?${query}`));
      return [events.map(({ payload }: { payload: { id: string } }) => payload.id), next_cursor] as const;
    };
    const [latest, cursor] = await ids("source=urn:paged&limit=2");
    expect(latest).toEqual(["paged-5", "paged-4"]);
    const [next, second] = await ids(`source=urn:paged&limit=2&cursor=${cursor}`);
    expect(next).toEqual(["paged-3", "paged-2"]);
    expect(await ids(`source=urn:paged&limit=2&cursor=${second}`)).toEqual([["paged-1"], null]);
    expect(await ids("type=com.paged.odd")).toEqual([["paged-5", "paged-3", "paged-1"], null]);
    expect(await ids("type=com.paged.*&subject=s/2")).toEqual([["paged-2"], null]);
    expect(await ids("type=com.*.even&limit=1")).toEqual([["paged-4"], expect.any(String)]);
    expect(await ids("id=paged-3")).toEqual([["paged-3"], null]);
    expect(await ids("source=urn:paged&since=2100-01-01T00:00:00Z")).toEqual([[], null]);
    const answer = await ids("source=urn:paged&since=2000-01-01T00:00:00Z&limit=5");
    expect(answer).toEqual([expect.any(Array), null]);
  });

  test("without the service's own, the pages are as full as with them", async () => {
    const watcher = await newAgent(server, admin);
    ok(await watcher.post(`/agents/${watcher.id}/interests`, { event_type: "service.memory.*" }));
    for (const n of [1, 2, 3]) {
      ok(await admin.post("/events", cloudEvent(`between-${n}`, { type: "com.between" })));
      const memory = { title: `Between ${n}`, content: `${n}`, type: "semantic", scope: "institutional" };
      ok(await admin.post("/memories", memory));
    }
    const types = async (query: string) => {
      const { events, next_cursor } = ok(await admin.get(`/events?${query}`));
      return [events.map(({ payload }: { payload: { type: string } }) => payload.type), next_cursor] as const;
    };
    await settle(async () => (await types("type=service.memory.created"))[0].length === 3);
    const [first, cursor] = await types("include_service=false&limit=2");
    expect(first).toEqual(["com.between", "com.between"]);
    expect((await types(`include_service=false&limit=1&cursor=${cursor}`))[0]).toEqual(["com.between"]);
    expect((await types("include_service=false&type=service.*"))[0]).toEqual([]);
    expect((await types("include_service=false&type=com.between"))[0]).toHaveLength(3);
    expect((await types("limit=6"))[0]).toContain("service.memory.created");
    const answer = (await types("include_service=false&unmatched=true&limit=3"))[0];
    expect(answer).not.toContain("service.memory.created");
    const test = (body: object, query = "") =>
      watcher.post(`/agents/${watcher.id}/interests:test${query}`, body).then(ok);
    const tested = async (event_type: string, query?: string) =>
      (await test({ event_type }, query)).results.map(({ type }: { type: string }) => type);
    expect(await tested("com.*")).not.toContain("service.memory.created");
    expect(await tested("com.*", "?include_service=true")).toContain("service.memory.created");
    expect(await tested("service.*")).toContain("service.memory.created");
  });

  test.each([
    ["type=[oops", "type", "validation_error"],
    ["cursor=oops", "cursor", "validation_failed"],
    ["since=yesterday", "since", "validation_failed"],

    ["unmatched=perhaps", "unmatched", "validation_failed"],
  ])("%s is refused", async (query, field, code) => {
    const { status, body } = await admin.get(`/events?${query}`);
    expect([status, body.error.code, body.error.details.field]).toEqual([400, code, field]);
  });

  test("visibility", async () => {
    const sender = await newAgent(server, admin, ["send"]);
    const other = await newAgent(server, admin, ["send"]);
    const reader = await newAgent(server, admin, ["receive"]);
    const neither = await newAgent(server, admin, ["memory:read"]);
    ok(await reader.post(`/agents/${reader.id}/interests`, { event_type: "com.seen.x" }));
    const seen = ok(await sender.post("/events", cloudEvent("seen", { type: "com.seen.x" }))).event_id;
    const unseen = ok(await sender.post("/events", cloudEvent("unseen", { type: "com.seen.y" }))).event_id;
    await fannedOut(admin, seen);
    await fannedOut(admin, unseen);
    const listed = async (caller: Api) =>
      ok(await caller.get("/events?type=com.seen.?")).events.map(
        ({ event_id }: { event_id: string }) => event_id,
      );
    expect(await listed(sender)).toEqual([unseen, seen]);
    expect(await listed(other)).toEqual([]);
    expect(await listed(reader)).toEqual([seen]);
    expect(await listed(orgAdmin)).toEqual([unseen, seen]);
    expect((await reader.get(`/events/${seen}`)).body.receivers).toBeUndefined();
    expect((await reader.get(`/events/${unseen}`)).status).toBe(404);
    expect((await other.get(`/events/${seen}`)).status).toBe(404);
    expect((await neither.get("/events")).body.error).toMatchObject({ code: "insufficient_scope" });
  });

  test("only a parked event can be retried", async () => {
    const { event_id } = ok(await admin.post("/events", cloudEvent("not-parked")));
    const { status, body } = await admin.post(`/events/${event_id}/retry`);
    expect([status, body.error.code]).toEqual([409, "conflict"]);
    expect((await admin.post("/events/evt_absent/retry")).status).toBe(404);
  });
});
