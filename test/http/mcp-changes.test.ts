import { afterAll, expect, test } from "@jest/globals";
import { firstAgent, newAgent } from "../support/agents.ts";
import { type Api, api } from "../support/http.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { ok, signIn } from "../support/tenancy.ts";

/** Each tool below is called by an agent whose key has its scope alone, and refused to a key with all other scopes. */
type Scope = "send" | "receive" | "memory:read" | "memory:write" | "channel:write";
type Given = Record<string, unknown>;

const SCOPES: Scope[] = ["send", "receive", "memory:read", "memory:write", "channel:write"];
const TYPE = "com.example.changed";

const only = {} as Record<Scope, McpClient>;
const without = {} as Record<Scope, McpClient>;

const server = await startShared();
const first = await firstAgent(server);
const person = api(server, await signIn(server, server.credentials.admin, server.credentials.tenant_slug));
const agent = await newAgent(server, first, [...SCOPES, "channel:read"]);
ok(await first.patch(`/agents/${agent.id}`, { retry_budget: 1, a2a: true }));
const connect = async (scopes: string[]) => {
  const { key } = ok(await first.post(`/agents/${agent.id}/keys`, { scopes }));
  return connectMcp(server, key, { query: "tools=all" });
};
for (const scope of SCOPES) {
  only[scope] = await connect([scope]);
  without[scope] = await connect(["channel:read", ...SCOPES.filter((each) => each !== scope)]);
}
afterAll(async () => {
  for (const each of [...Object.values(only), ...Object.values(without)]) await each.client.close();
  await server.stop();
});

let names = 0;
const newName = () => `name-${++names}`;
const make = async (path: string, body: object, by: Api = agent) => ok(await by.post(path, body));

const memory = async (more: object = {}, by: Api = agent): Promise<string> =>
  (
    await make(
      "/memories",
      { title: "Pumps", content: "By hand.", type: "semantic", scope: "agent", ...more },
      by,
    )
  ).id;
const exemplar = async (): Promise<string> =>
  (await make("/exemplars", { display_name: newName(), filename: "a.md", content: `# ${newName()}` })).id;
const handoff = async (): Promise<string> => (await make("/handoffs", { name: newName() })).id;
const schedule = async (): Promise<string> =>
  (await make("/schedules", { name: newName(), cron: "0 0 1 1 *", event: { type: TYPE } })).id;
const run = async (): Promise<string> => {
  const steps = [
    { step_key: "a" },
    { step_key: "b", completion_mode: "handoff_accepted" },
    { step_key: "c" },
  ];
  return (await make("/runs", { goal: "Ship", steps })).id;
};
const offer = async () => {
  const run_id = await run();
  return { run_id, offer_id: (await make(`/runs/${run_id}/handoff-offers`, { step_key: "b" })).id };
};
const step = async (more: object) => ({ run_id: await run(), ...more });

/** Leases the delivery of a new event. */
async function lease(id: string): Promise<string> {
  const type = `com.example.${id}`;
  await make(`/agents/${agent.id}/interests`, { event_type: type });
  await make("/events", { specversion: "1.0", id, source: "urn:test", type });
  return ok(await agent.get("/delivery/poll?wait=20")).deliveries[0].id;
}

async function deadLetter() {
  const id = await lease("dead");
  await make("/delivery/nack", { delivery_ids: [id], reason: "a test" });
  return { id };
}

async function document() {
  const file = { file_content: "SGVsbG8=", filename: "hello.txt", mime_type: "text/plain" };
  const { document_id } = await make("/documents", file);
  const stored = await settle(async () => {
    const body = ok(await agent.get(`/documents/${document_id}`));
    return body.status === "stored" && body;
  });
  return { document_id, source_id: stored.ingestion_source_id };
}

async function task() {
  const message = { messageId: newName(), role: "ROLE_USER", parts: [{ text: "Add" }] };
  const params = { message, configuration: { returnImmediately: true } };
  const { result } = ok(
    await agent.post(
      `${server.root}/a2a/${agent.id}`,
      { jsonrpc: "2.0", id: 1, method: "SendMessage", params },
      { "a2a-version": "1.0" },
    ),
  );
  return { task_id: result.task.id, state: "completed", message: "5" };
}

const has = (list: string, ...items: object[]) => ({
  [list]: expect.arrayContaining(items.map((item) => expect.objectContaining(item))),
});
const steps = (item: object) => has("steps", item);
const later = () => new Date(Date.now() + 86_400_000).toISOString();

/** Of a tool: its arguments, what is read then as the agent, and what the answer is from the call on. */
type Change = [() => Given | Promise<Given>, string, object | 404];
const CHANGES: Record<string, Record<string, Change>> = {
  receive: {
    a2a_tasks_update: [task, "/a2a-tasks/{task_id}", { state: "TASK_STATE_COMPLETED" }],
    deliveries_nack: [
      async () => ({ delivery_ids: [await lease("refused")], reason: "by a tool" }),
      "/delivery/dlq",
      has("items", { dlq_reason: "max attempts exceeded (1): by a tool" }),
    ],
    deliveries_replay: [
      deadLetter,
      `/agents/${agent.id}/deliveries?status=ready`,
      has("deliveries", { event: expect.objectContaining({ type: "com.example.dead" }) }),
    ],
    interests_delete: [
      async () => ({
        id: (await make(`/agents/${agent.id}/interests`, { event_type: "com.example.gone" })).id,
      }),
      `/agents/${agent.id}/interests/{id}`,
      404,
    ],
  },
  "channel:write": {
    channels_add_member: [
      async () => ({ channel_id: (await make("/channels", { name: newName() }, person)).id }),
      "/channels/{channel_id}/members",
      { members: [{ agent_id: expect.stringMatching(/^ag_/) }] },
    ],
    channels_create: [() => ({ name: "Of a tool" }), "/channels", has("channels", { name: "Of a tool" })],
    channels_create_feed: [
      async () => ({
        channel_id: (await make("/channels", { name: newName() })).id,
        event_type_glob: "com.example.fed",
      }),
      "/channels/{channel_id}/feeds",
      has("feeds", { event_type_glob: "com.example.fed" }),
    ],
  },
  "memory:write": {
    documents_delete: [document, "/documents/{document_id}", 404],
    exemplars_create: [
      () => ({ display_name: "A good letter", filename: "letter.md", content: "# Dear" }),
      "/exemplars",
      expect.arrayContaining([expect.objectContaining({ display_name: "A good letter", byte_size: 6 })]),
    ],
    exemplars_delete: [async () => ({ exemplar_id: await exemplar() }), "/exemplars/{exemplar_id}", 404],
    exemplars_rename: [
      async () => ({ exemplar_id: await exemplar(), display_name: "Renamed" }),
      "/exemplars/{exemplar_id}",
      { display_name: "Renamed" },
    ],
    handoffs_delete: [async () => ({ id: await handoff() }), "/handoffs/{id}", 404],
    handoffs_pin: [
      async () => ({ id: await handoff() }),
      "/handoffs/{id}",
      { pinned_at: expect.any(String) },
    ],
    handoffs_unpin: [
      async () => {
        const id = await handoff();
        await make(`/handoffs/${id}/pin`, {});
        return { id };
      },
      "/handoffs/{id}",
      { pinned_at: null },
    ],
    memories_delete_by_key: [
      async () => {
        ok(await agent.put("/memories/keys/tools.gone/a", { content: "Gone." }));
        return { namespace: "tools.gone", key: "a" };
      },
      "/memories/keys/tools.gone/a",
      404,
    ],
    memories_promote: [
      async () => ({ id: await memory(), scope: "institutional" }),
      "/memories/{id}",
      { scope: "institutional" },
    ],
    memories_put_by_key: [
      () => ({ namespace: "tools.put", key: "a", content: "Kept.", tags: ["kept"] }),
      "/memories/keys/tools.put/a",
      { content: "Kept.", tags: ["kept"], title: "a", scope: "agent" },
    ],
    memories_restore: [
      async () => {
        const id = await memory();
        await make(`/memories/${id}/forget`, {});
        return { id };
      },
      "/memories/{id}",
      { status: "active", invalid_at: null },
    ],
    memories_supersede: [
      async () => ({ id: await memory(), superseded_by_id: await memory() }),
      "/memories/{id}",
      { superseded_by: expect.any(String), invalid_at: expect.any(String) },
    ],
    merges_propose: [
      async () => ({
        memory_a_id: await memory(),
        memory_b_id: await memory(),
        resolution_note: "The same.",
      }),
      "/memories/merge-proposals",
      has("merge_proposals", { resolution_note: "The same.", status: "open" }),
    ],
    outputs_update: [
      async () => {
        await make("/projects", { key: "tools" }, person);
        return { output_id: (await make("/outputs", { body: "# One" })).id, project_id: "tools" };
      },
      "/outputs/{output_id}",
      { project_id: "tools" },
    ],
    relationships_create: [
      async () => ({ id: await memory(), target_memory_id: await memory(), relationship_type: "related_to" }),
      "/memories/{id}/relationships",
      { relationships: [{ relationship_type: "related_to" }] },
    ],
    runs_accept_offer: [offer, "/runs/{run_id}/handoff-offers", { offers: [{ status: "accepted" }] }],
    runs_attach_exemplar: [
      async () => ({ run_id: await run(), exemplar_id: await exemplar() }),
      "/runs/{run_id}",
      { exemplar_ids: [expect.any(String)] },
    ],
    runs_close: [
      () => step({ outcome: "abandoned", note: "No budget." }),
      "/runs/{run_id}",
      { outcome: "abandoned", close_note: "No budget." },
    ],
    runs_decline_offer: [
      async () => ({ ...(await offer()), note: "Not yet." }),
      "/runs/{run_id}/handoff-offers",
      { offers: [{ status: "declined" }] },
    ],
    runs_offer_handoff: [
      () => step({ step_key: "b" }),
      "/runs/{run_id}/handoff-offers",
      { offers: [{ status: "open" }] },
    ],
    runs_register_artifact: [
      () => step({ kind: "document", pointer: { display_name: "Plan" } }),
      "/runs/{run_id}/artifacts",
      { artifacts: [{ kind: "document", pointer: { display_name: "Plan" } }] },
    ],
    runs_reopen_step: [
      async () => {
        const run_id = await run();
        await make(`/runs/${run_id}/steps/skip`, { step_key: "a", reason: "Early." });
        return { run_id, step_key: "a", reason: "After all." };
      },
      "/runs/{run_id}",
      steps({ step_key: "a", status: "ready" }),
    ],
    runs_skip_step: [
      () => step({ step_key: "a", reason: "Not needed." }),
      "/runs/{run_id}",
      steps({ step_key: "a", status: "skipped" }),
    ],
    runs_start_step: [
      () => step({ step_key: "a", notes: "Begun." }),
      "/runs/{run_id}",
      steps({ step_key: "a", status: "in_progress" }),
    ],
    state_delete: [
      async () => {
        ok(await agent.put("/state/tools.gone/a", { value: "1" }));
        return { namespace: "tools.gone", key: "a" };
      },
      "/state/tools.gone/a",
      404,
    ],
    state_put: [
      () => ({ namespace: "tools.put", key: "a", value: "1", if_version: 0 }),
      "/state/tools.put/a",
      { value: "1", version: 1 },
    ],
    templates_author: [
      () => ({
        name: "Ship",
        slug: "ship-it",
        steps: [{ step_key: "pack", completion_mode: "attestation" }],
      }),
      "/process-templates/ship-it",
      { name: "Ship", version_num: 1, steps: [{ step_key: "pack" }] },
    ],
  },
  send: {
    approvals_ask: [
      () => ({ title: "Refund order 1042?", question: "The cup is broken." }),
      "/approvals",
      has("approvals", { title: "Refund order 1042?", status: "open" }),
    ],
    events_cancel: [
      async () => {
        const event = {
          specversion: "1.0",
          id: newName(),
          source: "urn:test",
          type: TYPE,
          notbefore: later(),
        };
        return { event_id: (await make("/events", event)).event_id };
      },
      "/events/{event_id}",
      404,
    ],
    schedules_create: [
      () => ({ name: "Nightly", cron: "0 3 * * *", time_zone: "Europe/Berlin", event: { type: TYPE } }),
      "/schedules",
      has("schedules", { name: "Nightly", cron: "0 3 * * *", time_zone: "Europe/Berlin" }),
    ],
    schedules_delete: [async () => ({ schedule_id: await schedule() }), "/schedules/{schedule_id}", 404],
    schedules_run: [
      async () => ({ schedule_id: await schedule() }),
      "/schedules/{schedule_id}",
      { last_event_id: expect.stringMatching(/^evt_/) },
    ],
    schedules_update: [
      async () => ({ schedule_id: await schedule(), paused: true }),
      "/schedules/{schedule_id}",
      { paused: true, next_run_at: null },
    ],
  },
  "memory:read": {
    findings_list: [
      async () => {
        await memory({ scope: "institutional" }, person);
        return { limit: 50 };
      },
      "/memories/findings?mark_read=false",
      { findings: [], cold_start: false },
    ],
    memories_cite: [
      async () => ({ id: await memory({ scope: "institutional" }, person) }),
      "/memories/{id}",
      { usage: { cite_count_30d: 1 } },
    ],
    specialists_load: [
      async () => {
        ok(await person.put("/specialists/tool-user", { system_prompt: "You are." }));
        return { name: "tool-user" };
      },
      "/specialists",
      has("specialists", { name: "tool-user", loaded: true }),
    ],
  },
};
const changes = Object.entries(CHANGES).flatMap(([scope, tools]) =>
  Object.entries(tools).map(([tool, row]) => [tool, scope as Scope, ...row] as const),
);

test.each(changes)("%s takes the scope %s, and has its effect", async (tool, scope, given, path, becomes) => {
  const args = await given();
  const answer = becomes === 404 ? { status: 404 } : { status: 200, body: becomes };
  const read = () => agent.get(path.replace(/\{(\w+)\}/g, (_, name) => String(args[name])));
  expect(await without[scope].refused(tool, args)).toMatchObject({
    code: "insufficient_scope",
    details: { required_scope: scope },
  });
  expect(await read()).not.toMatchObject(answer);
  await only[scope].call(tool, args);
  await settle(async () => {
    expect(await read()).toMatchObject(answer);
    return true;
  });
});
