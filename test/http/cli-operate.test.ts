/** @needs shells: completion in zsh and fish; bash is there. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { byLogin, createClient, isApiError } from "../../packages/client/index.ts";
import { COMPILED } from "../support/child.ts";
import { type Cli, newAgent, newCli } from "../support/cli.ts";
import { onPath } from "../support/needs.ts";
import { settle } from "../support/settle.ts";
import { use, useShared } from "../support/use.ts";

const BIN = join(import.meta.dirname, "../../packages/client/bin.js");

const server = await useShared();
const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
const person = createClient({ url: server.url, authorize: byLogin(server.credentials.admin) });
const of = { event_type: "com.example.job", delivery_mode: "poll", retry_budget: 1 } as const;
const { id: agentId, client: agent } = await newAgent(server, admin, "stuck", ["receive"], of);
/** A person who signed in; nothing in the environment. */
const cli = use(newCli());
const { email, password } = server.credentials.admin;
const login = ["login", email, "--password-stdin", "--url", server.root];
const signedIn = await cli.run(login, { input: `${password}\n` });
expect(signedIn).toMatchObject({ code: 0, out: expect.stringMatching(/^Signed in as .* \(admin\)\./) });

const profilesOf = ({ folder }: Cli) => join(folder, ".config/sensorium/profiles.json");
const readProfiles = () => JSON.parse(readFileSync(profilesOf(cli), "utf8"));

const run: Cli["done"] = (...args) => cli.done(...args);
const json: Cli["json"] = (...args) => cli.json(...args);

/** Publishes events that the agent rejects permanently. */
async function die(reason: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    await admin.publish({ type: "com.example.job", source: "urn:t", data: { i } });
    const { deliveries } = await agent.deliveries.poll({ wait: 30 });
    const delivery_ids = deliveries.map(({ id }) => id);
    await agent.deliveries.nack({ delivery_ids, reason });
    ids.push(...delivery_ids);
  }
  return ids;
}

describe("profiles", () => {
  test("a sign-in is kept for its owner alone, without the password", () => {
    expect(statSync(profilesOf(cli)).mode & 0o777).toBe(0o600);
    const signed = { email, token: expect.any(String), expires_at: expect.any(String) };
    expect(readProfiles().default).toEqual({ url: server.root, person: signed });
  });

  test("a token is renewed before it ends, and a command says when the sign-in has ended", async () => {
    const profiles = readProfiles();
    const { token } = profiles.default.person;
    const soon = new Date(Date.now() + 10 * 60_000).toISOString();
    const changed = { ...profiles.default, person: { ...profiles.default.person, expires_at: soon } };
    writeFileSync(profilesOf(cli), JSON.stringify({ default: changed }));
    await run("dlq", "list");
    const renewed = readProfiles().default.person;
    expect(renewed.token).not.toBe(token);
    expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.now() + 50 * 60_000);
    changed.person.expires_at = new Date(0).toISOString();
    writeFileSync(profilesOf(cli), JSON.stringify({ ended: changed, default: readProfiles().default }));
    const err = expect.stringMatching(/^The sign-in of .* has ended: run `sensorium login`\./);
    expect(await cli.run(["dlq", "list", "--profile", "ended"])).toMatchObject({ code: 1, err });
  });

  test("one is chosen, listed, and signed out on the service too", async () => {
    const { email, password } = server.credentials.admin;
    const args = ["login", email, "--password-stdin", "--url", server.root, "--profile", "second"];
    expect(await cli.run(args, { input: password })).toMatchObject({ code: 0 });
    expect(await run("profile", "use", "second")).toBe("Using the profile second.");
    const listed = await json("profile", "list");
    const answer = listed.find(({ name }: { name: string }) => name === "second");
    expect(answer).toMatchObject({ current: true, person: email, signed_in: true });
    const { token } = readProfiles().second.person;
    expect(await run("profile", "logout")).toBe(`${email} is signed out.`);
    expect(readProfiles().second).toBeUndefined();
    const gone = createClient({ url: server.url, token, retries: 0 });
    const refused = (error: unknown) => isApiError(error) && error.status === 401;
    await settle(async () => gone.auth.me().then(() => false, refused));
    const ran = await cli.run(["profile", "use", "defualt"]);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("Did you mean default?") });
  });

  test("a wrong password is refused, and nothing is kept", async () => {
    const { email } = server.credentials.admin;
    const args = ["login", email, "--password-stdin", "--url", server.root, "--profile", "none"];
    expect(await cli.run(args, { input: "wrong" })).toMatchObject({ code: 1 });
    expect(readProfiles().none).toBeUndefined();
  });
});

test("a person finds the stuck agent and the cause, replays and discards", async () => {
  const full = await die("the disk is full", 3);
  const gone = await die("the printer is gone", 2);
  const reason = "max attempts exceeded (1): the disk is full";
  expect(await json("delivery", "stats")).toMatchObject({ dead: 5 });
  expect((await json("dlq", "causes")).map(({ count }: { count: number }) => count)).toEqual([3, 2]);
  const table = (await run("dlq", "list")).split("\n");
  expect(table[0]).toMatch(/^ID +DEAD +AGENT +TYPE +REASON$/);
  expect(table[1]).toMatch(
    new RegExp(`^${gone[1]}  \\d+ s ago +stuck  com\\.example\\.job  max attempts exceeded`),
  );
  const queried = await run("dlq", "list", "--reason", reason, "--query", "[].id");
  expect(queried.split("\n").sort()).toEqual(full.toSorted());
  expect(await run("dlq", "get", full[0] as string)).toMatch(new RegExp(`Reason +${RegExp.escape(reason)}`));
  const { event_id } = await json("dlq", "show", full[0] as string);
  expect(await run("event", "show", event_id, "--delivery", full[0] as string)).toContain("the disk is full");
  expect(await run("dlq", "replay", "--reason", reason, "--dry-run")).toBe("3 would be replayed.");
  expect(await run("dlq", "replay", "--reason", reason)).toBe("3 replayed.");
  await settle(async () => (await json("delivery", "stats")).pending === 3);
  expect(await run("events", "list", "com.example.job", "--query", "length(@)")).toBe("5");
  const expected = { code: 2, err: expect.stringContaining("Delete 2 dead letters? Give --yes.") };
  expect(await cli.run(["dlq", "discard", "--all"])).toMatchObject(expected);
  expect(await run("dlq", "discard", gone[0] as string)).toBe("1 discarded.");
  expect(await run("dlq", "discard", "--all", "-y")).toBe("1 discarded.");
  expect(await run("dlq", "list")).toBe("No dead letters.");
});

test("an agent is found by a part of its name, and changed", async () => {
  expect(await json("agent", "list", "uck")).toMatchObject([{ id: agentId, name: "stuck" }]);
  expect(await run("agent", "list", "nobody")).toBe("No agents.");
  expect((await run("agent", "list")).split("\n")[0]).toMatch(/^ID +STATE +PENDING +OLDEST +DEAD +NAME/);
  const answer = await run("agent", "update", agentId, "--retry-budget", "1", "--retry-delays", "5s,1m");
  expect(answer).toBe("stuck changed.");
  const found = await admin.agents.get({ agent_id: agentId });
  expect(found).toMatchObject({ retry_budget: 1, retry_delays_seconds: [5, 60] });
  await run("agent", "update", agentId, "--max-in-flight", "4", "--max-per-minute", "60");
  const given = await admin.agents.get({ agent_id: agentId });
  expect(given).toMatchObject({ max_in_flight: 4, max_per_minute: 60 });
  expect(await run("why", agentId)).toContain("4 deliveries at once, 60 a minute");
  await run("agent", "update", agentId, "--max-in-flight", "none", "--max-per-minute", "none");
  const got = await admin.agents.get({ agent_id: agentId });
  expect(got).toMatchObject({ max_in_flight: null, max_per_minute: null });
  expect(await run("agent", "show", agentId)).toMatch(/Agent +stuck\nId +ag_[\w-]+\nState +\w+/);
  expect(await run("agent", "show", "Stuck")).toContain(agentId);
  const named = () => admin.agents.create({ name: "twin", delivery_mode: "poll" });
  const twins = [await named(), await named()].map(({ id }) => id);
  const expected = { code: 1, err: `2 agents are called twin: give an id, ${twins.join(" or ")}.\n` };
  expect(await cli.run(["agent", "show", "twin"])).toMatchObject(expected);
  const err = "No agent is called tuck: `sensorium agent list` shows all.\n";
  expect(await cli.run(["dlq", "list", "--agent", "tuck"])).toMatchObject({ code: 1, err });
  expect(await run("why", agentId)).toMatch(/State \w+: \d+ pending, .*\nLimits: lease \d+ s, /);
  expect(await run("why")).toMatch(/^Agent \w+ \(ag_[\w-]+\)\n/);
  expect(await cli.run(["why", agentId, "--event", "evt_none"])).toMatchObject({ code: 1 });
  const ran = await cli.run(["agent", "update", agentId]);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("Nothing to change") });
  expect(await cli.run(["agent", "update", agentId, "--retry-budget", "many"])).toMatchObject({ code: 2 });
  expect(await cli.run(["agent", "update", agentId, "--retry-delays", "10s,soon"])).toMatchObject({
    code: 2,
  });
});

test("past events are counted, replayed to an agent and listed", async () => {
  await admin.publish({ type: "com.example.past", source: "urn:t" });
  const { id } = await admin.agents.create({ name: "newcomer", delivery_mode: "poll" });
  const { id: interest } = await person.interests.create({ agent_id: id, event_type: "com.example.past" });
  const since = ["--since", "2020-01-01T00:00:00Z"];
  expect(await run("agent", "replays", "newcomer")).toBe("No replays.");
  const answer = await run("agent", "replay", "newcomer", ...since, "--dry-run");
  expect(answer).toBe("1 would be delivered, of 1 that match.");
  const started = await json("agent", "replay", id, ...since, "--interest", interest, "--per-minute", "60");
  expect(started).toMatchObject({ agent_id: id, interest_id: interest, per_minute: 60, again: false });
  const listed = () => run("agent", "replays", "newcomer");
  await settle(async () => /completed +1 +1 /.test(await listed()));
  expect(await run("agent", "replay", id, "--cancel")).toBe("No replay is running.");
  expect(await cli.run(["agent", "replay", id])).toMatchObject({ code: 2 });
  expect(await cli.run(["agent", "replay", id, "--since", "soon"])).toMatchObject({ code: 2 });
});

test("the doctor knows a person who signed in", async () =>
  expect(await run("doctor")).toMatch(/^✓ sign-in +\S+@\S+ \(admin\) in /m));

test("the service's own events are listed on demand", async () => {
  await run("publish", "com.example.noise", "{}");
  await agent.interests.create({ agent_id: agentId, event_type: "service.memory.*" });
  await run("remember", "A fact that is announced", "--scope", "institutional");
  const types = (...args: string[]) => run("event", "list", ...args, "--query", "[].payload.type");
  await settle(async () => (await types("--service")).includes("service.memory.created"));
  expect(await types()).not.toContain("service.");
  expect(await types("service.*")).toContain("service.memory.created");
});

test("memories are listed, changed, forgotten, restored and merged", async () => {
  const save = (title: string, type: string) =>
    json("remember", title, "--scope", "institutional", "--type", type).then(({ id }: { id: string }) => id);
  const one = await save("Parcels go by rail", "procedural");
  const two = await save("Parcels travel by rail", "semantic");
  await admin.projects.create({ key: "trains" });
  const changed = ["--tags", "parcels,rail", "--project", "trains"];
  expect(await run("memory", "update", one, ...changed)).toBe(`${one} changed.`);
  expect(await run("memory", "show", one)).toMatch(/Tags +parcels, rail/);
  const listed = (...args: string[]) => run("memories", "list", "by rail", ...args, "--query", "[].id");
  for (const filter of ["--tags rail", "--project trains", "--type procedural"])
    expect(await listed(...filter.split(" "))).toBe(one);
  expect(await json("memory", "list", "by rail", "--scope", "agent")).toEqual([]);
  expect(await run("memory", "forget", two)).toBe(`${two} forgotten.`);
  expect(await run("memory", "restore", two)).toBe(`${two} restored.`);
  const { id } = await json("memory", "merge", one, two);
  expect(await run("merge", "list")).toContain("Parcels go by rail | Parcels travel by rail");
  expect(await run("merge", "accept", id, "--keep", two)).toBe(`Merged into ${two}.`);
  expect(await json("memory", "show", one)).toMatchObject({ status: "merged" });
});

test("what a person remembers is for all, and the command says so", async () => {
  const { code, out, err } = await cli.run(["remember", "The gate opens at six", "--json"]);
  const answer = { code, note: JSON.parse(err).note };
  expect(answer).toEqual({ code: 0, note: expect.stringMatching(/whole tenant/) });
  expect(JSON.parse(out)).toMatchObject({ scope: "institutional", title: "The gate opens at six" });
});

test("documents and outputs are kept, found, exported and deleted", async () => {
  writeFileSync(join(cli.folder, "handbook.md"), "# Handbook\n\nHeavy parcels go by freight.\n");
  const add = ["document", "add", "handbook.md", "--sensitivity", "internal", "--wait"];
  const { document_id, status } = await json(...add);
  expect(status).toBe("stored");
  writeFileSync(join(cli.folder, "broken.pdf"), "no PDF");
  for (const [name, bytes, said] of [
    ["huge.pdf", 52_428_801, /huge\.pdf has 52\.4 MB: the service takes up to 52\.4 MB/],
    ["long.md", 10_000_001, /long\.md has 10000001 characters: the service reads up to 10000000\./],
  ] as const) {
    writeFileSync(join(cli.folder, name), "");
    truncateSync(join(cli.folder, name), bytes);
    const refused = await cli.run(["document", "add", name]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(said) });
  }
  const ran = await cli.run(["document", "add", "broken.pdf", "--wait"]);
  expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/^broken\.pdf was not stored: /) });
  const answer = await run("document", "list");
  expect(answer).toMatch(new RegExp(`^${document_id}  stored +internal.* handbook\\.md$`, "m"));
  expect(await run("document", "search", "heavy parcels")).toContain("Heavy parcels go by freight.");
  expect(await run("document", "delete", document_id)).toBe(`${document_id} deleted.`);
  const { id } = await json("output", "save", "@handbook.md", "--scope", "institutional");
  expect(await run("output", "show", id)).toContain("Heavy parcels go by freight.");
  expect(await run("output", "export", id, "handbook.html")).toBe("handbook.html written.");
  expect(readFileSync(join(cli.folder, "handbook.html"), "utf8")).toContain("<h1");
  const err = expect.stringContaining(
    "handbook.txt ends in .txt: expected md, html, pdf, docx, or --format.",
  );
  expect(await cli.run(["output", "export", id, "handbook.txt"])).toMatchObject({ code: 2, err });
  expect(await run("output", "export", id, "handbook.txt", "--format", "md")).toBe("handbook.txt written.");
  const off = await cli.run(["output", "export", id, "handbook.pdf"]);
  expect(off).toMatchObject({ code: 1, err: expect.stringContaining("OUTPUT_EXPORT=true") });
  expect(existsSync(join(cli.folder, "handbook.pdf"))).toBe(false);
  expect(await run("output", "list")).toContain(id);
  expect(await run("output", "delete", id)).toBe(`${id} deleted.`);
});

test("an agent and a team are deleted, once that is confirmed", async () => {
  const team = await admin.teams.create({ name: "Passing" });
  const { id } = await admin.agents.create({ name: "passing", delivery_mode: "poll", team_id: team.id });
  const expected = { code: 2, err: expect.stringContaining(`Delete the team ${team.id}? Give --yes.`) };
  expect(await cli.run(["team", "delete", "passing"])).toMatchObject(expected);
  expect(await run("team", "delete", "passing", "--yes")).toBe(`${team.id} deleted; agents that left it: 1.`);
  const err = expect.stringContaining("Delete passing with its private memories and 0 undelivered events?");
  expect(await cli.run(["agent", "delete", "passing"])).toMatchObject({ code: 2, err });
  expect(await json("agent", "delete", "passing", "--yes")).toMatchObject({ id, erased: expect.anything() });
  await expect(admin.agents.get({ agent_id: id })).rejects.toMatchObject({ code: "not_found" });
});

test("agents, their keys and teams are created, listed and deleted", async () => {
  const team = await json("team", "create", "Night shift", "--description", "Awake");
  expect(await run("team", "list")).toMatch(new RegExp(`^${team.id} .* Night shift$`, "m"));
  expect(await run("agent", "create", "lamp", "--team", team.id)).toMatch(/^Delivery mode +poll$/m);
  const key = await json("key", "create", "lamp", "--scopes", "send,receive", "--name", "first");
  expect(key).toMatchObject({ key: expect.stringMatching(/^ak_live_/), scopes: ["send", "receive"] });
  expect(await run("key", "list", "lamp")).toContain("send, receive");
  expect(await run("key", "delete", "lamp", key.id)).toBe(`${key.id} deleted.`);
  expect(await run("agent", "delete", "lamp", "--shared", "erase", "--yes")).toMatch(/ deleted/);
  expect(await run("agent", "list", "lamp")).toBe("No agents.");
});

test("webhooks, connectors and templates are created, listed and deleted", async () => {
  const hook = await json("webhook", "create", "GitHub", "--source", "github", "--mapping", "github");
  expect(hook.signing_secret).toMatch(/^whsec_/);
  expect(await run("webhook", "list")).toContain(hook.id);
  expect(await run("webhook", "delete", hook.id)).toBe(`${hook.id} deleted.`);
  const mapping = JSON.stringify({ entity: "order", action: "placed" });
  const broker = ["--kind", "amqp091", "--broker", "amqp://user:pass@127.0.0.1:9/", "--queue", "orders"];
  const words = ["connector", "create", "Orders", ...broker, "--source", "erp", "--mapping", mapping];
  const expected = { code: 1, err: expect.stringMatching(/^url: 127\.0\.0\.1 is not a public address/) };
  expect(await cli.run(words)).toMatchObject(expected);
  expect(await run("connector", "list")).toBe("No connectors.");
  const steps = [{ step_key: "only", title: "Only", completion_mode: "attestation" }];
  writeFileSync(join(cli.folder, "template.json"), JSON.stringify({ name: "One", slug: "one", steps }));
  await run("template", "create", "@template.json");
  expect(await run("template", "list")).toMatch(/^one +1 +One$/m);
  expect(await run("template", "show", "one")).toMatch(/^Slug +one$/m);
});

test("a step is skipped and reopened, and a run closed", async () => {
  const step = { title: "A step", completion_mode: "attestation" };
  const steps = ["first", "second"].map((step_key) => ({ ...step, step_key }));
  await admin.templates.author({ name: "Two steps", slug: "two", steps } as never);
  const { id } = await json("run", "create", "Get it done", "--template", "two");
  expect(await run("run", "skip", id, "first", "--reason", "Not needed")).toBe("first skipped.");
  expect(await run("run", "reopen", id, "first", "--reason", "Needed")).toBe("first reopened.");
  const answer = await run("run", "close", id, "--outcome", "abandoned", "--note", "Enough");
  expect(answer).toBe(`${id} closed: abandoned.`);
  expect(await run("run", "list", "--status", "closed", "--query", "[].id")).toBe(id);
});

test("api calls any operation, with fields, a body, pages and outside /v1", async () => {
  expect(await run("api", "GET", "/agents", "--paginate", "--query", "id")).toContain(agentId);
  expect(await run("api", "get", "/v1/events?limit=1", "--query", "length(events)")).toBe("1");
  expect(await run("api", "GET", "/readyz", "--query", "status")).toBe("ready");
  await run("api", "PATCH", `/agents/${agentId}`, "--field", "name=unstuck", "-F", "retry_budget=2");
  expect(await person.agents.get({ agent_id: agentId })).toMatchObject({ name: "unstuck", retry_budget: 2 });
  const memory = { title: "By hand", content: "ü", type: "semantic", scope: "institutional" };
  writeFileSync(join(cli.folder, "memory.json"), JSON.stringify(memory));
  const { id } = await json("api", "POST", "/memories", "--input", "memory.json");
  expect(await person.memories.get({ id })).toMatchObject({ content: "ü" });
  const ran = await cli.run(["api", "GET", "/nowhere"]);
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("(not_found") });
  expect(await cli.run(["api", "GET", "/readyz", "--paginate"])).toMatchObject({ code: 2 });
});

/** How a shell, which has read the script, is asked what may follow words, the last of which is being typed. */
const ASK: Record<string, { read: string; ask: (words: string[]) => string }> = {
  bash: {
    read: ". ./script",
    ask: (words) =>
      `COMP_WORDS=(sensorium ${words.map((each) => `'${each}'`).join(" ")}); COMP_CWORD=${words.length}
       _sensorium; printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    // The completion system needs a terminal: its functions only print here.
    read: `compdef() { }; compadd() { shift; eval "print -l -- \\"\\\${(@)$1}\\""; }; _files() { }; . ./script`,
    ask: (words) =>
      `words=(sensorium ${words.map((each) => `'${each}'`).join(" ")}); CURRENT=${words.length + 1}; _sensorium`,
  },
  fish: { read: "source script", ask: (words) => `complete -C "sensorium ${words.join(" ")}"` },
};
const STATUSES = ["active", "closed", "completed"];
const COMPLETED: [string[], string[]][] = [
  [["rem"], ["remember"]],
  [["dlq", "re"], ["replay"]],
  [["run", "list", "--st"], ["--status"]],
  [["run", "list", "--status", ""], STATUSES],
];

describe.each(Object.entries(ASK))("%s", (shell, { read, ask }) => {
  const completes = onPath(shell) ? test : test.skip;
  completes("completes what is typed", async () => {
    const home = { PATH: `${cli.folder}/bin:${process.env.PATH}`, HOME: cli.folder, TERM: "dumb" };
    mkdirSync(join(cli.folder, "bin"), { recursive: true });
    const program = `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`;
    writeFileSync(join(cli.folder, "bin/sensorium"), program, { mode: 0o755 });
    writeFileSync(join(cli.folder, "script"), await run("completion", shell));
    const lines = [read, ...COMPLETED.flatMap(([words]) => [ask(words), "echo ."])].join("\n");
    const shown = execFileSync(shell, ["-c", lines], { cwd: cli.folder, env: { ...home, ...COMPILED } });
    const found = shown.toString().split(".\n").slice(0, -1);
    expect(found.map((each) => each.trim().split("\n").sort())).toEqual(COMPLETED.map(([, each]) => each));
  });
});

test("colours are for terminals, unless they are asked for, and NO_COLOR wins", async () => {
  const list = (env: Record<string, string>) => cli.run(["profile", "list"], { env }).then(({ out }) => out);
  expect(await list({})).not.toContain("\x1b[");
  expect(await list({ FORCE_COLOR: "1" })).toContain("\x1b[1m");
  expect(await list({ FORCE_COLOR: "1", NO_COLOR: "1" })).not.toContain("\x1b[");
});
