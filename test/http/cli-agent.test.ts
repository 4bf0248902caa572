/** Commands of an agent and of a person who signed in: interests, memories, schedules, questions. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createClient } from "../../packages/client/index.ts";
import { type Cli, newAgent, newCli } from "../support/cli.ts";
import { serving } from "../support/serving.ts";
import { settle } from "../support/settle.ts";
import { use, useShared } from "../support/use.ts";

const done: Cli["done"] = (...args) => cli.done(...args);
const json: Cli["json"] = (...args) => cli.json(...args);

const server = await useShared();
const { agent, admin: user } = server.credentials;
const admin = createClient({ url: server.url, apiKey: agent.api_key });
const cli = use(newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: agent.api_key }));
const person = use(newCli());
const login = ["login", user.email, "--password-stdin", "--url", server.root];
expect((await person.run(login, { input: user.password })).code).toBe(0);

test("an interest is tried, made, listed and withdrawn", async () => {
  await done("publish", "com.example.tried", '{"total": 7}');
  await done("publish", "com.example.tried", '{"total": 8}');
  const wanted = ["com.example.tried", "--filter", "data.total > 7"];
  const answer = await done("interest", "try", ...wanted);
  expect(answer).toMatch(/^1 of the last \d+ events match\.\n✓ com\.example\.tried\n✗ com\.example\.tried$/);
  const made = await json("interest", "add", ...wanted, "--priority", "9", "--enrich", "shallow");
  expect(made).toMatchObject({ event_type: wanted[0], priority: 9, enrichment_depth: "shallow" });
  const line = `${made.id} com.example.tried where data.total > 7`;
  expect((await done("interest", "list")).split("\n")).toContain(line);
  expect(await cli.run(["interest", "add", ...wanted])).toMatchObject({
    code: 1,
    err: expect.stringContaining(`filter: ${made.id}. Update that one.`),
  });
  expect(await done("interest", "add", ...wanted, "--if-missing")).toBe(line);
  const changes = ["--retry-delays", "1s,30s", "--priority", "2"];
  expect(await json("interest", "update", made.id, ...changes)).toMatchObject({
    ...{ id: made.id, event_type: wanted[0], filter_expression: "data.total > 7" },
    ...{ priority: 2, enrichment_depth: "shallow", retry_delays_seconds: [1, 30] },
  });
  for (const [options, changed] of [
    [
      "--agent-delays --type com.example.tri?d",
      { event_type: "com.example.tri?d", retry_delays_seconds: null },
    ],
    ["--order-by data.id", { ordering_key: "data.id", priority: 2 }],
    ["--unordered", { ordering_key: null }],
  ] as const)
    expect(await json("interest", "update", made.id, ...options.split(" "))).toMatchObject(changed);
  expect(await done("interest", "remove", made.id)).toBe(`${made.id} removed.`);
  expect(await done("interest")).not.toContain(made.id);
  const delayed = await json("interest", "add", "com.example.delayed", "--retry-delays", "5s,1m");
  expect(delayed).toMatchObject({ priority: 5, enrichment_depth: "none", retry_delays_seconds: [5, 60] });
});

test("however many interests there are, all are listed", async () => {
  const { id: agent_id, client, env } = await newAgent(server, admin, "wants much", ["receive"]);
  const types = Array.from({ length: 201 }, (_, n) => `com.example.wanted.${n}`);
  await Promise.all(types.map((event_type) => client.interests.create({ agent_id, event_type })));
  const { out } = await cli.run(["interest", "list"], { env });
  expect(out.trimEnd().split("\n")).toHaveLength(201);
});

test("says what is likely a slip", async () => {
  const warning =
    "Warning: The type `com..example.slip` has an empty part between dots. Did you mean `com.example.slip`?\n";
  const ran = await cli.run(["interest", "add", "com..example.slip"]);
  expect(ran).toEqual({ code: 0, out: expect.stringContaining("com..example.slip"), err: warning });
  expect((await cli.run(["publish", "com.example..slip"])).err).toContain("Did you mean `com.example.slip`?");
});

test("remembers for a team, and supersedes a wrong memory", async () => {
  const team = await admin.teams.create({ name: "Parcels" });
  const scopes = ["memory:read", "memory:write"] as const;
  const { client, env } = await newAgent(server, admin, "mate", [...scopes], { team_id: team.id });
  const remember = async (...words: string[]) =>
    JSON.parse((await cli.run(["remember", ...words, "--json"], { env })).out);
  const first = await remember("Scales are off by 1 kg", "--team", team.id);
  expect(first).toMatchObject({ scope: "team", team_id: team.id });
  const newer = await remember("Scales are right", "--supersedes", first.id);
  expect(newer).toMatchObject({ scope: "team", team_id: team.id });
  const ran = await cli.run(["remember", "For whom", "--scope", "team"]);
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("Give one with --team ID.") });
  expect(await client.memories.get({ id: first.id })).toMatchObject({ status: "superseded" });
});

test("a schedule from its creation to its deletion", async () => {
  const when = ["--cron", "0 9 * * MON-FRI", "--time-zone", "Europe/Berlin"];
  expect((await done("schedule", "next", ...when)).split("\n")).toHaveLength(5);
  const there = ["--cron", "0 9 * * MON-FRI", "--timezone", "Asia/Kolkata"];
  expect(await done("schedule", "next", ...there)).toMatch(/^(\S+T09:00:00\+05:30(\n|$)){5}/);
  const line = await done("schedule", "create", "com.cli.due", '{"n": 1}', ...when, "--subject", "weekly");
  expect(line).toMatch(
    /^sch_\S+ active, next at \d{4}-\d\d-\d\dT0[78]:00:00.000Z \(At 09:00, Monday through Friday, Europe\/Berlin\)$/,
  );
  const [id = ""] = line.split(" ");
  expect(await done("schedule", "list")).toContain("At 09:00, Monday through Friday, Europe/Berlin");
  expect(await done("schedule", "pause", id)).toBe(`${id} paused`);
  expect(await done("schedule", "list", "--status", "paused", "--query", "[].id")).toBe(id);
  expect(await done("schedule", "run", id)).toMatch(/^evt_\S+ accepted$/);
  expect(await done("schedule", "show", id)).toMatch(
    /When\s+At 09:00, Monday through Friday, Europe\/Berlin\nCron\s+0 9 \* \* MON-FRI\n[\s\S]*Runs\s+1\n[\s\S]*"subject": "weekly"/,
  );
  expect(await done("schedule", "resume", id)).toMatch(/ active, next at /);
  expect(await done("schedule", "delete", id)).toBe(`${id} deleted.`);
  expect(await done("schedule", "list")).toBe("No schedules.");
});

test("an event is published later, listed while it waits, and cancelled", async () => {
  const line = await done("publish", "com.cli.later", "--in", "2h");
  expect(line).toMatch(/^evt_\S+ accepted, waits until \S+Z$/);
  const [id = ""] = line.split(" ");
  expect(await done("event", "list", "--waiting")).toContain(id);
  expect(await done("event", "show", id)).toMatch(/Waits until\s+\d/);
  expect(await done("event", "cancel", id)).toBe(`${id} cancelled.`);
  expect(await done("event", "list", "--waiting")).toBe("No events.");
  const past = await cli.run(["publish", "com.cli.past", "--at", "2026-01-31T09:00:00Z"]);
  expect(past).toMatchObject({
    err: expect.stringContaining("which is past"),
    out: expect.stringMatching(/accepted$/m),
  });
  const soon = await json("publish", "com.cli.soon", "--at", new Date(Date.now() + 5000).toISOString());
  await settle(async () => (await json("event", "show", soon.event_id)).state === "matched");
});

test("an agent asks, a person answers, and both read the answer and its receipt", async () => {
  expect(await done("approval", "list")).toBe("No approvals.");
  const said = ["Quotes", "North is dear.", "--scope", "institutional"];
  const { id: quotes } = await json("remember", ...said);
  const evidence = ["--evidence", "link:https://shop.example/", "--evidence", `memory:${quotes}`];
  const options = ["--choices", "north, south", ...evidence, "--in", "2h"];
  const further = ["--on-deadline", "north", "--escalate-to", "admins", "--escalate-after", "1h"];
  const ask = ["approval", "ask", "Which supplier?", "-", ...options, ...further];
  const { out, err } = await cli.run(ask, { input: "The **quotes**." });
  const [id = ""] = out.split(" ");
  expect([out, err]).toEqual([`${id} open\n`, ""]);
  expect(await person.done("approval", "list", "--status", "open")).toContain("Which supplier?");
  expect(await person.done("approval", "show", id)).toMatch(
    /Choices\s+north, south\n[\s\S]*If nobody answers\s+north\n\nThe \*\*quotes\*\*\.\n\nlink:https:\/\/shop.example\/\n\nmemory:\S+ Quotes \(unchanged\)\n {2}North is dear\.$/,
  );
  const answered = await person.done("approval", "answer", id, "south", "It is cheaper.");
  expect(answered).toBe(`${id} answered: south`);
  expect(await done("approval", "show", id)).toMatch(/Text\s+It is cheaper\.\n/);
  expect(await json("approval", "receipt", id)).toMatchObject({ id });
  const [, claims = ""] = (await done("approval", "receipt", id)).split(".");
  const expected = { id, choice: "south", text: "It is cheaper." };
  expect(JSON.parse(Buffer.from(claims, "base64url").toString()).approval).toMatchObject(expected);
  const [other = ""] = (await done("approval", "ask", "Go on?")).split(" ");
  expect(await done("approval", "cancel", other)).toBe(`${other} canceled`);
});

test("a bundle is assembled and shown, as is the state of a document", async () => {
  await done("remember", "Heavy parcels go by freight");
  const { id, rendered_brief } = await json("bundle", "assemble", "heavy parcels", "--scope", "agent");
  expect(rendered_brief).toContain("Heavy parcels go by freight");
  expect(await done("bundle", "assemble", "heavy parcels")).toContain("Heavy parcels go by freight");
  expect(await done("bundle", "show", id)).toBe(rendered_brief.trimEnd());
  writeFileSync(join(cli.folder, "rates.html"), "<h1>Rates</h1><img><img>");
  const { document_id } = await json("document", "add", "rates.html", "--subject", "acme", "--wait");
  const lines = [
    "^Name +rates\\.html \\(version 1\\)",
    `Id +${document_id}`,
    "Status +stored",
    "[\\s\\S]*Subject +acme\n[\\s\\S]*Not read +2 × picture: text$",
  ];
  expect(await done("document", "show", document_id)).toMatch(new RegExp(lines.join("\n")));
});

test.each([
  ["event retry evt_1", "POST /v1/events/evt_1/retry", { status: "accepted" }, "evt_1 accepted."],
  [
    "connector show con_1",
    "GET /v1/ingest/connectors/con_1",
    { id: "con_1", kind: "amqp091" },
    "Id    con_1\nKind  amqp091",
  ],
  ["connector delete con_1", "DELETE /v1/ingest/connectors/con_1", {}, "con_1 deleted."],
])("%s calls %s", async (words, called, answer, printed) => {
  const heard: string[] = [];
  // What parks an event, and a broker, are nothing that a test has at hand.
  const other = await serving(({ method, url }, response) => {
    heard.push(`${method} ${url}`);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(url === "/v1/auth/token" ? { access_token: "t", expires_in: 3600 } : answer));
  });
  const shown = await done(...words.split(" "), "--url", other.url).finally(other.close);
  expect([heard.at(-1), shown]).toEqual([called, printed]);
});
