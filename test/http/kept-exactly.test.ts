import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, receive } from "../support/agents.ts";
import type { Answer, Json } from "../support/http.ts";
import { connectMcp } from "../support/mcp.ts";
import { memory } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import { deliver, order, register, SHOP, send, serviceHeaders } from "../support/webhooks.ts";

const TEXT =
  'a\u0000b\u0001 \ud83d\ude00 \u2028 \ufeff \uffff é e\u0301 \r\n "quoted" \\ $ . __proto__ </script>';

/** The part that names and titles may have. */
const LABEL = TEXT.replace(/\p{Cc}+/gu, " ");

/** JSON that stores, parsers or languages may corrupt; numbers are kept as doubles. */
const NASTY = `{
  "numbers": [9007199254740993, -9007199254740993, 1e21, 123456789012345678901234567890, 0.1234567890123456789,
    5e-324, 1.7976931348623157e308, 1e-400, 0.1, 1.0, 100, -1.5],
  "text": ${JSON.stringify(TEXT)}, "long": "${"x".repeat(30_000)}",
  "$where": 1, "$set": {"$inc": {"a": 1}}, "a.b": {"c.d": [1]}, "": {"": ""}, ${JSON.stringify(TEXT)}: 1,
  "__proto__": {"polluted": true}, "constructor": {"prototype": {"x": 1}}, "toString": null, "length": 3,
  "hasOwnProperty": 1, "_id": "x", "tenant_id": "tn_other", "id": "y", "then": "z", "toJSON": {"a": 1},
  "10": 1, "2": [], "nothing": null, "empty": {}, "nested": ${"[".repeat(500)}1${"]".repeat(500)},
  "date": "2026-01-01T00:00:00Z", "$date": "2026-01-01", "mixed": [null, [], {}, [[]], true, "", 0]
}`;
const KEPT = JSON.stringify(JSON.parse(NASTY));
const json = { "content-type": "application/json" };

const server = await useShared();
const agent = await firstAgent(server);
ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.*" }));

const read = async (path: string): Promise<Json> => ok(await agent.get(path));
const write = async (path: string, body: string): Promise<Json> => ok(await agent.post(path, body, json));
const remember = (fields: string) =>
  write("/memories", `{"title": "T", "content": "C", "type": "semantic", "scope": "agent", ${fields}}`);
const event = (data: string) =>
  `{"specversion": "1.0", "id": "${randomUUID()}", "type": "com.nasty", "source": "/x", "data": ${data}}`;
const same = (value: unknown) => expect(JSON.stringify(value)).toBe(KEPT);

describe("free JSON is read as it was written", () => {
  test("in an event's data, structured, binary and in a batch, and in its delivery", async () => {
    const binary = {
      ...{ "ce-specversion": "1.0", "ce-type": "com.nasty", "ce-source": "/x", "ce-id": randomUUID() },
    };
    const batch = { "content-type": "application/cloudevents-batch+json" };
    const { event_id } = await write("/events", event(NASTY));
    ok(await agent.post("/events", NASTY, { ...json, ...binary }));
    ok(await agent.post("/events", `[${event(NASTY)}]`, batch));
    same((await read(`/events/${event_id}`)).payload.data);
    const deliveries = await receive(agent, 3);
    for (const { payload } of deliveries) same(payload.data);
  });

  test("in a dead letter, and in what is replayed of it", async () => {
    const type = `com.dead.${randomUUID()}`;
    ok(await agent.patch(`/agents/${agent.id}`, { retry_budget: 1 }));
    await write("/events", event(NASTY).replace("com.nasty", type));
    const { deliveries } = await read("/delivery/poll?wait=30");
    ok(await agent.post("/delivery/nack", { delivery_ids: [deliveries[0].id] }));
    const { items } = await read("/delivery/dlq");
    same(items[0].payload.data);
    ok(await agent.post(`/delivery/dlq/${items[0].id}/replay`));
    const [{ payload }] = await receive(agent, 1);
    same(payload.data);
    ok(await agent.patch(`/agents/${agent.id}`, { retry_budget: null }));
  });

  test("in a webhook's event, and in one that cannot be mapped", async () => {
    const hook = await register(agent, { ...SHOP, source: "nasty" });
    const { body } = await send(hook, `{"what": "paid", "it": ${NASTY}}`);
    same((await read(`/events/${body.event_id}`)).payload.data.it);
    expect((await send(hook, `{"it": ${NASTY}}`)).body).toMatchObject({ status: "dead_lettered" });
    same((await read("/delivery/dlq")).items[0].payload.it);
  });

  test("in a memory's metadata, written at once, changed, and in a batch", async () => {
    const { id, metadata } = await remember(`"metadata": ${NASTY}`);
    same(metadata);
    same((await read(`/memories/${id}`)).metadata);
    const other = await remember('"metadata": {}');
    ok(await agent.patch(`/memories/${other.id}`, `{"metadata": ${NASTY}}`, json));
    same((await read(`/memories/${other.id}`)).metadata);
    const many = `{"title": "T", "content": "C", "type": "semantic", "scope": "agent", "metadata": ${NASTY}}`;
    const { results } = await write("/memories/batch", `{"memories": [${Array(30).fill(many).join()}]}`);
    for (const { memory } of results) same(memory.metadata);
    const related = `{"target_memory_id": "${id}", "relationship_type": "related_to", "metadata": ${NASTY.replace("x".repeat(30_000), "x")}}`;
    await write(`/memories/${other.id}/relationships`, related);
    const [edge] = (await read(`/memories/${other.id}/relationships`)).relationships;
    expect(JSON.stringify(edge.metadata)).toBe(KEPT.replace("x".repeat(30_000), "x"));
  });

  test("in an output's metadata, and in a handoff's payload", async () => {
    const { id } = await write("/outputs", `{"title": "O", "body": "# O", "metadata": ${NASTY}}`);
    same((await read(`/outputs/${id}`)).metadata);
    const saved = await write("/handoffs", `{"name": "nasty", "payload": ${NASTY}}`);
    same(saved.payload);
    same((await read(`/handoffs/${saved.id}`)).payload);
  });
});

test("text is read as it was written in memories, outputs, exemplars, handoffs, templates, runs and interests", async () => {
  const long = `${TEXT}${"y".repeat(20_000)}`;
  const memory = await remember(`"title": ${JSON.stringify(LABEL)}, "content": ${JSON.stringify(long)}`);
  expect(await read(`/memories/${memory.id}`)).toMatchObject({ title: LABEL, content: long });
  const large = `${TEXT}${"z".repeat(1_048_576)}`;
  const output = ok(await agent.post("/outputs", { title: LABEL, body: large }));
  expect(await read(`/outputs/${output.id}`)).toMatchObject({ title: LABEL, body: large });
  const content = large.slice(0, 1_000_000);
  const exemplar = ok(await agent.post("/exemplars", { display_name: LABEL, filename: "a.md", content }));
  const extracted = await settle(async () => {
    const { extracted_text } = await read(`/exemplars/${exemplar.id}`);
    return extracted_text;
  });
  expect(extracted).toBe(content);
  const handoff = ok(await agent.post("/handoffs", { name: LABEL, summary: TEXT, artifacts: [TEXT] }));
  expect(await read(`/handoffs/${handoff.id}`)).toMatchObject({
    ...{ name: LABEL, summary: TEXT, artifacts: [TEXT] },
  });
  const step = { step_key: "a", title: LABEL, instructions: TEXT, role: TEXT, reference_note: TEXT };
  const made = {
    ...{ name: LABEL, slug: "nasty", goal_template: TEXT },
    steps: [{ ...step, completion_mode: "attestation" }],
  };
  ok(await agent.post("/process-templates", made));
  expect(await read("/process-templates/nasty")).toMatchObject({
    ...{ name: LABEL, goal_template: TEXT, steps: [step] },
  });
  const goal = { goal: TEXT, success_criteria: [TEXT], ambiguity_score: 0.12345678901234568, steps: [step] };
  const run = ok(await agent.post("/runs", goal));
  expect(await read(`/runs/${run.id}`)).toMatchObject(goal);
  ok(await agent.post(`/runs/${run.id}/steps/start`, { step_key: "a", notes: TEXT }));
  const attempted = await read(`/runs/${run.id}`);
  expect(attempted.steps[0].attempts[0].notes).toBe(TEXT);
  const pointer = { uri: TEXT, display_name: LABEL, native_id: TEXT, provider: TEXT };
  ok(await agent.post(`/runs/${run.id}/artifacts`, { kind: TEXT, pointer }));
  expect((await read(`/runs/${run.id}/artifacts`)).artifacts[0]).toMatchObject({ kind: TEXT, pointer });
  const filter_expression = `data.a == ${JSON.stringify("é \ud83d\ude00 $ . <")}`;
  const interest = { event_type: "x.*", filter_expression };
  const { id } = ok(await agent.post(`/agents/${agent.id}/interests`, interest));
  expect(await read(`/agents/${agent.id}/interests/${id}`)).toMatchObject(interest);
});

describe("a number that no double holds is refused, and nothing is kept", () => {
  const batch = { "content-type": "application/cloudevents-batch+json" };
  const twenty =
    `{"title": "T", "content": "${"x".repeat(30_000)}", "type": "semantic", "scope": "agent"},`.repeat(20);
  test.each<[string, string, string, string, Record<string, string>]>([
    ["an event", "/events", event('{"total": 1e400}'), "data.total", {}],
    ["a batch", "/events", `[${event("1e400")}]`, "0.data", batch],
    ["a long batch", "/events", `[${event(`["${"x".repeat(600_000)}", 1e400]`)}]`, "0.data.1", batch],
    ["a memory", "/memories", '{"metadata": {"a": [0, -1e309]}}', "metadata.a.1", {}],
    ["many memories", "/memories/batch", `{"memories": [${twenty} 1e309]}`, "memories.20", {}],
    ["an output", "/outputs", '{"body": "# O", "metadata": {"a": 1e400}}', "metadata.a", {}],
    ["a handoff", "/handoffs", `{"name": "n", "payload": {"a": ${"9".repeat(400)}}}`, "payload.a", {}],
    ["a run", "/runs", '{"goal": "g", "ambiguity_score": 1e400}', "ambiguity_score", {}],
  ])("in %s", async (_, path, body, field, headers) => {
    const answer: Answer = await agent.post(path, body, { ...json, ...headers });
    expect(answer).toMatchObject(refusal(400, "validation_failed", { field }));
    expect(answer.body.error.message).toContain(`beyond the range of a double (1.8e308) at ${field}`);
  });

  test("in an event in binary mode", async () => {
    const headers = { ...json, "ce-specversion": "1.0", "ce-type": "com.x", "ce-source": "/x", "ce-id": "b" };
    const refused = await agent.post("/events", '{"a": 1e400}', headers);
    expect(refused).toMatchObject(refusal(400, "invalid_event", { field: "data.a" }));
  });

  test("in a tool's arguments", async () => {
    const call =
      '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memories_search", "arguments": {"limit": 1e400}}}';
    const answer = await agent.post(`${server.root}/mcp`, call, {
      ...json,
      accept: "application/json, text/event-stream",
    });
    expect(answer).toMatchObject(refusal(400, "validation_failed", { field: "params.arguments.limit" }));
    await using mcp = await connectMcp(server, agent.token);
    expect(await mcp.names()).toContain("memories_search");
  });

  test("but a webhook with one is a dead letter with all of its text", async () => {
    const hook = await register(agent, { ...SHOP, source: "large" });
    const body = order().replace("}", ', "total": 1e400}');
    expect((await send(hook, body)).body).toMatchObject({ status: "dead_lettered" });
    expect((await read("/delivery/dlq")).items[0]).toMatchObject({
      payload: body,
      dlq_reason: expect.stringContaining("a number beyond the range of a double (1.8e308) at total"),
    });
  });
});

describe("names and titles refuse what would act on a terminal or reverse the text around it", () => {
  const memory = { content: "C", type: "semantic", scope: "agent" };
  test.each([
    ["/agents", { delivery_mode: "poll" }, "name"],
    ["/memories", memory, "title"],
    ["/outputs", { body: "B" }, "title"],
    ["/handoffs", { summary: "S" }, "name"],
    ["/exemplars", { filename: "a.md", content: "C" }, "display_name"],
    ["/exemplars", { display_name: "A", content: "C" }, "filename"],
    ["/projects", { key: "labels" }, "name"],
    ["/channels", {}, "name"],
  ])("of %s: %j %s", async (path, body, field) => {
    for (const bad of ["\u001b]52;c;aGk=\u0007", "two\nlines", "\u009b2J", "a\u202efdp"]) {
      const { status, body: refused } = await agent.post(path, { ...body, [field]: bad });
      expect({ status, refused }).toMatchObject({ status: 400, refused: { error: { details: { field } } } });
    }
  });
});

const other = await makeWorld(server, "digits");
/** Whose deliveries are its own. */
const reader = { ...other.agent, id: other.agentId, token: other.agentToken };
const LONG = "820982911946154508";
const eventOf = (type: string, rest: string) =>
  `{"specversion":"1.0","id":"${randomUUID()}","source":"/till","type":"${type}",${rest}}`;
const text = async (path: string) => {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${reader.token}` },
  });
  return response.text();
};
const publish = async (body: string, headers: Record<string, string> = json) =>
  ok(await reader.post("/events", body, headers)).event_id as string;
const log = async (id: string) => ok(await reader.get(`/ingest/webhooks/${id}/requests`)).requests;

test("integers that a double cannot hold keep their digits in every mode, to the reader, the filter and the delivery", async () => {
  const type = "com.long.sold";
  const filter_expression = `data.order.id == ${LONG}`;
  ok(await reader.post(`/agents/${reader.id}/interests`, { event_type: type, filter_expression }));
  const data = `{"order":{"id":${LONG}},"n":[${LONG}]}`;
  const binary = {
    ...{ "ce-specversion": "1.0", "ce-type": type, "ce-source": "/till", "ce-id": randomUUID() },
    ...json,
  };
  const ids = [await publish(eventOf(type, `"data":${data}`)), await publish(data, binary)];
  const batch = `[${eventOf(type, `"data":${data}`)},${eventOf(type, `"data":{"order":{"id":820982911946154509}}`)}]`;
  const answers = ok(
    await reader.post("/events", batch, { "content-type": "application/cloudevents-batch+json" }),
  );
  ids.push(answers[0].event_id);
  for (const id of ids) expect(await text(`/events/${id}`)).toContain(`"n":[${LONG}]`);
  const got: string[] = [];
  await settle(async () => {
    got.push(...((await text("/delivery/poll?wait=1")).match(/evt_[\w-]+(?=","payload)/g) ?? []));
    return got.length >= 3;
  });
  expect(new Set(got)).toEqual(new Set(ids));
  const tried = ok(
    await reader.post(`/agents/${reader.id}/interests:test`, { event_type: type, filter_expression }),
  );
  expect(tried).toMatchObject({ tested: expect.any(Number), matched: 3 });
});

test("integers that a double cannot hold identify an eventOf of a webhook, and reach its mapping", async () => {
  const hook = await register(reader, {
    ...SHOP,
    source: "long",
    mapping: { entity: "order", action: "sold", id: "/id" },
  });
  const [first, second] = [
    await send(hook, `{"id":${LONG}}`, json),
    await send(hook, '{"id":820982911946154509}', json),
  ];
  expect([first.body.status, second.body.status]).toEqual(["accepted", "accepted"]);
  expect(await text(`/events/${first.body.event_id}`)).toContain(`{"id":${LONG}}`);
  expect(await text(`/events/${first.body.event_id}`)).toContain(`${hook.id}:${LONG}"`);
});

test("filters see JSON in base64, and null next to it is no data", async () => {
  const type = "com.base64.measured";
  const data_base64 = Buffer.from('{"level": 9}').toString("base64");
  const rest = `"datacontenttype":"application/json","data_base64":"${data_base64}"`;
  await publish(eventOf(type, rest));
  await publish(eventOf(type, `"data":null,${rest}`));
  const given = { event_type: type, filter_expression: "data.level > 8" };
  expect(ok(await reader.post(`/agents/${reader.id}/interests:test`, given))).toMatchObject({
    matched: 2,
    hints: [],
  });
});

test("escapes of attributes that are not UTF-8 are refused, by the API and by webhooks", async () => {
  const hook = await register(reader, { name: "Events", source: "escapes", mapping: "cloudevents" });
  const headers = (subject: string) => ({
    ...{ "ce-specversion": "1.0", "ce-type": "com.escaped", "ce-source": "/x", "ce-id": randomUUID() },
    ...json,
    "ce-subject": subject,
  });
  for (const subject of ["%E4", "K%C3%B6ln%FF", "%ED%A0%80"]) {
    await refused(reader.post("/events", "{}", headers(subject)), "invalid_event", "subject");
    const dead = await deliver(hook.url, "{}", serviceHeaders(hook.signing_secret, "{}", headers(subject)));
    expect(dead.body).toMatchObject({ status: "dead_lettered" });
  }
  await settle(async () => (await log(hook.id)).length === 3);
  expect((await log(hook.id))[0].reason).toMatch(/subject: expected percent-escapes of UTF-8/);
  for (const [subject, read] of [
    ["K%C3%B6ln", "Köln"],
    ["5%", "5%"],
    ["5% K%C3%B6ln", "5% Köln"],
  ] as const) {
    const id = await publish("{}", headers(subject));
    expect(ok(await reader.get(`/events/${id}`)).payload.subject).toBe(read);
  }
});

test("a body with too many values is over a limit, and not called invalid", async () => {
  const body = `{"samples":[${"1,".repeat(110_000)}1]}`;
  const refused = await reader.post("/events", eventOf("com.many", `"data":${body}`), json);
  expect(refused).toMatchObject(refusal(413, "payload_too_large", { max_values: 100_000 }));
  const binary = { "content-type": "application/json", "ce-specversion": "1.0", "ce-type": "com.many" };
  const headers = { ...binary, "ce-source": "/many", "ce-id": "many" };
  expect(await reader.post("/events", body, headers)).toMatchObject(refusal(413, "payload_too_large"));
  const hook = await register(reader, { ...SHOP, source: "many" });
  await send(hook, body, json);
  await settle(async () => (await log(hook.id)).length === 1);
  expect((await log(hook.id))[0].reason).toMatch(/over the limit for JSON/);
});

/** Half a character: what is left of "😀" where somebody cut a text in the middle of it. */
const HALF = "so glad \ud83d";

const writer = await newAgent(server, agent, ["send", "receive", "memory:read", "memory:write"]);

describe("half of a character", () => {
  const MANY = Array.from({ length: 60 }, () => memory({ content: "x".repeat(10_000) }));

  test.each<[string, string, object, string]>([
    ["a field", "/memories", memory({ title: HALF }), "title"],
    [
      "free fields",
      "/memories",
      memory({ metadata: { notes: ["whole", { a: HALF }] } }),
      "metadata.notes.1.a",
    ],
    ["a key", "/memories", memory({ metadata: { [HALF]: 1 } }), "metadata"],
    ["a list", "/memories/batch", { memories: [memory(), memory({ content: HALF })] }, "memories.1.content"],
    ["a long list", "/memories/batch", { memories: [...MANY, memory({ title: HALF })] }, "memories.60.title"],
    ["a long text", "/outputs", { body: `${"😀".repeat(50_000)}${HALF}` }, "body"],
    ["a field next to one", "/outputs", { title: HALF, body: "# A" }, "title"],
    ["a query", "/memories/search", { query: HALF }, "query"],
    ["a payload", "/handoffs", { name: "half", payload: { next_action: HALF } }, "payload.next_action"],
  ])("in %s is refused, and nothing is kept", async (_, path, body, field) => {
    const totals = async () =>
      Promise.all(["/memories", "/outputs"].map(async (each) => ok(await writer.get(each)).total));
    const before = await totals();
    await refused(writer.post(path, body), "validation_failed", { field });
    expect(await totals()).toEqual(before);
  });

  test("in a tool's arguments is refused in the same words", async () => {
    await using mcp = await connectMcp(server, writer.token);
    const refused = await mcp.refused("memories_create", memory({ title: HALF }));
    expect(refused).toMatchObject({ code: "validation_failed", details: { field: "title" } });
  });

  test("in an event's data is the publisher's, and arrives as it was sent", async () => {
    ok(await writer.post(`/agents/${writer.id}/interests`, { event_type: "com.half" }));
    const event = cloudEvent("half", { type: "com.half", data: { said: HALF } });
    ok(await writer.post("/events", event));
    const [{ payload }] = await receive(writer, 1);
    expect(payload).toEqual(event);
  });

  test("written as two escapes a whole one is kept", async () => {
    const whole = ok(await writer.post("/memories", memory({ title: "whole" })));
    const body = String.raw`{"title": "glad \ud83d\ude00", "content": "\uD83D\uDE00"}`;
    const answer = ok(
      await writer.patch(`/memories/${whole.id}`, body, { "content-type": "application/json" }),
    );
    expect(answer).toMatchObject({ title: "glad 😀", content: "😀" });
  });

  test("no error quotes half of one, wherever it cuts a long text", async () => {
    const long = `x${"😀".repeat(150)}`;
    const { id } = ok(await writer.post("/memories", memory()));
    for (const answer of [
      await writer.post("/handoffs/resume", { query: long }),
      await writer.post(`/memories/${id}/relationships`, { target_memory_id: id, relationship_type: long }),
      await writer.get(`/memories?cursor=${encodeURIComponent(long)}`),
    ]) {
      const { message, details } = answer.body.error;
      for (const quoted of [message, ...Object.values(details)].filter((each) => typeof each === "string"))
        expect(quoted.isWellFormed()).toBe(true);
    }
  });
});
