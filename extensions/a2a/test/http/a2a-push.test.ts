import { StreamResponse, type Task, type TaskPushNotificationConfig } from "@a2a-js/sdk";
import { afterEach, expect, test } from "@jest/globals";
import { newAgent } from "../../../../test/support/agents.ts";
import { type Endpoint, type Pushed, startEndpoint } from "../../../../test/support/endpoint.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, ok } from "../../../../test/support/tenancy.ts";
import { useShared } from "../../../../test/support/use.ts";
import { a2aClient, nextEvent, pushConfig, a2aRequest as request } from "../client.ts";

const endpoints: Endpoint[] = [];

const server = await useShared("open");
const world = await makeWorld(server, "a2a-push");
const worker = await newAgent(server, world.admin, ["receive"]);
const caller = await newAgent(server, world.admin, ["send"]);
ok(await world.admin.patch(`/agents/${worker.id}`, { a2a: true }));
const client = await a2aClient(server, worker.id, caller.token);
afterEach(async () => {
  for (const endpoint of endpoints.splice(0)) await endpoint.stop();
});

async function webhook(): Promise<Endpoint> {
  const endpoint = await startEndpoint();
  endpoints.push(endpoint);
  return endpoint;
}

/** A task with webhooks. */
async function taskWith(messageId: string, ...configs: Partial<TaskPushNotificationConfig>[]): Promise<Task> {
  const task = (await client.sendMessage(request(messageId))) as Task;
  await nextEvent(worker);
  for (const { url = "", ...more } of configs)
    await client.createTaskPushNotificationConfig(pushConfig(url, { ...more, taskId: task.id }));
  return task;
}

const report = async ({ id }: Task, body: object) => ok(await worker.post(`/a2a-tasks/${id}/status`, body));

/** Tasks as a webhook received them. */
function tasksOf({ pushed }: Endpoint): Task[] {
  return pushed.map(({ body }: Pushed) => {
    const { payload } = StreamResponse.fromJSON(JSON.parse(body));
    if (payload?.$case !== "task") throw new Error(`not a task: ${body}`);
    return payload.value;
  });
}

const statesOf = (endpoint: Endpoint) => tasksOf(endpoint).map(({ status }) => status?.state);
const COMPLETED = 3;

const configsOf = async ({ id: taskId }: Task, as = client) =>
  (await as.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" })).configs;

test("a webhook that was given with the message gets the changes of its task, authenticated", async () => {
  const { url, pushed } = await webhook();
  const authentication = { scheme: "Bearer", credentials: "let-me-in-please" };
  const config = pushConfig(url, { id: "mine", token: "a-token-of-mine", authentication });
  const given = { taskPushNotificationConfig: config };
  const task = (await client.sendMessage(request("given", {}, given))) as Task;
  expect((await nextEvent(worker)).subject).toBe(task.id);
  const fields = { state: "completed", message: "Done.", artifacts: [{ artifact_id: "a", data: { n: 1 } }] };
  await report(task, fields);
  const [push] = await settle(() => pushed.length > 0 && pushed);
  expect(push?.headers).toMatchObject({
    "content-type": "application/a2a+json",
    authorization: "Bearer let-me-in-please",
    "x-a2a-notification-token": "a-token-of-mine",
  });
  const { payload } = StreamResponse.fromJSON(JSON.parse(push?.body as string));
  expect(payload).toMatchObject({
    $case: "task",
    value: { id: task.id, status: { state: COMPLETED }, artifacts: [{ artifactId: "a" }] },
  });
  const shown = { id: "mine", taskId: task.id, url, token: "", authentication: { scheme: "Bearer" } };
  const kept = await client.getTaskPushNotificationConfig({ tenant: "", taskId: task.id, id: "mine" });
  expect(kept).toMatchObject(shown);
  expect(JSON.stringify([kept, await configsOf(task)])).not.toMatch(/let-me-in|a-token-of/);
  expect(pushed).toHaveLength(1);
});

test("one webhook that fails and one that never answers do not delay the others", async () => {
  const [good, failing, slow] = [await webhook(), await webhook(), await webhook()];
  failing.answer(500);
  slow.answer(() => {});
  const urls = [slow, failing, good].map(({ url }, i) => ({ id: `w${i}`, url }));
  const task = await taskWith("several", ...urls);
  await report(task, { state: "working" });
  await settle(() => good.pushed.length === 1 && failing.pushed.length === 1 && slow.pushed.length === 1);
  await report(task, { state: "completed" });
  await settle(() => good.pushed.length === 2);
  expect(statesOf(good)).toEqual([2, COMPLETED]);
  expect(slow.pushed).toHaveLength(1);
  // It is retried with the task as it is then.
  failing.answer(204);
  await settle(() => failing.pushed.length === 2);
  expect(statesOf(failing)).toEqual([2, COMPLETED]);
});

test("a configuration is replaced by its id, and one that is gone gets nothing", async () => {
  const [first, second, gone, deleted] = [await webhook(), await webhook(), await webhook(), await webhook()];
  gone.answer(410);
  const task = await taskWith(
    "replaced",
    ...[{ url: first.url }, { url: second.url }],
    ...[gone, deleted].map(({ url }, i) => ({ id: `${i}`, url })),
  );
  const found = (await configsOf(task)).map(({ id, url }) => [id, url]);
  expect(found).toEqual([
    [task.id, second.url],
    ["0", gone.url],
    ["1", deleted.url],
  ]);
  const its = { tenant: "", taskId: task.id, id: "1" };
  for (let again = 0; again < 2; again++) await client.deleteTaskPushNotificationConfig(its);
  await expect(client.getTaskPushNotificationConfig(its)).rejects.toThrow("no push notification config 1");
  await report(task, { state: "completed" });
  await settle(() => second.pushed.length === 1 && gone.pushed.length === 1);
  expect([...first.pushed, ...deleted.pushed]).toEqual([]);
  await settle(async () => (await configsOf(task)).length === 1);
});

test("what a header cannot carry and an eleventh webhook are refused", async () => {
  const task = await taskWith("limits");
  const create = (more: object) =>
    client.createTaskPushNotificationConfig(pushConfig("http://127.0.0.1:1", { taskId: task.id, ...more }));
  await expect(create({ token: "a\r\nX-Injected: 1" })).rejects.toThrow(/^token: /);
  await expect(create({ authentication: { scheme: "a b", credentials: "" } })).rejects.toThrow(/scheme: /);
  await expect(create({ authentication: { scheme: "Bearer", credentials: "ü" } })).rejects.toThrow(/^auth/);
  await expect(create({ id: "x".repeat(201) })).rejects.toThrow(/^id: /);
  for (let i = 0; i < 10; i++) await create({ id: `${i}` });
  await create({ id: "9" });
  await expect(create({ id: "one-more" })).rejects.toThrow("has 10 push notification configurations");
});

test("others neither see nor change the webhooks of a task", async () => {
  const { url, pushed } = await webhook();
  const task = await taskWith("others", { url });
  const other = await a2aClient(server, worker.id, (await newAgent(server, world.admin, ["send"])).token);
  const its = { tenant: "", taskId: task.id, id: task.id };
  for (const refused of [
    configsOf(task, other),
    other.getTaskPushNotificationConfig(its),
    other.deleteTaskPushNotificationConfig(its),
    other.createTaskPushNotificationConfig(pushConfig(url, { taskId: task.id })),
  ])
    await expect(refused).rejects.toThrow("There is no task");
  const theirs = await makeWorld(server, "a2a-others");
  const list = {
    ...{ jsonrpc: "2.0", id: 1, method: "ListTaskPushNotificationConfigs", params: { taskId: task.id } },
  };
  const version = { "a2a-version": "1.0" };
  const foreign = await theirs.agent.post(`${server.root}/a2a/${worker.id}`, list, version);
  expect(foreign.status).toBe(404);
  ok(await theirs.admin.patch(`/agents/${theirs.agentId}`, { a2a: true }));
  const own = await theirs.agent.post(`${server.root}/a2a/${theirs.agentId}`, list, version);
  expect(ok(own).error).toMatchObject({ code: -32001 });
  expect(await configsOf(task)).toHaveLength(1);
  expect(pushed).toEqual([]);
});

test("a caller who was disabled learns no more", async () => {
  const [theirs, known] = [await webhook(), await webhook()];
  const leaving = await newAgent(server, world.admin, ["send"]);
  const as = await a2aClient(server, worker.id, leaving.token);
  const config = { taskPushNotificationConfig: pushConfig(theirs.url) };
  const task = (await as.sendMessage(request("leaving", {}, config))) as Task;
  await nextEvent(worker);
  ok(await world.admin.patch(`/agents/${leaving.id}/status`, { status: "inactive" }));
  await report(task, { state: "completed" });
  const later = await taskWith("staying", { url: known.url });
  await report(later, { state: "completed" });
  await settle(() => known.pushed.length === 1);
  expect(theirs.pushed).toEqual([]);
});
