import type { ServerResponse } from "node:http";
import { afterAll, expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { itself, textFile } from "../support/documents.ts";
import { ANY_RESULT, connectMcp, type McpClient, TASKS } from "../support/mcp.ts";
import { newRun } from "../support/runs.ts";
import { startServer } from "../support/server.ts";
import { serving } from "../support/serving.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";

/** What the converter has not answered yet. */
const converting: ServerResponse[] = [];

const SCOPES = ["send", "receive", "memory:read", "memory:write"];
const QUESTION = { title: "Refund order 1042?", question: "The cup is broken." };
const NOT_FOUND = { code: -32602, message: "Task not found." };

const converter = await serving((_, response) => void converting.push(response));
const converted = { DOCUMENT_CONVERTER: "tika", DOCUMENT_CONVERTER_URL: converter.url };
const env = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", ...converted };
const server = await startServer({ env });
const [mine, theirs] = [await makeWorld(server, "mine"), await makeWorld(server, "theirs")];
const agent = await newAgent(server, mine.admin, SCOPES);
const mcp = await connectMcp(server, agent.token, { tasks: true });
afterAll(async () => {
  await mcp.client.close();
  await server.stop();
  await converter.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests assert on shapes that the type checker cannot know
type Any = any;

/** Calls a tool, and gives its result or its task. */
const begin = (name: string, args: object, of = mcp): Promise<Any> =>
  of.client.request({ method: "tools/call", params: { name, arguments: args } }, ANY_RESULT);
const send = (method: string, taskId: unknown, of = mcp): Promise<Any> =>
  of.client.request({ method: `tasks/${method}`, params: { taskId } }, ANY_RESULT);
const look = (taskId: unknown, of = mcp) => send("get", taskId, of);
const ended = (taskId: string) =>
  settle(async () => {
    const task = await look(taskId);
    return task.status !== "working" && task;
  });
const answer = async (id: string, choice = "approve") =>
  ok(await mine.admin.post(`/approvals/${id}/answer`, { choice }));
const approvalOf = ({ taskId }: { taskId: string }) => taskId.split(".")[1] as string;

/** A file that the converter reads. */
const scan = () => ({ ...textFile(), filename: `${textFile().filename}.rtf`, mime_type: "application/rtf" });
/** Begins to ingest a scan, and gives its task with what the converter waits for. */
async function uploaded() {
  const task = await begin("documents_upload", scan());
  await settle(() => converting.length > 0);
  return { task, response: converting.shift() as ServerResponse };
}

test("an approval is a task until it is answered, for two clients and over a restart", async () => {
  const task = await begin("approvals_ask", QUESTION);
  const id = approvalOf(task);
  expect(task).toMatchObject({ isTask: true, status: "working", ttlMs: null });
  expect(task.statusMessage).toBe(`Approval ${id}: open.`);
  expect(task.pollIntervalMs).toBeGreaterThanOrEqual(1000);
  const { created_at } = ok(await agent.get(`/approvals/${id}`));
  expect([task.createdAt, task.lastUpdatedAt]).toEqual([created_at, created_at]);
  await using other = await connectMcp(server, agent.token, { tasks: true });
  const { isTask, content, _meta, ...shown } = task;
  expect(await look(task.taskId, other)).toMatchObject({ ...shown, pollIntervalMs: expect.any(Number) });
  await server.restart();
  expect(await look(task.taskId)).toMatchObject({ status: "working" });
  const answered = await answer(id);
  for (const client of [mcp, other]) {
    const done = await look(task.taskId, client);
    expect(done).toMatchObject({ taskId: task.taskId, status: "completed", createdAt: created_at });
    expect(done.lastUpdatedAt).toBe(answered.settled_at);
    expect(done.result.structuredContent).toMatchObject({ id, status: "answered", choice: "approve" });
    expect(JSON.parse(done.result.content[0].text)).toEqual(done.result.structuredContent);
  }
});

test("an approval is canceled with its task; one that was answered stays so", async () => {
  const [canceled, answered] = [
    await begin("approvals_ask", QUESTION),
    await begin("approvals_ask", QUESTION),
  ];
  await answer(approvalOf(answered), "reject");
  for (const { taskId } of [canceled, answered, canceled])
    expect(Object.keys(await send("cancel", taskId))).toEqual(["_meta"]);
  expect(await look(canceled.taskId)).not.toHaveProperty("result");
  expect(await look(canceled.taskId)).toMatchObject({ status: "cancelled" });
  expect(ok(await agent.get(`/approvals/${approvalOf(canceled)}`))).toMatchObject({ status: "canceled" });
  expect(await look(answered.taskId)).toMatchObject({
    status: "completed",
    result: { structuredContent: { choice: "reject" } },
  });
});

test("an approval asked again with the same key is the same task, or its result", async () => {
  const call = {
    name: "approvals_ask",
    arguments: QUESTION,
    _meta: { "sensorium/idempotency_key": "once" },
  };
  const ask = (): Promise<Any> => mcp.client.request({ method: "tools/call", params: call }, ANY_RESULT);
  const { taskId } = await ask();
  expect(await ask()).toMatchObject({ isTask: true, taskId });
  await answer(approvalOf({ taskId }));
  expect((await ask()).structuredContent).toMatchObject({ status: "answered" });
});

test("an approval that is erased is a task no more", async () => {
  const { taskId } = await begin("approvals_ask", { ...QUESTION, subject: "customer:42" });
  ok(await mine.admin.post("/memories/erase", { subject: "customer:42" }));
  await expect(look(taskId)).rejects.toMatchObject(NOT_FOUND);
});

test("a document is a task until it is stored, which cannot be canceled", async () => {
  const { task, response } = await uploaded();
  expect(task).toMatchObject({ isTask: true, status: "working" });
  await send("cancel", task.taskId);
  expect(await look(task.taskId)).toMatchObject({ status: "working", statusMessage: /: chunking\.$/ });
  response.end("<p>Cups break in transit.</p>");
  const { result, lastUpdatedAt } = await ended(task.taskId);
  const document = ok(await agent.get(`/documents/${task.taskId.split(".")[1]}`));
  const { document_id } = document;
  expect(result.structuredContent).toEqual({ accepted: true, document_id, status: "stored" });
  expect(lastUpdatedAt).toBe(document.ingested_at);
  ok(await agent.del(itself(document)));
  for (const method of ["get", "update", "cancel"])
    await expect(send(method, task.taskId)).rejects.toMatchObject(NOT_FOUND);
});

test("a document is a task over a restart while it is read, and a person's as an agent's", async () => {
  await using person = await connectMcp(server, mine.adminToken, { tasks: true });
  const { taskId } = await begin("documents_upload", scan(), person);
  await settle(() => converting.length > 0);
  converting.splice(0);
  await server.restart();
  await settle(() => converting.length > 0, { within: 60_000 });
  expect(await look(taskId, person)).toMatchObject({ status: "working" });
  for (const response of converting.splice(0)) response.end("<p>Text</p>");
  await settle(async () => (await look(taskId, person)).status === "completed");
});

test("a document that fails completes its task with an error, which names the reason", async () => {
  const { task, response } = await uploaded();
  response.writeHead(422).end();
  const { status, result } = await ended(task.taskId);
  expect([status, result.isError]).toEqual(["completed", true]);
  expect(result).not.toHaveProperty("structuredContent");
  expect(JSON.parse(result.content[0].text)).toMatchObject({ status: "failed", error: expect.any(String) });
});

test("a document that is there already is no task, nor one that the caller cannot read, nor a refusal", async () => {
  const file = scan();
  const { taskId } = await begin("documents_upload", file);
  const again = await begin("documents_upload", file);
  expect(again.structuredContent).toMatchObject({ accepted: true, existing: true });
  await settle(() => converting.length > 0);
  converting.shift()?.end("<p>Text</p>");
  await ended(taskId);
  const writer = await newAgent(server, mine.admin, ["memory:write"]);
  await using blind = await connectMcp(server, writer.token, { tasks: true });
  const direct = await begin("documents_upload", textFile(), blind);
  expect(direct.structuredContent).toMatchObject({ accepted: true, status: "queued" });
  expect(await begin("approvals_ask", {})).toMatchObject({ isError: true });
});

test("a handoff offer is a task until a successor decides", async () => {
  const run = await newRun(agent);
  const offer = () => begin("runs_offer_handoff", { run_id: run.id, step_key: "a" });
  const decide = async (id: string, how: string) =>
    ok(await mine.admin.post(`/runs/${run.id}/handoff-offers/${id}/${how}`, {}));
  for (const [how, status] of [
    ["decline", "declined"],
    ["accept", "accepted"],
  ] as const) {
    const { taskId } = await offer();
    expect(await look(taskId)).toMatchObject({ status: "working" });
    const id = taskId.split(".")[2];
    await decide(id, how);
    expect(await look(taskId)).toMatchObject({
      status: "completed",
      result: { structuredContent: { id, status, run_id: run.id } },
    });
  }
});

test("ids that are foreign, of another agent, unknown or malformed are refused alike", async () => {
  const { taskId } = await begin("approvals_ask", QUESTION);
  const [tool, id, mac] = taskId.split(".");
  const foreigner = await newAgent(server, theirs.admin, SCOPES);
  const colleague = await newAgent(server, mine.admin, SCOPES);
  for (const token of [foreigner.token, colleague.token, mine.adminToken]) {
    await using other = await connectMcp(server, token, { tasks: true });
    for (const method of ["get", "update", "cancel"])
      await expect(send(method, taskId, other)).rejects.toMatchObject(NOT_FOUND);
  }
  await using narrow = await connectMcp(server, agent.token, { tasks: true, query: "tools=memories" });
  await expect(look(taskId, narrow)).rejects.toMatchObject(NOT_FOUND);
  const malformed = [
    `${tool}.${ABSENT}.${mac}`,
    `${tool}.${id}`,
    `documents_upload.${id}.${mac}`,
    `${taskId}x`,
  ];
  for (const each of [...malformed, "approvals_ask", "constructor..", "", ".", 7, null, {}])
    await expect(look(each)).rejects.toMatchObject(NOT_FOUND);
  expect(await look(taskId)).toMatchObject({ status: "working" });
  expect(Object.keys(await send("update", taskId))).toEqual(["_meta"]);
});

test("a task ends with its caller's key", async () => {
  const own = await newAgent(server, mine.admin, SCOPES);
  await using other = await connectMcp(server, own.token, { tasks: true });
  const { taskId } = await begin("approvals_ask", QUESTION, other);
  const { keys } = ok(await mine.admin.get(`/agents/${own.id}/keys`));
  ok(await mine.admin.del(`/agents/${own.id}/keys/${keys[0].id}`));
  await expect(look(taskId, other)).rejects.toThrow(/401|authenti/i);
  const { key } = ok(await mine.admin.post(`/agents/${own.id}/keys`, { scopes: SCOPES }));
  await using later = await connectMcp(server, key, { tasks: true });
  expect(await look(taskId, later)).toMatchObject({ status: "working" });
});

test("a client that leaves gives up its poll", async () => {
  const type = "com.example.left";
  await using own = await connectMcp(server, (await newAgent(server, mine.admin, SCOPES)).token);
  await own.call("interests_create", { event_type: type });
  const leaving = new AbortController();
  const { signal } = leaving;
  const poll = own.client.callTool({ name: "deliveries_poll", arguments: { wait: 30 } }, { signal });
  const gone = expect(poll).rejects.toThrow();
  // Besides the request for the measures.
  const polling = async () => /http_requests_in_flight 2/.test(await server.metrics());
  await settle(polling);
  leaving.abort();
  await gone;
  await settle(async () => !(await polling()));
  await own.call("events_publish", { specversion: "1.0", id: "left", source: "urn:test", type });
  const { deliveries } = await own.call("deliveries_poll", { wait: 20 });
  expect(deliveries).toMatchObject([{ payload: { id: "left" } }]);
});

test("clients that do not know tasks get none", async () => {
  expect(mcp.client.getServerCapabilities()).toMatchObject({ extensions: { [TASKS]: {} } });
  const { taskId } = await begin("approvals_ask", QUESTION);
  await using plain = await connectMcp(server, agent.token);
  expect(await plain.call("approvals_ask", QUESTION)).toMatchObject({ status: "open", ...QUESTION });
  const missing = { code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } };
  for (const method of ["get", "update", "cancel"])
    await expect(send(method, taskId, plain)).rejects.toMatchObject(missing);
  const listen = (of: McpClient): Promise<Any> => of.client.listen({ taskIds: [taskId] } as object);
  await expect(listen(plain)).rejects.toMatchObject(missing);
  expect((await listen(mcp)).honoredFilter).toEqual({});
  await using old = await connectMcp(server, agent.token, { revision: "2025-11-25", tasks: true });
  expect(old.client.getServerCapabilities()).not.toHaveProperty("extensions");
  expect((await begin("approvals_ask", QUESTION, old)).structuredContent).toMatchObject({ status: "open" });
  await expect(look(taskId, old)).rejects.toMatchObject({ code: -32601 });
});
