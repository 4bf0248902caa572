import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Task } from "@a2a-js/sdk";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { A2aTaskModel } from "../../services/work/a2a/a2a-tasks.model.ts";
import { openStore } from "../../storage/connection.ts";
import { a2aClient, a2aRequest, pushConfig } from "../support/a2a.ts";
import { agentIn, type Cast, makeCast, remember } from "../support/memories.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

let server: TestServer;
let cast: Cast;
type TestAgent = Awaited<ReturnType<typeof agentIn>>;
let worker: TestAgent;
let sender: TestAgent;

beforeAll(async () => {
  const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", PUSH_ALLOW_PRIVATE: "true" };
  server = await startServer({ env });
  cast = await makeCast(server);
  worker = await agentIn(server, cast.admin, { name: "worker", a2a: true }, ["receive", "send"]);
  sender = await agentIn(server, cast.admin, { name: "sender" }, ["send", "receive"]);
});
afterAll(() => server?.stop());

const marker = () => `zq${randomBytes(6).toString("hex").replaceAll(/[0-9]/g, "x")}zq`;
const erase = async (body: object) => ok(await cast.orgAdmin.post("/memories/erase", body));

async function filesWith(text: string): Promise<string[]> {
  const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
  const holding = files.map(async (file) => {
    const bytes = file.isFile() ? await readFile(join(file.parentPath, file.name)).catch(() => "") : "";
    return bytes.includes(text) ? file.name : [];
  });
  return (await Promise.all(holding)).flat();
}

/** Gives the worker a task with this text, and a webhook. */
async function give(by: { token: string }, text: string, metadata?: object): Promise<string> {
  const client = await a2aClient(server, worker.id, by.token);
  const parts = [{ content: { $case: "text", value: text } }];
  const config = { taskPushNotificationConfig: pushConfig(`http://127.0.0.1:9/${text}`) };
  const task = (await client.sendMessage(a2aRequest(marker(), { parts, metadata }, config))) as Task;
  return task.id;
}

async function schedule(by: TestAgent, data: object): Promise<string> {
  const event = { type: "com.example.tick", data };
  return ok(await by.post("/schedules", { name: "yearly", cron: "0 0 1 1 *", event })).id;
}

const isTask = async (id: string) => (await worker.get(`/a2a-tasks/${id}`)).status === 200;

test("tasks and schedules about a person are erased, and no others", async () => {
  const [subject, text, other] = [`Erika ${marker()}`, marker(), marker()];
  const about = await give(sender, text, { subject });
  const kept = await give(sender, other, { subject: `${subject}son` });
  const planned = await schedule(sender, { metadata: { subject: [subject] }, note: text });
  const stays = await schedule(sender, { note: other });
  const counted = await erase({ subject, dry_run: true });
  expect(counted.erased).toMatchObject({ a2a_tasks: 1, schedules: 1 });
  const { erased } = await erase({ subject });
  expect(erased).toMatchObject({ a2a_tasks: 1, schedules: 1 });
  expect([await isTask(about), await isTask(kept)]).toEqual([false, true]);
  expect((await sender.get(`/schedules/${planned}`)).status).toBe(404);
  expect((await sender.get(`/schedules/${stays}`)).status).toBe(200);
});

test("tasks that mention an erased memory are erased", async () => {
  const { id } = await remember(cast.alice, {});
  const task = await give(sender, `Read ${id}.`);
  const { erased } = await erase({ ids: [id] });
  expect(erased).toMatchObject({ memories: 1, a2a_tasks: 1 });
  expect(await isTask(task)).toBe(false);
});

test("an agent's tasks, schedules, bundles and handoffs are erased with its memories", async () => {
  const agent = await agentIn(server, cast.admin, { name: "leaver" }, [
    "send",
    "receive",
    "memory:read",
    "memory:write",
  ]);
  const text = marker();
  const task = await give(agent, text);
  await schedule(agent, { note: text });
  ok(await agent.post("/handoffs", { name: "next", summary: text }));
  ok(await agent.post("/bundles", { query: text }));
  expect(await filesWith(text)).not.toEqual([]);
  const { erased } = await erase({ agent_id: agent.id });
  expect(erased).toMatchObject({ a2a_tasks: 1, schedules: 1, handoffs: 1, bundles: 1 });
  expect(await isTask(task)).toBe(false);
  // The worker's pending delivery of the message holds an id only.
  await settle(
    async () => (await filesWith(text)).filter((name) => !name.startsWith("sensorium.db")).length === 0,
  );
});

test("final tasks end after their retention, with their webhooks; open ones stay", async () => {
  const [old, open, recent] = [
    await give(sender, "old"),
    await give(sender, "open"),
    await give(sender, "new"),
  ];
  for (const id of [old, recent]) ok(await worker.post(`/a2a-tasks/${id}/status`, { state: "completed" }));
  await server.end();
  const store = await openStore({ DATA_DIR: server.dataDir });
  const long = new Date(Date.now() - 91 * 86_400_000);
  const rows = store.collection(A2aTaskModel);
  for (const _id of [old, open]) await rows.system.updateOne({ _id }, { $set: { updated_at: long } });
  await store.close();
  await server.restart();
  await settle(async () => !(await isTask(old)), { within: 30_000 });
  expect([await isTask(open), await isTask(recent)]).toEqual([true, true]);
});
