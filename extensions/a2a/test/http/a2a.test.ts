import { type Task, TaskState } from "@a2a-js/sdk";
import { describe, expect, test } from "@jest/globals";
import { newAgent, type TestAgent } from "../../../../test/support/agents.ts";
import { api } from "../../../../test/support/http.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, ok, refused } from "../../../../test/support/tenancy.ts";
import { useShared } from "../../../../test/support/use.ts";
import { a2aClient, a2aClientAt, cardUrl, nextEvent, pushConfig, a2aRequest as request } from "../client.ts";

const server = await useShared();
const world = await makeWorld(server, "a2a");
const worker = await newAgent(server, world.admin, ["receive"]);
const caller = await newAgent(server, world.admin, ["send"]);
ok(await world.admin.patch(`/agents/${worker.id}`, { a2a: true, description: "Counts things." }));

const clientOf = (token: string) => a2aClient(server, worker.id, token);
const client = await clientOf(caller.token);
const receive = () => nextEvent(worker);
const ALL = { tenant: "", contextId: "", status: 0, pageToken: "", statusTimestampAfter: undefined };
const report = (id: string, body: object) => worker.post(`/a2a-tasks/${id}/status`, body);

test("a card is shown only of an agent that wants one", async () => {
  const card = ok(await api(server).get(cardUrl(server, worker.id)));
  const url = `${server.root}/a2a/${worker.id}/rpc`;
  const supportedInterfaces = [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
  expect(card).toMatchObject({ description: "Counts things.", supportedInterfaces });
  expect(JSON.stringify(card)).not.toContain(world.tenant_id);
  for (const id of [caller.id, "ag_nobody"]) {
    const { status, body } = await api(server).get(cardUrl(server, id));
    const answer = [status, body.error.message.replace(id, "ID")];
    expect(answer).toEqual([404, "There is no agent ID that you may read. Check the id."]);
    await refused(caller.post(`${server.root}/a2a/${id}`, {}), "not_found");
  }
  // The official client finds it from the address, with or without a slash.
  const address = `${server.root}/a2a/${worker.id}`;
  for (const url of [`${address}/rpc`, `${address}/rpc/`, `${address}/`]) {
    const { tasks } = await (await a2aClientAt(url, caller.token)).listTasks(ALL);
    expect(tasks).toEqual([]);
  }
});

test("a message is delivered, asked about, continued and answered with an artifact", async () => {
  const task = (await client.sendMessage(request("m1"))) as Task;
  expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  const data = { task_id: task.id, context_id: task.contextId };
  expect(await receive()).toMatchObject({ type: "service.a2a.message", subject: task.id, data });
  const read = ok(await worker.get(`/a2a-tasks/${task.id}`));
  expect(read.task.history).toMatchObject([{ messageId: "m1", parts: [{ text: "text of m1" }] }]);
  ok(await report(task.id, { state: "input_required", message: "Which?" }));
  const again = (await client.sendMessage(request("m2", { taskId: task.id }))) as Task;
  expect(again).toMatchObject({ id: task.id, contextId: task.contextId });
  expect((await receive()).subject).toBe(task.id);
  const fields = { state: "completed", artifacts: [{ artifact_id: "r", name: "Result", text: "3" }] };
  ok(await report(task.id, fields));
  const done = await client.getTask({ tenant: "", id: task.id });
  expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  const answer = done.history.map(({ parts }) => parts[0]?.content?.value);
  expect(answer).toEqual(["text of m1", "Which?", "text of m2"]);
  expect(done.artifacts).toMatchObject([{ artifactId: "r", parts: [{ content: { value: "3" } }] }]);
  await refused(report(task.id, { state: "working" }), "conflict");
});

test("a repeated message makes no second task and no second delivery", async () => {
  const calls = [client.sendMessage(request("same")), client.sendMessage(request("same"))];
  const [one, two] = (await Promise.all(calls)) as [Task, Task];
  expect(two.id).toBe(one.id);
  expect((await receive()).subject).toBe(one.id);
  expect(ok(await worker.get("/delivery/poll?wait=1")).deliveries).toEqual([]);
});

test("a stream shows the task until it is done", async () => {
  const seen: unknown[] = [];
  for await (const { payload } of client.sendMessageStream(request("streamed"))) {
    seen.push(payload?.$case);
    if (payload?.$case !== "task") continue;
    expect((await receive()).subject).toBe(payload.value.id);
    const artifacts = [{ artifact_id: "r", text: "done" }];
    ok(await report(payload.value.id, { state: "completed", artifacts }));
  }
  expect(seen).toEqual(["task", "artifactUpdate", "statusUpdate"]);
});

test("sending waits for the answer unless told not to", async () => {
  const sent = client.sendMessage(request("waits", {}, { returnImmediately: false }));
  ok(await report((await receive()).subject, { state: "failed", message: "No." }));
  expect(((await sent) as Task).status?.state).toBe(TaskState.TASK_STATE_FAILED);
});

test("many messages to a task at once are all taken, and all who wait get its end", async () => {
  const { id } = (await client.sendMessage(request("crowd"))) as Task;
  const wait = { returnImmediately: false, historyLength: 1 };
  const sent = Array.from({ length: 20 }, (_, n) =>
    client.sendMessage(request(`crowd ${n}`, { taskId: id }, wait)),
  );
  await settle(async () => ok(await worker.get(`/a2a-tasks/${id}`)).task.history.length === 21);
  ok(await report(id, { state: "completed" }));
  const states = (await Promise.all(sent)).map((task) => [
    (task as Task).status?.state,
    (task as Task).history.length,
  ]);
  expect(states).toEqual(sent.map(() => [TaskState.TASK_STATE_COMPLETED, 1]));
  for (let n = 0; n <= 20; n++) await receive();
});

test("a canceled task is final, and the agent is told", async () => {
  const task = (await client.sendMessage(request("cancel"))) as Task;
  await receive();
  const canceled = await client.cancelTask({ tenant: "", id: task.id, metadata: undefined });
  expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  expect(await receive()).toMatchObject({ type: "service.a2a.canceled", subject: task.id });
  await expect(client.cancelTask({ tenant: "", id: task.id, metadata: undefined })).rejects.toThrow("final");
  await refused(report(task.id, { state: "completed" }), "conflict");
});

test("tasks are listed in pages, for their caller alone", async () => {
  const ids: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listTasks({ ...ALL, pageSize: 2, pageToken });
    expect(page.totalSize).toBe(6);
    ids.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken);
  expect(new Set(ids).size).toBe(6);
  expect(ids).toHaveLength(6);
  await expect(client.listTasks({ ...ALL, pageToken: "another" })).rejects.toThrow("pageToken");
  const other = await clientOf((await newAgent(server, world.admin, ["send"])).token);
  expect((await other.listTasks(ALL)).tasks).toEqual([]);
  await expect(other.getTask({ tenant: "", id: ids[0] as string })).rejects.toThrow("no task");
});

test("an id of a message is not used for another: neither for a new task nor in one that exists", async () => {
  const task = (await client.sendMessage(request("used"))) as Task;
  await receive();
  ok(await report(task.id, { state: "input_required", message: "Which?" }));
  await client.sendMessage(request("used-2", { taskId: task.id }));
  await receive();
  const text = (value: string) => ({
    parts: [{ content: { $case: "text" as const, value }, metadata: undefined, filename: "", mediaType: "" }],
  });
  for (const [id, more] of [
    ["used", text("something else")],
    ["used", { contextId: "another" }],
    ["used", { metadata: { urgent: true } }],
    ["used-2", { ...text("something else"), taskId: task.id }],
  ] as const)
    await expect(client.sendMessage(request(id, more))).rejects.toThrow(
      `message.messageId: "${id}" was used for another message, in the task ${task.id}.`,
    );
  const kept = await client.getTask({ tenant: "", id: task.id });
  expect(kept.history.map(({ messageId }) => messageId)).toEqual(["used", expect.any(String), "used-2"]);
  expect(ok(await worker.get("/delivery/poll?wait=1")).deliveries).toEqual([]);
  const retried = (await client.sendMessage(request("used", { contextId: task.contextId }))) as Task;
  expect(retried.id).toBe(task.id);
});

test("another tenant, another version and a private webhook are refused", async () => {
  const theirs = await makeWorld(server, "others");
  const url = `${server.root}/a2a/${worker.id}`;
  await refused(theirs.agent.post(url, {}), "not_found");
  const rpc = { jsonrpc: "2.0", id: 7, method: "GetTask", params: { id: "x" } };
  expect(ok(await caller.post(url, rpc))).toMatchObject({ id: 7, error: { code: -32009 } });
  const task = (await client.sendMessage(request("private"))) as Task;
  for (const address of ["http://127.0.0.1:9/", "http://localhost/", "http://169.254.169.254/latest", "x"]) {
    const config = pushConfig(address);
    const created = client.createTaskPushNotificationConfig({ ...config, taskId: task.id });
    await expect(created).rejects.toThrow(/^url: /);
    const given = request("refused", {}, { taskPushNotificationConfig: config });
    await expect(client.sendMessage(given)).rejects.toThrow(/^url: /);
  }
  const asked = { tenant: "", taskId: task.id, pageSize: 0, pageToken: "" };
  expect((await client.listTaskPushNotificationConfig(asked)).configs).toEqual([]);
  await receive();
});

test("a subscription shows what follows until the task is final", async () => {
  const task = (await client.sendMessage(request("subscribed"))) as Task;
  const seen: unknown[] = [];
  for await (const { payload } of client.resubscribeTask({ tenant: "", id: task.id })) {
    seen.push(payload?.$case);
    if (seen.length === 1) ok(await report(task.id, { state: "working" }));
    if (seen.length === 2) ok(await report(task.id, { state: "input_required", message: "Which?" }));
    if (seen.length === 3) ok(await report(task.id, { state: "rejected" }));
  }
  expect(seen).toEqual(["task", "statusUpdate", "statusUpdate", "statusUpdate"]);
});

test("malformed requests are refused with their reason, and leave nothing", async () => {
  const url = `${server.root}/a2a/${worker.id}`;
  const call = async (method: string, params: unknown) =>
    ok(await caller.post(url, { jsonrpc: "2.0", id: 1, method, params }, { "a2a-version": "1.0" })).error;
  const message = { messageId: "malformed", role: "ROLE_USER" };
  for (const parts of [undefined, [], [{}], [null], ["x"], [{ text: "x" }, 5]]) {
    const error = await call("SendMessage", { message: { ...message, parts } });
    const wanted = { code: -32602, message: expect.stringMatching(/^message\.parts: expected/) };
    expect(error).toMatchObject(wanted);
  }
  const unknown = { ...message, parts: [{ text: "x" }], taskId: "absent" };
  const answer = await call("SendMessage", { message: unknown });
  expect(answer).toMatchObject({ code: -32001, message: "There is no task absent of yours." });
  expect(await call("ListTasks", { status: "DONE" })).toMatchObject({ code: -32602 });
  for (const params of [undefined, null, [], "x", { message: null }, { message: 5 }])
    expect(await call("SendMessage", params)).toMatchObject({ code: -32602 });
  for (const method of ["Nothing", "__proto__", "message/send"])
    expect(await call(method, {})).toMatchObject({ code: -32601 });
  const { tasks } = await client.listTasks({ ...ALL, pageSize: 100 });
  expect(JSON.stringify(tasks)).not.toContain("malformed");
});

test.each([-1, -40])("%d messages of a history are refused, and nothing is sent", async (historyLength) => {
  const given = request(`history ${historyLength}`, {}, { historyLength });
  const refused = expect.objectContaining({ message: expect.stringContaining("historyLength: expected") });
  await expect(client.sendMessage(given)).rejects.toEqual(refused);
  await expect(client.sendMessageStream(given).next()).rejects.toEqual(refused);
  await expect(client.listTasks({ ...ALL, historyLength })).rejects.toEqual(refused);
  await expect(client.getTask({ tenant: "", id: "a2a_any", historyLength })).rejects.toEqual(refused);
  const { tasks } = await client.listTasks({ ...ALL, pageSize: 100 });
  expect(JSON.stringify(tasks)).not.toContain(`history ${historyLength}`);
});

test("a stream ends when its caller's key is revoked", async () => {
  const leaving = await newAgent(server, world.admin, ["send"]);
  const stream = (await clientOf(leaving.token)).sendMessageStream(request("revoked"));
  expect((await stream.next()).value?.payload?.$case).toBe("task");
  const [{ id }] = ok(await world.admin.get(`/agents/${leaving.id}/keys`)).keys;
  expect((await world.admin.del(`/agents/${leaving.id}/keys/${id}`)).status).toBeLessThan(300);
  expect((await stream.next()).done).toBe(true);
  await receive();
});

describe("the catalogue", () => {
  const CATALOG = "/.well-known/ai-catalog.json";
  const read = async (by: Pick<TestAgent, "get">, url = server.root + CATALOG) => ok(await by.get(url));
  const idsOf = ({ entries }: { entries: { identifier: string }[] }) =>
    entries.map(({ identifier }) => identifier);

  test("lists the agents of the caller's tenant that can be called, with addresses of their cards", async () => {
    const made = () => newAgent(server, world.admin, ["receive"]);
    const [plain, closed, unnamed] = [await made(), await made(), await made()];
    for (const { id } of [closed, unnamed]) ok(await world.admin.patch(`/agents/${id}`, { a2a: true }));
    ok(await world.admin.patch(`/agents/${closed.id}/status`, { status: "inactive" }));
    const headers = { authorization: `Bearer ${caller.token}` };
    const response = await fetch(server.root + CATALOG, { headers });
    expect(response.headers.get("content-type")).toContain("application/ai-catalog+json");
    const catalog = (await response.json()) as Awaited<ReturnType<typeof read>>;
    expect(catalog).toMatchObject({ specVersion: "0.9", host: { displayName: "Sensorium" } });
    const mine = catalog.entries.find(({ identifier }: { identifier: string }) => identifier === worker.id);
    expect(mine).toEqual({
      ...{ identifier: worker.id, type: "application/a2a-agent-card+json" },
      ...{ url: cardUrl(server, worker.id), displayName: "tester", description: "Counts things." },
      updatedAt: expect.any(String),
    });
    expect(await api(server).get(mine.url)).toMatchObject({ status: 200, body: { name: "tester" } });
    const ids = idsOf(catalog);
    expect([plain, closed, caller].filter(({ id }) => ids.includes(id))).toEqual([]);
    const other = catalog.entries.find(({ identifier }: { identifier: string }) => identifier === unnamed.id);
    expect(other).not.toHaveProperty("description");
    ok(await world.admin.patch(`/agents/${unnamed.id}`, { a2a: false }));
    expect(idsOf(await read(caller))).not.toContain(unnamed.id);
    // People may send, too.
    expect(idsOf(await read(world.member))).toEqual(idsOf(await read(caller)));
  });

  test("shows no agent of another tenant", async () => {
    const others = await makeWorld(server, "catalogue");
    const theirs = await newAgent(server, others.admin, ["send"]);
    expect(idsOf(await read(theirs))).toEqual([]);
    ok(await others.admin.patch(`/agents/${theirs.id}`, { a2a: true }));
    expect(idsOf(await read(theirs))).toEqual([theirs.id]);
    expect(idsOf(await read(caller))).not.toContain(theirs.id);
    // A place of one tenant's list shows nothing of it in another's.
    const place = Buffer.from(JSON.stringify(["created_at", "2000-01-01T00:00:00.000Z", worker.id]));
    const after = `${server.root + CATALOG}?after=${place.toString("base64url")}`;
    expect(idsOf(await read(theirs, after))).toEqual([theirs.id]);
    await refused(theirs.get(`${server.root + CATALOG}?after=nonsense`), "validation_failed");
  });

  test("continues in a further catalogue after 200 agents, each once", async () => {
    const many = await makeWorld(server, "many");
    const reader = await newAgent(server, many.admin, ["send"]);
    const made: string[] = [];
    for (let n = 0; n < 203; n++) {
      const agent = { name: `agent ${n}`, delivery_mode: "poll", a2a: true };
      made.push(ok(await many.admin.post("/agents", agent)).id);
    }
    const first = await read(reader);
    const { type, url } = first.entries.at(-1);
    expect([first.entries.length, type]).toEqual([201, "application/ai-catalog+json"]);
    const rest = await read(reader, url);
    expect([...idsOf(first).slice(0, -1), ...idsOf(rest)]).toEqual(made);
  });
});
