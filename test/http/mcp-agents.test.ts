import { expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { connectMcp, resultOf } from "../support/mcp.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok } from "../support/tenancy.ts";
import { use, useShared } from "../support/use.ts";

/** Sequences of tools that models use, and prompts that people use. */

const SCOPES = ["send", "receive", "memory:read", "memory:write"];
const MEMORY = { title: "Terms", content: "ACME pays within 30 days.", type: "semantic", scope: "agent" };

const PROJECT = "ledger-2026";

const server = await useShared();
const world = await makeWorld(server, "agents");
ok(await world.admin.post("/projects", { key: PROJECT, name: "Ledger" }));
const agent = await newAgent(server, world.admin, SCOPES);
const mcp = use(await connectMcp(server, agent.token));

test("a null for a field that is not used is as if it were left out", async () => {
  const filed = await mcp.call("memories_create", { ...MEMORY, project_id: PROJECT, tags: null });
  const asked = { scope: null, tags: null, limit: null, min_score: null, memory_types: null, expect: null };
  // Over HTTP null asks for those of no project.
  const { results } = await mcp.call("memories_search", { query: "Terms", project_id: null, ...asked });
  expect(results.map(({ memory }: { memory: { id: string } }) => memory.id)).toContain(filed.id);
  const unfiled = await mcp.call("memories_search", { query: "Terms", project_id: "" });
  expect(unfiled.results).toEqual([]);
  await mcp.call("memories_list", { scope: null, tags: null, limit: null, cursor: null, type: null });
  const caps = { memories: 1, outputs: null, handoffs: null };
  const bundle = await mcp.call("bundles_assemble", { query: null, since: null, caps });
  expect(bundle.rendered_brief).toContain("Terms");
  await mcp.call("runs_create", { goal: "Ship", template_id: null, steps: [{ step_key: "a", title: null }] });
});

test("a null for a field that is not used is missing where the field is needed", async () =>
  expect(await mcp.refused("memories_create", { ...MEMORY, content: null })).toMatchObject({
    code: "validation_failed",
    details: { field: "content" },
  }));

test("a null for a field that is not used keeps what a new version of an output does not change", async () => {
  const { id } = await mcp.call("outputs_save", { body: "# One", project_id: PROJECT });
  await mcp.call("outputs_save", { body: "# Two", output_id: id, project_id: null, metadata: null });
  expect(await mcp.call("outputs_get", { output_id: id })).toMatchObject({ project_id: PROJECT });
});

test("a null for a field that is not used clears in a change, and is a value in data", async () => {
  const { id } = await mcp.call("memories_create", { ...MEMORY, tags: ["a"], metadata: { kept: null } });
  expect(await mcp.call("memories_update", { id, title: null, tags: null })).toMatchObject({
    ...{ title: "Terms", tags: [], metadata: { kept: null } },
  });
});

test("what the caller need not say is who it is, and what every event has", async () => {
  await mcp.call("interests_create", { event_type: "com.example.said" });
  expect((await mcp.call("interests_list")).interests).toMatchObject([{ agent_id: agent.id }]);
  const publish = { name: "events_publish", arguments: { type: "com.example.said", data: { n: null } } };
  const key = { _meta: { "sensorium/idempotency_key": "said-once" } };
  const [first, again] = [await mcp.client.callTool(publish), await mcp.client.callTool(publish)];
  expect([first, again].map(resultOf)).toMatchObject([{ status: "accepted" }, { status: "accepted" }]);
  const keyed = [
    await mcp.client.callTool({ ...publish, ...key }),
    await mcp.client.callTool({ ...publish, ...key }),
  ];
  expect(keyed[1]?.content).toEqual(keyed[0]?.content);
  const taken: Record<string, unknown>[] = [];
  await settle(async () => {
    const { deliveries } = await mcp.call("deliveries_poll", { wait: 5 });
    taken.push(...deliveries);
    return taken.length >= 3;
  });
  expect(taken).toHaveLength(3);
  expect(taken[0]).toMatchObject({ payload: { source: `urn:sensorium:${agent.id}`, data: { n: null } } });
  const delivery_ids = taken.map(({ id }) => id);
  expect(await mcp.call("deliveries_extend", { delivery_ids, seconds: 300 })).toEqual({ extended: 3 });
  expect(await mcp.call("deliveries_ack", { delivery_ids })).toEqual({ acknowledged: 3 });
});

test("what the caller need not say a person has to name an agent", async () => {
  await using person = await connectMcp(server, world.adminToken);
  expect(await person.refused("interests_list")).toMatchObject({ details: { field: "agent_id" } });
});

const textOf = async (name: string, given?: Record<string, string>) => {
  const { messages } = await mcp.client.getPrompt({ name, ...(given && { arguments: given }) });
  expect(messages).toMatchObject([{ role: "user", content: { type: "text" } }]);
  return messages.map(({ content }) => (content as { text: string }).text).join("\n");
};

test("prompts begin, go on with and leave work", async () => {
  const { prompts } = await mcp.client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["resume", "brief", "findings", "leave"]);
  await mcp.call("handoffs_save", { name: "ledger", payload: { next_action: "Close the ledger." } });
  expect(await textOf("resume", { handoff: "ledger" })).toMatch(/^```text\n[^`]*Close the ledger\.\n+```$/m);
  await mcp.call("memories_create", { ...MEMORY, title: "Ledgers close on Fridays" });
  expect(await textOf("brief", { task: "close the ledger" })).toMatch(/^Task: close the ledger\n.*Fridays/s);
  expect(await textOf("leave", { name: "ledger" })).toContain('under the name "ledger"');
});

test("prompts tell what others found, once", async () => {
  await textOf("findings");
  await using other = await connectMcp(server, (await newAgent(server, world.admin, SCOPES)).token);
  await other.call("memories_create", { ...MEMORY, title: "Found it", scope: "institutional" });
  expect(await settle(async () => (await textOf("findings")).includes("Found it"))).toBe(true);
  expect(await textOf("findings")).not.toContain("Found it");
});

test("prompts name the candidates where several handoffs fit", async () => {
  for (const name of ["tax-north", "tax-south"])
    await mcp.call("handoffs_save", { name, summary: "The tax return of the region." });
  expect(await textOf("resume", { handoff: "tax return of the region" })).toMatch(
    /Ask which one.*\n```text\n- tax-(north|south): The tax return/s,
  );
});

test("prompts refuse what is missing, and are not shown to who may not use them", async () => {
  await expect(textOf("resume")).rejects.toMatchObject({ code: -32602 });
  await expect(textOf("dance")).rejects.toMatchObject({ code: -32602 });
  await expect(textOf("resume", { handoff: "nothing-of-the-kind" })).rejects.toMatchObject({
    data: { code: "not_found" },
  });
  await using sender = await connectMcp(server, await world.tokenWith(["send"]));
  expect((await sender.client.listPrompts()).prompts).toEqual([]);
});

const values = async (
  ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string },
  name: string,
  value: string,
) => (await mcp.client.complete({ ref, argument: { name, value } })).completion.values;

test("completion knows names of handoffs, slugs of outputs and keys of projects", async () => {
  const { id } = await mcp.call("handoffs_save", { name: "Nightly import" });
  await mcp.call("outputs_save", { title: "Überblick", body: "# Überblick\n" });
  expect(await values({ type: "ref/prompt", name: "resume" }, "handoff", "nightly")).toEqual([
    "Nightly import",
  ]);
  expect(await values({ type: "ref/resource", uri: "sensorium://handoffs/{id}" }, "id", "Night")).toEqual([
    id,
  ]);
  const [slug] = await values({ type: "ref/resource", uri: "sensorium://outputs/{id}" }, "id", "über");
  const uri = `sensorium://outputs/${encodeURIComponent(slug as string)}`;
  const { contents } = await mcp.client.readResource({ uri });
  expect(contents).toMatchObject([{ text: "# Überblick\n" }]);
  expect(await values({ type: "ref/prompt", name: "brief" }, "project", PROJECT.slice(0, 3))).toEqual([
    PROJECT,
  ]);
  expect(await values({ type: "ref/prompt", name: "leave" }, "name", "")).toEqual([]);
  await expect(values({ type: "ref/prompt", name: "dance" }, "x", "")).rejects.toMatchObject({
    code: -32602,
  });
});

test("a run is read as a document, and listed while it is active", async () => {
  const run = await mcp.call("runs_create", { goal: "Move the archive", steps: [{ step_key: "box" }] });
  const uri = `sensorium://runs/${run.id}`;
  const { resources } = await mcp.client.listResources();
  expect(resources).toContainEqual(expect.objectContaining({ uri, name: "Move the archive" }));
  const { contents } = await mcp.client.readResource({ uri });
  expect(contents).toMatchObject([{ text: expect.stringContaining("Move the archive") }]);
});
