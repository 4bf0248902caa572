/** @alone: looks into the store of one process. */
import type { Task } from "@a2a-js/sdk";
import { expect, test } from "@jest/globals";
import { openStore } from "../../../../storage/connection.ts";
import { api } from "../../../../test/support/http.ts";
import { marker } from "../../../../test/support/kept-bytes.ts";
import { agentIn, makeCast, remember } from "../../../../test/support/memories.ts";
import { holdersOf } from "../../../../test/support/record.ts";
import { startServer } from "../../../../test/support/server.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, signIn } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";
import { A2aTaskModel } from "../../tasks/a2a-tasks.model.ts";
import { a2aClient, a2aRequest, pushConfig } from "../client.ts";

const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", PUSH_ALLOW_PRIVATE: "true", OPERATOR_TOKEN };
const server = await useServer({ env });
const cast = await makeCast(server);
const worker = await agentIn(server, cast.admin, { name: "worker", a2a: true }, ["receive", "send"]);
const sender = await agentIn(server, cast.admin, { name: "sender" }, ["send", "receive"]);

const erase = async (body: object) => ok(await cast.orgAdmin.post("/memories/erase", body)).erased;
const isTask = async (id: string) => (await worker.get(`/a2a-tasks/${id}`)).status === 200;

/** Gives the worker a task with this text, and a webhook. */
async function give(by: { token: string }, text: string, metadata?: object): Promise<string> {
  const client = await a2aClient(server, worker.id, by.token);
  const parts = [{ content: { $case: "text", value: text } }];
  const config = { taskPushNotificationConfig: pushConfig(`http://127.0.0.1:9/${text}`) };
  const task = (await client.sendMessage(a2aRequest(marker(), { parts, metadata }, config))) as Task;
  return task.id;
}

test("tasks about a person and tasks that mention an erased memory are erased, and no others", async () => {
  const subject = `Erika ${marker()}`;
  const about = await give(sender, marker(), { subject });
  const kept = await give(sender, marker(), { subject: `${subject}son` });
  expect(await erase({ subject, dry_run: true })).toMatchObject({ a2a_tasks: 1 });
  expect(await erase({ subject })).toMatchObject({ a2a_tasks: 1 });
  const { id } = await remember(cast.alice, {});
  const mentioning = await give(sender, `Read ${id}.`);
  expect(await erase({ ids: [id] })).toMatchObject({ memories: 1, a2a_tasks: 1 });
  expect([await isTask(about), await isTask(mentioning), await isTask(kept)]).toEqual([false, false, true]);
});

test("an agent's tasks are erased with its memories, from every file", async () => {
  const agent = await agentIn(server, cast.admin, { name: "leaver" }, ["send", "receive"]);
  const text = marker();
  const task = await give(agent, text);
  expect(await holdersOf(server, text)).not.toEqual([]);
  expect(await erase({ agent_id: agent.id })).toMatchObject({ a2a_tasks: 1 });
  expect(await isTask(task)).toBe(false);
  // The worker's pending delivery of the message holds an id only.
  await settle(
    async () =>
      (await holdersOf(server, text)).filter((name) => !name.startsWith("sensorium.db")).length === 0,
  );
});

test("maintenance refuses what A2A writes, and lets it read", async () => {
  const operator = api(server, OPERATOR_TOKEN);
  ok(await operator.patch("/installation", { maintenance: true, reason: "moving" }));
  const call = async (method: string, params: object) => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const { body } = await sender.post(`${server.root}/a2a/${worker.id}`, request, { "a2a-version": "1.0" });
    return body.error?.message ?? body.result;
  };
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Count." }] };
  for (const [method, params] of [
    ["SendMessage", { message }],
    ["SendStreamingMessage", { message }],
    ["CancelTask", { id: "none" }],
    ["CreateTaskPushNotificationConfig", { taskId: "none", url: "https://example.com/hook" }],
    ["DeleteTaskPushNotificationConfig", { taskId: "none", id: "none" }],
  ] as const)
    expect([method, await call(method, params)]).toEqual([
      method,
      expect.stringContaining("maintenance (moving)"),
    ]);
  expect(await call("ListTasks", {})).toMatchObject({ tasks: expect.any(Array) });
  ok(await operator.patch("/installation", { maintenance: false }));
});

test("without the extension an erasure that needs it is refused, and one of another tenant is not; with it, final tasks end after their retention", async () => {
  const subject = `Erika ${marker()}`;
  await give(sender, marker(), { subject });
  const old = await give(sender, "old");
  const [open, recent] = [await give(sender, "open"), await give(sender, "new")];
  for (const id of [old, recent]) ok(await worker.post(`/a2a-tasks/${id}/status`, { state: "completed" }));
  await server.end();
  const { dataDir } = server;
  const store = await openStore({ DATA_DIR: dataDir });
  const updated_at = new Date(Date.now() - 91 * 86_400_000);
  const rows = store.collection(A2aTaskModel);
  for (const _id of [old, open]) await rows.system.updateOne({ _id }, { $set: { updated_at } });
  await store.close();
  const core = await startServer({ dataDir, env: { ...env, EXTENSIONS: "none" } });
  try {
    const admin = api(core, await signIn(core, server.credentials.admin, server.credentials.tenant_slug));
    expect(await admin.post("/memories/erase", { subject })).toMatchObject({
      status: 503,
      body: { error: { message: expect.stringContaining("a2a") } },
    });
    const other = await makeWorld(core, "without-tasks");
    ok(await other.admin.post("/memories/erase", { subject }));
  } finally {
    await core.stop();
  }
  await server.restart();
  expect(await erase({ subject })).toMatchObject({ a2a_tasks: 1 });
  await settle(async () => !(await isTask(old)));
  expect([await isTask(open), await isTask(recent)]).toEqual([true, true]);
});
