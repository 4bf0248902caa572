import { describe, expect, test } from "@jest/globals";
import { MODEL_CHARACTERS } from "../../lib/text/budget.ts";
import { newAgent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { connectMcp, REVISIONS } from "../support/mcp.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { use, useShared } from "../support/use.ts";
import { words } from "../support/words.ts";

const SCOPES = ["send", "receive", "memory:read", "memory:write"];
const MEMORY = { title: "Terms", content: "ACME pays within 30 days.", type: "semantic", scope: "agent" };

const server = await useShared("local");
const [mine, theirs] = [await makeWorld(server, "mine"), await makeWorld(server, "theirs")];
const agent = await newAgent(server, mine.admin, SCOPES);
const mcp = use(await connectMcp(server, agent.token));

const textsOf = ({ content }: object & { content?: unknown }) =>
  (content as { text: string }[]).map(({ text }) => text);
const raw = (message: unknown, headers: Record<string, string> = {}) =>
  agent.post(`${server.root}/mcp`, message, { accept: "application/json, text/event-stream", ...headers });
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

describe.each(REVISIONS)("the official client, revision %s", (revision) => {
  test("publishes, polls, remembers, searches and resumes", async () => {
    await using own = await connectMcp(server, agent.token, { revision });
    expect(own.client.getNegotiatedProtocolVersion()).toBe(revision);
    const type = `com.example.r${revision.replaceAll("-", "")}`;
    await own.call("interests_create", { agent_id: agent.id, event_type: type });
    const event = { specversion: "1.0", id: revision, source: "urn:test", type, data: { n: 1 } };
    expect(await own.call("events_publish", event)).toMatchObject({ status: "accepted" });
    const { deliveries } = await own.call("deliveries_poll", { wait: 30 });
    expect(deliveries).toMatchObject([{ payload: { id: revision, data: { n: 1 } } }]);
    expect(await own.call("deliveries_ack", { delivery_ids: [deliveries[0].id] })).toEqual({
      acknowledged: 1,
    });
    const { id } = await own.call("memories_create", { ...MEMORY, title: `Terms of ${revision}` });
    await settle(async () => {
      const { results } = await own.call("memories_search", { query: `Terms of ${revision}` });
      return results.some(({ memory }: { memory: { id: string } }) => memory.id === id);
    });
    await own.call("handoffs_save", { name: `work-${revision}`, payload: { next_action: "Ship it" } });
    expect(await own.call("handoffs_resume", { query: `work-${revision}` })).toContain("Ship it");
  });
});

test("null members of params are absent, and any Accept that allows both forms is fine", async () => {
  for (const more of [
    { method: "ping", params: null },
    { method: "tools/list", params: { cursor: null, _meta: null } },
    { method: "tools/call", params: { name: "runs_list", arguments: null } },
  ])
    expect(JSON.stringify((await raw({ ...PING, ...more })).body)).toContain("result");
  for (const accept of ["*/*", "application/*, text/*", "text/event-stream;q=0.5, application/json"])
    expect(await raw(PING, { accept })).toMatchObject({ status: 200 });
  expect((await raw(PING, { accept: "text/html" })).status).toBe(406);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x" } };
  const { body } = await raw({ ...PING, method: "initialize", params });
  expect(body).toMatchObject({ id: 1, error: { code: -32602 } });
});

describe("tools", () => {
  test("are operations with their schemas and what they do", async () => {
    await using whole = await connectMcp(server, agent.token, { query: "tools=all" });
    const { tools } = await whole.client.listTools();
    expect(tools.find(({ name }) => name === "memories_search")).toMatchObject({
      title: expect.any(String),
      description: expect.any(String),
      inputSchema: { type: "object", required: ["query"], properties: { query: { type: "string" } } },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    });
    const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
    expect(hints("deliveries_poll")).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(hints("runs_assign_step")).toMatchObject({ readOnlyHint: false, idempotentHint: true });
    expect(hints("outputs_delete")).toMatchObject({ destructiveHint: true, idempotentHint: true });
    expect(hints("memories_create")).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(JSON.stringify(tools)).not.toMatch(/"x-\w/);
  });

  test("are not shown to who may not use them, and refuse as over HTTP", async () => {
    await using reader = await connectMcp(server, await mine.tokenWith(["memory:read"]));
    const names = await reader.names();
    expect(names).toContain("memories_search");
    expect(names.filter((name) => /create|save|publish|poll|delete/.test(name))).toEqual([]);
    expect(await reader.refused("memories_create", MEMORY)).toMatchObject({
      code: "insufficient_scope",
      details: { required_scope: "memory:write" },
    });
    await using person = await connectMcp(server, mine.adminToken);
    expect(await person.names()).not.toContain("deliveries_poll");
  });

  test("can be had by domain or by name", async () => {
    await using few = await connectMcp(server, agent.token, { query: "tools=handoffs,events_publish" });
    const names = await few.names();
    expect(names.filter((name) => !name.startsWith("handoffs_"))).toEqual(["events_publish"]);
    expect(names.length).toBeGreaterThan(5);
    await expect(few.call("memories_list")).rejects.toMatchObject({ code: -32602 });
    expect(await agent.post(`${server.root}/mcp?tools=handoff`, PING)).toMatchObject(
      refusal(400, "validation_failed", { field: "tools", value: "handoff" }),
    );
  });

  test("are the usual ones if nobody chooses", async () => {
    const names = await mcp.names();
    expect(names).toEqual(expect.arrayContaining(["events_publish", "memories_create", "runs_position"]));
    expect(names).not.toContain("memories_list");
  });

  test("can be had by preset, and chosen by a header", async () => {
    await using sense = await connectMcp(server, agent.token, { query: "tools=sense" });
    expect(await sense.names()).toEqual(expect.arrayContaining(["deliveries_poll", "events_list"]));
    await expect(sense.call("memories_create", MEMORY)).rejects.toMatchObject({ code: -32602 });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const { body } = await raw(list, { "x-mcp-tools": "runs_list", "mcp-protocol-version": "2025-11-25" });
    const text = typeof body === "string" ? /^data: (.*)$/m.exec(body)?.[1] : JSON.stringify(body);
    expect(JSON.parse(text as string).result.tools).toMatchObject([{ name: "runs_list" }]);
    expect(await raw(PING, { "x-mcp-tools": "nothing" })).toMatchObject(
      refusal(400, "validation_failed", { field: "tools", value: "nothing" }),
    );
  });

  test("take the names that models guess, and fill in what most would repeat", async () => {
    const content = "# Pumps\nThe red lever starts the pump of hall seven.";
    const { id, ...made } = await mcp.call("memories_create", { text: content });
    expect(made).toEqual({ title: "Pumps", type: "semantic", scope: "agent" });
    await using person = await connectMcp(server, mine.adminToken);
    expect(await person.call("memories_create", { content })).toMatchObject({ scope: "institutional" });
    await settle(async () => {
      const { results } = await mcp.call("memories_search", { q: "red lever hall seven", top_k: 3 });
      return results.some(({ memory }: { memory: { id: string } }) => memory.id === id);
    });
    const handoff = {
      ...{ name: "guessed", next_action: "Oil it", decisions: ["Monthly"] },
      payload: '{"remaining": "All"}',
    };
    await mcp.call("handoffs_save", { handoff });
    const brief = await mcp.call("handoffs_resume", { handoff: "guessed" });
    expect(brief).toMatch(/Oil it[\s\S]*All[\s\S]*Monthly/);
    for (const name of ["oiling-a", "oiling-b"])
      await mcp.call("handoffs_save", { name, description: "Oiling of the large press." });
    const { candidates } = await settle(async () => {
      const answer = await mcp.call("handoffs_resume", { query: "oil the large press" });
      return answer.candidates?.length === 2 && answer;
    });
    for (const { score } of candidates) expect(String(score)).toMatch(/^0\.\d{1,3}$/);
    expect(await mcp.refused("handoffs_save", { name: "a", next_actoin: "Oil it" })).toMatchObject({
      message: expect.stringContaining("Did you mean next_action?"),
    });
    const twice = { name: "a", payload: { next_action: "Oil it" }, next_action: "Dry it" };
    expect(await mcp.refused("handoffs_save", twice)).toMatchObject({ details: { field: "next_action" } });
  });

  test("name what is missing, and what an event keeps without an effect", async () => {
    expect(await mcp.refused("memories_create", {})).toMatchObject({ message: "content is required." });
    expect(await mcp.refused("events_publish", { name: "a" })).toMatchObject({
      message: expect.stringMatching(/^type is required: a non-empty string/),
    });
    expect(await mcp.refused("events_publish", { type: "a", tags: ["b"] })).toMatchObject({
      message: expect.stringMatching(/^tags: expected .* Other fields go into `data`\.$/),
    });
    const event = { type: "com.example.remark", data: '{"n": 1}', to: "somebody" };
    const { content } = await mcp.client.callTool({ name: "events_publish", arguments: event });
    expect(content).toMatchObject([
      { text: expect.stringContaining("accepted") },
      { text: expect.stringMatching(/^Stored as extension attributes of the event: to\./) },
    ]);
    expect(await mcp.refused("handoffs_resume", { query: "xylophone" })).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("List your handoffs"),
    });
  });

  test("answer without nulls and what nobody can use, with the brief of a bundle", async () => {
    await mcp.call("memories_create", { content: "Hall nine has two doors." });
    const bundle = await mcp.call("bundles_assemble", { task: "doors of hall nine" });
    expect(bundle).toEqual({ id: expect.any(String), rendered_brief: expect.stringContaining("doors") });
    const result = await mcp.client.callTool({ name: "memories_search", arguments: { query: "hall nine" } });
    const text = (result.content as { text: string }[])[0]?.text as string;
    expect(text).not.toMatch(/null|tenant_id|agent_id/);
    expect(result).not.toHaveProperty("structuredContent");
    expect(JSON.parse(text).results[0].memory).toMatchObject({ content: "Hall nine has two doors." });
  });

  test("answer a bad argument with the envelope, an unknown name with the protocol's error", async () => {
    expect(await mcp.refused("memories_create", { ...MEMORY, type: "dream" })).toMatchObject({
      code: "validation_error",
      request_id: expect.any(String),
      details: { field: "type", value: "dream" },
    });
    await expect(mcp.call("memories_dream")).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/no tool memories_dream\. Similar: .*memories_create, /),
    });
    // In a path, only a number is accepted for its text.
    expect(
      await mcp.refused("outputs_get_version", { output_id: "nothing-like-it", version_num: 1 }),
    ).toMatchObject({ code: "not_found" });
    expect(await mcp.refused("specialists_unload", { name: { of: "an object" } })).toMatchObject({
      code: "validation_error",
      details: { field: "name", value: { of: "an object" } },
    });
  });

  test("that read say which arguments they ignore", async () => {
    expect(await mcp.client.callTool({ name: "memories_list", arguments: { query: "x" } })).toMatchObject({
      content: [
        { text: expect.stringContaining('"memories":[') },
        {
          text: expect.stringMatching(
            /^Ignored unknown arguments: query\. Arguments of \w+: offset, .*search/,
          ),
        },
      ],
    });
  });

  test("refuse arguments that they do not have with the right name", async () => {
    const run = await mcp.call("runs_create", { goal: "g", steps: [{ step_key: "a" }] });
    const done = { run_id: run.id, step_key: "a", mood: "Good." };
    expect(await mcp.refused("runs_complete_step", done)).toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(/mood is not a known field.*Allowed: run_id, .*what_makes_this_done/),
      details: { field: "mood" },
    });
    const { current_steps, ...rest } = await mcp.call("runs_position", { run_id: run.id });
    expect(JSON.stringify([current_steps, rest])).not.toContain('"completed"');
    for (const [tool, given, field, expected] of [
      ["runs_complete_step", { run_id: run.id, step_kye: "a" }, "step_kye", "step_key"],
      ["memories_forget", { memory: "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f" }, "memory", "id"],
      ["memories_search", { query: "a", filters: {} }, "filters", expect.any(String)],
      ["runs_create", { goal: "g", steps: [{ step_kye: "a" }] }, "steps.0.step_kye", "step_key"],
    ] as const)
      expect(await mcp.refused(tool, given)).toMatchObject({
        code: "validation_failed",
        details: { field, expected },
      });
    expect(await mcp.refused("handoffs_save", { name: "misplaced", next_steps_of: "It" })).toMatchObject({
      code: "validation_failed",
      details: { field: "next_steps_of" },
    });
    expect(await mcp.call("handoffs_list", { q: "misplaced" })).toEqual([]);
  });

  test("carry a call with a key out once", async () => {
    const create = (content: string) =>
      mcp.client.callTool({
        name: "memories_create",
        arguments: { ...MEMORY, content },
        _meta: { "sensorium/idempotency_key": "once" },
      });
    const [first, again] = [await create("One"), await create("One")];
    expect(again.content).toEqual(first.content);
    expect(await create("Two")).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"conflict"') }],
    });
  });

  test("take files and give long texts", async () => {
    const file_content = Buffer.from("# Alarms\n\nCall the duty engineer.").toString("base64");
    const upload = { filename: "alarms.md", mime_type: "text/markdown", file_content };
    const { document_id } = await mcp.call("documents_upload", upload);
    await settle(async () => (await mcp.call("documents_get", { document_id })).status === "stored");
    const body = 'Ünïcode "quoted"\n'.repeat(20_000);
    const saved = await mcp.call("outputs_save", { title: "Long", body });
    const get = (more: object = {}) =>
      mcp.client.callTool({ name: "outputs_get", arguments: { output_id: saved.id, ...more } });
    const [short, note, ...none] = textsOf(await get());
    expect(JSON.parse(short as string)).toMatchObject({ id: saved.id, title: "Long" });
    expect(JSON.parse(short as string).body).toMatch(/^Ünïcode "quoted"[\s\S]*… \(340,000 characters\)$/);
    expect(note).toMatch(
      /^Shortened: the result has \d{3},\d{3} characters\. Call outputs_get again with from_character 0 /,
    );
    expect(none).toEqual([]);
    let read = "";
    for (let from: string | undefined = "0"; from !== undefined; ) {
      const [more = "", where = ""] = textsOf(await get({ from_character: Number(from) }));
      expect(more.length).toBeLessThanOrEqual(MODEL_CHARACTERS);
      read += more;
      from = /Call outputs_get again with from_character (\d+) to read on\./.exec(where)?.[1];
    }
    expect(JSON.parse(read).body).toBe(body);
    await expect(get({ from_character: -1 })).rejects.toMatchObject({ code: -32602 });
  });

  test.each(["", "tools=deliveries"])("give a large event once, and shortened, with ?%s", async (query) => {
    const own = await newAgent(server, mine.admin, ["receive", "send"]);
    await using receiver = await connectMcp(server, own.token, { query });
    await using reader = await connectMcp(server, own.token);
    await reader.call("interests_create", { event_type: "com.example.large" });
    const rows = Array.from({ length: 900 }, (_, n) => ({ n, note: `MARK ${"y".repeat(500)}` }));
    await reader.call("events_publish", { type: "com.example.large", subject: "order/9", data: { rows } });
    const result = await settle(async () => {
      const polled = await receiver.client.callTool({ name: "deliveries_poll", arguments: { wait: 5 } });
      return textsOf(polled)[0]?.includes("MARK") && polled;
    });
    expect(JSON.stringify(result).length).toBeLessThan(2 * MODEL_CHARACTERS);
    const [short = "", note] = textsOf(result);
    const [{ id, event_id, lease, payload }] = JSON.parse(short).deliveries;
    expect([id, lease]).toEqual([expect.stringMatching(/^dlv/), expect.any(String)]);
    expect(payload).toMatchObject({ type: "com.example.large", subject: "order/9" });
    expect(payload.data.rows.at(-1)).toMatch(/^… \d+ more of 900$/);
    expect(note).toMatch(
      /Call events_get with the event_id of a delivery, with from_character 0 to read all/,
    );
    const asked = { event_id, from_character: 400_000 };
    const [rest] = textsOf(await reader.client.callTool({ name: "events_get", arguments: asked }));
    expect(rest).toContain("MARK");
  });
});

test("resources are memories, outputs, handoffs and bundles", async () => {
  const { resourceTemplates } = await mcp.client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(words`
    sensorium://memories/{id} sensorium://outputs/{id} sensorium://handoffs/{id} sensorium://bundles/{id}
    sensorium://runs/{id}`);
  const memory = await mcp.call("memories_create", { ...MEMORY, title: "Read me" });
  const output = await mcp.call("outputs_save", { title: "Notes", body: "# Notes\n" });
  const handoff = await mcp.call("handoffs_save", { name: "read-me", summary: "Halfway." });
  const bundle = await mcp.call("bundles_assemble", { query: "terms" });
  const read = async (uri: string) => (await mcp.client.readResource({ uri })).contents[0];
  expect(await read(`sensorium://memories/${memory.id}`)).toMatchObject({
    mimeType: "application/json",
    text: expect.stringContaining('"title":"Read me"'),
  });
  const markdown = (text: string) => ({ mimeType: "text/markdown", text: expect.stringContaining(text) });
  expect(await read(`sensorium://outputs/${output.id}`)).toMatchObject(markdown("# Notes\n"));
  expect(await read(`sensorium://handoffs/${handoff.id}`)).toMatchObject(markdown("Halfway."));
  expect(await read(`sensorium://bundles/${bundle.id}`)).toMatchObject(markdown("#"));
  const { resources } = await mcp.client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining([`sensorium://outputs/${output.id}`, `sensorium://handoffs/${handoff.id}`]),
  );
});

test("resources and all else of another tenant are not found", async () => {
  const id = await theirs.idOf("memory");
  expect(await mcp.refused("memories_get", { id })).toMatchObject({
    code: "not_found",
    details: { resource_type: "memory", resource_id: id },
  });
  for (const uri of [`sensorium://memories/${id}`, "sensorium://memories/nothing", "file:///etc/passwd"])
    await expect(mcp.client.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } });
});

test("the endpoint asks for a token, one message and POST", async () => {
  const { status, headers } = await fetch(`${server.root}/mcp`, { method: "POST", body: "{}" });
  const metadata = `${server.root}/.well-known/oauth-protected-resource/mcp`;
  expect([status, headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer realm="sensorium", resource_metadata="${metadata}"`,
  ]);
  await refused(agent.get(`${server.root}/mcp`), "method_not_allowed");
  await refused(raw([PING, PING]), "validation_failed");
  await refused(raw("{", { "content-type": "application/json" }), "validation_failed");
});

test("the endpoint answers below /v1 too, and counts a message as a request", async () => {
  const { id } = await newAgent(server, mine.admin);
  const body = { scopes: SCOPES, requests_per_minute: 50 };
  const fresh = api(server, ok(await mine.admin.post(`/agents/${id}/keys`, body)).key);
  const left = async () => Number((await fresh.post("/mcp", PING)).headers.get("x-ratelimit-remaining"));
  expect((await left()) - (await left())).toBe(1);
});

test("the endpoint serves only pages of its origin and of this machine", async () => {
  await refused(raw(PING, { origin: "https://evil.example" }), "forbidden");
  expect(await raw(PING, { origin: "http://localhost:6274" })).toMatchObject({ status: 200 });
  await refused(raw(PING, { origin: "ftp://localhost" }), "forbidden");
});
