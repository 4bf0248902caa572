import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Client, createClient } from "../../packages/client/index.ts";
import { type Cli, newCli } from "../support/cli.ts";
import type { TestServer } from "../support/server.ts";
import { startShared } from "../support/shared.ts";

let server: TestServer;
let admin: Client;
let cli: Cli;

beforeAll(async () => {
  server = await startShared();
  admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
  cli = newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: server.credentials.agent.api_key });
});

afterAll(async () => {
  await cli?.remove();
  await server?.stop();
});

/** Runs a command and returns its JSON output. */
async function json(...args: string[]) {
  const { code, out, err } = await cli.run([...args, "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out);
}

test("an interest is tried, made, listed and withdrawn", async () => {
  await cli.run(["publish", "com.example.tried", '{"total": 7}']);
  await cli.run(["publish", "com.example.tried", '{"total": 8}']);
  const wanted = ["com.example.tried", "--filter", "data.total > 7"];
  const tried = await cli.run(["interest", "try", ...wanted]);
  expect(tried.out).toMatch(
    /^1 of the last \d+ events match\.\n✓ com\.example\.tried\n✗ com\.example\.tried\n/,
  );
  const made = await json("interest", "add", ...wanted, "--priority", "9", "--enrich", "shallow");
  expect(made).toMatchObject({ event_type: wanted[0], priority: 9, enrichment_depth: "shallow" });
  const line = `${made.id} com.example.tried where data.total > 7`;
  expect((await cli.run(["interest", "list"])).out.split("\n")).toContain(line);
  expect(await cli.run(["interest", "add", ...wanted])).toMatchObject({
    code: 1,
    err: expect.stringContaining("business_rule_violation"),
  });
  const changes = ["--retry-delays", "1,30", "--priority", "2"];
  expect(await json("interest", "update", made.id, ...changes)).toMatchObject({
    ...{ id: made.id, event_type: wanted[0], filter_expression: "data.total > 7" },
    ...{ priority: 2, enrichment_depth: "shallow", retry_delays_seconds: [1, 30] },
  });
  const reset = await json("interest", "update", made.id, "--agent-delays", "--type", "com.example.tri?d");
  expect(reset).toMatchObject({ event_type: "com.example.tri?d", priority: 2, retry_delays_seconds: null });
  for (const [args, said] of [
    [[], "Nothing to change"],
    [["--retry-delays", "1,x"], "--retry-delays is 1,x"],
    [["--retry-delays", "1", "--agent-delays"], "not both"],
    [["--order-by", "subject", "--unordered"], "not both"],
  ] as const)
    expect(await cli.run(["interest", "update", made.id, ...args])).toMatchObject({
      code: 2,
      err: expect.stringContaining(said),
    });
  expect(await json("interest", "update", made.id, "--order-by", "data.id")).toMatchObject({
    ordering_key: "data.id",
  });
  expect(await json("interest", "update", made.id, "--unordered")).toMatchObject({ ordering_key: null });
  expect((await cli.run(["interest", "remove", made.id])).out).toBe(`${made.id} removed.\n`);
  expect((await cli.run(["interest"])).out).not.toContain(made.id);
  const delayed = await json("interest", "add", "com.example.delayed", "--retry-delays", "5,60");
  expect(delayed).toMatchObject({ priority: 5, enrichment_depth: "none", retry_delays_seconds: [5, 60] });
});

test("however many interests there are, all are listed", async () => {
  const { id: agent_id } = await admin.agents.create({ name: "wants much", delivery_mode: "poll" });
  const { key } = await admin.keys.create({ agent_id, scopes: ["receive"] });
  const types = Array.from({ length: 201 }, (_, n) => `com.example.wanted.${n}`);
  const agent = createClient({ url: server.url, apiKey: key });
  await Promise.all(types.map((event_type) => agent.interests.create({ agent_id, event_type })));
  const { out } = await cli.run(["interest", "list"], { env: { SENSORIUM_API_KEY: key } });
  expect(out.trimEnd().split("\n")).toHaveLength(201);
});

test("says what is likely a slip, and what is for people", async () => {
  const warned = await cli.run(["interest", "add", "com..example.slip"]);
  expect(warned).toMatchObject({ code: 0, out: expect.stringContaining("com..example.slip") });
  expect(warned.err).toBe(
    "Warning: The type `com..example.slip` has an empty part between dots. Did you mean `com.example.slip`?\n",
  );
  expect((await cli.run(["publish", "com.example..slip"])).err).toContain("Did you mean `com.example.slip`?");
  expect(await cli.run(["output", "export", "report", "report.md"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("This is for people, not for agents"),
  });
});

test("remembers for a team, and supersedes a wrong memory", async () => {
  const team = await admin.teams.create({ name: "Parcels" });
  const { id: agent_id } = await admin.agents.create({
    name: "mate",
    delivery_mode: "poll",
    team_id: team.id,
  });
  const { key } = await admin.keys.create({ agent_id, scopes: ["memory:read", "memory:write"] });
  const mate = { env: { SENSORIUM_API_KEY: key } };
  const told = await cli.run(["remember", "Scales are off by 1 kg", "--team", team.id, "--json"], mate);
  const first = JSON.parse(told.out);
  expect(first).toMatchObject({ scope: "team", team_id: team.id });
  const newer = await cli.run(["remember", "Scales are right", "--supersedes", first.id, "--json"], mate);
  expect(JSON.parse(newer.out)).toMatchObject({ scope: "team", team_id: team.id });
  expect(await cli.run(["remember", "For whom", "--scope", "team"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("Give one with --team ID."),
  });
  const { memories } = createClient({ url: server.url, apiKey: key });
  expect(await memories.get({ id: first.id })).toMatchObject({ status: "superseded" });
});
