import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { byLogin, createClient } from "../../packages/client/index.ts";
import { type Cli, newAgent, newCli } from "../support/cli.ts";
import { serving } from "../support/serving.ts";
import { settle } from "../support/settle.ts";
import { use, useShared } from "../support/use.ts";

const server = await useShared("local");
const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
const person = createClient({ url: server.url, authorize: byLogin(server.credentials.admin) });
const scopes = ["send", "receive", "memory:read", "memory:write"] as const;
const made = await newAgent(server, admin, "at the terminal", [...scopes]);
const agentId = made.id;
const cli = use(newCli(made.env));

/** The status of the agent's code, once a device has claimed it. */
const claimed = () =>
  settle(async () => {
    const now = await person.devices.status({ agent_id: agentId });
    return now.state === "verifying" && now;
  });
const json = (...args: string[]) => cli.json(...args);

describe("connect", () => {
  let device: Cli;

  beforeAll(() => {
    // Nothing is set: what `connect` keeps is all there is.
    device = newCli();
  });

  afterAll(() => device.remove());

  test("a person approves the device, whose key is kept for its owner alone", async () => {
    const { user_code } = await person.devices.issue({ agent_id: agentId });
    const typed = user_code.toLowerCase().replace("-", "");
    const running = device.start(["connect", typed, "--name", "laptop", "--url", server.root]);
    const status = await claimed();
    expect(status.client_info).toMatchObject({ name: "laptop" });
    await settle(() => running.err().includes("Waiting for a person to approve laptop"));
    const claim_id = status.claim_id as string;
    await person.devices.confirm({ agent_id: agentId, claim_id, action: "approve" });
    const { code, out } = await running.ended;
    expect([code, out]).toEqual([0, expect.stringContaining(`Connected to the agent ${agentId}.`)]);
    const file = join(device.folder, ".config/sensorium/profiles.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = { api_key: expect.stringMatching(/^ak_live_/), session_id: expect.stringMatching(/^ses_/) };
    expect(JSON.parse(readFileSync(file, "utf8")).default).toMatchObject({ url: server.root, ...kept });
    expect(out).not.toContain("ak_live_");
    const published = await device.run(["publish", "com.example.connected"]);
    expect(published).toMatchObject({ code: 0, out: expect.stringMatching(/^evt_[\w-]+ accepted\n$/) });
  });

  test("its key is sent to no other address", async () => {
    const heard: string[] = [];
    const other = await serving((request, response) => {
      heard.push(`${request.url} ${request.headers.authorization}`);
      response.end("{}");
    });
    await device.run(["publish", "com.example.elsewhere", "--url", other.url]);
    await other.close();
    expect(heard).toEqual(["/v1/events undefined"]);
  });

  test("a service that is away for a moment while one waits does not lose the code", async () => {
    const made = { session_id: "ses_1", agent_id: "ag_1", api_key: `ak_live_${"0".repeat(32)}` };
    let asked = 0;
    const away = await serving((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url === "/v1/device-codes:claim") response.end(JSON.stringify({ claim_id: "cl_1" }));
      else if (++asked === 1) request.socket.destroy();
      else if (asked === 2) response.writeHead(502, { "content-type": "text/html" }).end("Bad Gateway");
      else response.end(JSON.stringify(made));
    });
    const other = newCli();
    const answer = await other.run(["connect", "BCDF-2345", "--url", away.url]);
    expect(answer).toMatchObject({ code: 0, out: expect.stringContaining("Connected to the agent ag_1.") });
    await Promise.all([other.remove(), away.close()]);
  });

  test("reports an unknown or denied code", async () => {
    const err = expect.stringMatching(/^No pending code BCDF-2345: .* The console creates a new one/);
    expect(await device.run(["connect", "BCDF-2345", "--url", server.root])).toMatchObject({ code: 1, err });
    const { user_code } = await person.devices.issue({ agent_id: agentId });
    const running = device.start(["connect", user_code]);
    const { claim_id } = await claimed();
    await person.devices.confirm({ agent_id: agentId, claim_id: claim_id as string, action: "reject" });
    const expected = { code: 1, err: expect.stringContaining("The code was denied or has expired.") };
    expect(await running.ended).toMatchObject(expected);
  });
});

describe("the file of a server in the folder", () => {
  let here: Cli;
  let other: Awaited<ReturnType<typeof serving>>;
  let heard: string[];
  beforeEach(async () => {
    here = newCli();
    heard = [];
    other = await serving(({ url, headers }, response) => {
      heard.push(`${url} ${headers.authorization ?? ""}`.trim());
      response.end("{}");
    });
  });
  afterEach(() => Promise.all([here.remove(), other.close()]));

  const API_KEY = `ak_live_${"0".repeat(32)}`;
  const leave = (folder: string, base_url: string, mode = 0o600) => {
    mkdirSync(join(here.folder, folder), { recursive: true });
    const file = join(here.folder, folder, "credentials.json");
    writeFileSync(file, JSON.stringify({ base_url, agent: { api_key: API_KEY } }));
    chmodSync(file, mode);
  };
  const profile = (url: string) => {
    mkdirSync(join(here.folder, ".config/sensorium"), { recursive: true });
    const saved = { default: { url, api_key: `ak_live_${"1".repeat(32)}` } };
    writeFileSync(join(here.folder, ".config/sensorium/profiles.json"), JSON.stringify(saved));
  };
  const PUBLISH = ["publish", "com.example.elsewhere"];

  /** Has a command ask the other server, and say why. */
  const asksOther = async (said: string, env: Record<string, string> = {}) => {
    const { err } = await here.run(PUBLISH, { env });
    expect(new Set(heard)).toEqual(new Set(["/v1/auth/token"]));
    expect(err).toContain(said);
  };

  test("is used if only its owner has access to it, and the command says so", () => {
    leave("data", `${other.url}/v1`);
    const key = "the key in data/credentials.json";
    return asksOther(`Using the server of this folder: ${other.url}/v1 and ${key}.`);
  });

  test.each([
    ["others may read", 0o644],
    ["a group may write", 0o620],
  ])("is not used if %s", async (_, mode) => {
    leave("data", `${other.url}/v1`, mode);
    const { err } = await here.run([...PUBLISH, "--url", other.url]);
    expect(heard.filter((each) => each !== "/v1/events")).toEqual([]);
    leave("data", `${server.root}/v1`, mode);
    expect((await here.run(["recall", "x", "--url", server.root])).err).toContain(
      "data/credentials.json: not used, as others have access to it: run chmod 600 data/credentials.json",
    );
    expect(err).not.toContain("Using the server");
  });

  test("is not used if it names another machine, or no server wrote it", async () => {
    leave("data", "https://sensorium.example.com/v1");
    const args = ["recall", "x", "--url", server.root];
    expect((await here.run(args)).err).toContain(
      "not used, as https://sensorium.example.com/v1 is not on this machine: set SENSORIUM_URL",
    );
    leave("data", "");
    expect((await here.run(args)).err).toContain("not used, as no server wrote it");
    const path = join(here.folder, "data/credentials.json");
    writeFileSync(path, "{");
    expect((await here.run(args)).err).toContain("data/credentials.json: cannot be read: ");
  });

  test("does not redirect the key of the environment", async () => {
    leave("data", `${other.url}/v1`);
    await here.run(PUBLISH, { env: { SENSORIUM_API_KEY: server.credentials.agent.api_key } });
    expect(heard).toEqual([]);
  });

  test.each([[{}], [{ DATA_DIR: "data" }]])("is nothing to hooks and the bridge, with %j", async (env) => {
    leave("data", `${other.url}/v1`);
    const start = { hook_event_name: "SessionStart", session_id: "s", cwd: here.folder };
    const hooked = await here.run(["hook", "codex"], { input: JSON.stringify(start), env });
    expect(hooked).toMatchObject({ code: 0, out: "{}\n", err: expect.stringContaining("No API key") });
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const bridged = await here.run(["mcp"], { input: `${JSON.stringify(message)}\n`, env });
    const told = expect.stringContaining("data/credentials.json: never used by this command");
    expect(JSON.parse(bridged.out)).toMatchObject({ id: 1, error: { message: told } });
    expect(heard).toEqual([]);
  });

  test("precedes a saved profile if DATA_DIR names it", () => {
    profile(server.root);
    leave("elsewhere", `${other.url}/v1`);
    const said = `(from elsewhere/credentials.json); the profile default says ${server.root}.`;
    return asksOther(`Using ${other.url}/v1 ${said}`, { DATA_DIR: "elsewhere" });
  });

  test("follows a saved profile otherwise, which the command shows", async () => {
    profile(other.url);
    leave("data", `${server.root}/v1`);
    const using = `Using ${other.url} (from the profile default);`;
    await asksOther(`${using} data/credentials.json says ${server.root}/v1.`);
    await asksOther(`${using} none/credentials.json: not there.`, { DATA_DIR: "none" });
  });

  test("SENSORIUM_URL precedes a saved profile, and uses the key of that server", () => {
    profile(server.root);
    leave("data", `${other.url}/v1`);
    const said = `(from SENSORIUM_URL); the profile default says ${server.root}.`;
    return asksOther(`Using ${other.url} ${said}`, { SENSORIUM_URL: other.url });
  });

  test("a profile that is typed precedes the environment, without a word", async () => {
    profile(other.url);
    const env = { SENSORIUM_URL: server.root, SENSORIUM_API_KEY: server.credentials.agent.api_key };
    const { err } = await here.run([...PUBLISH, "--profile", "default"], { env });
    expect(new Set(heard)).toEqual(new Set(["/v1/auth/token"]));
    expect(err).not.toContain("Using");
  });
});

test("a relative XDG_CONFIG_HOME names no folder of the working directory", async () => {
  const here = newCli({ XDG_CONFIG_HOME: "config" });
  mkdirSync(join(here.folder, "config/sensorium"), { recursive: true });
  const planted = { default: { url: "http://127.0.0.1:9" } };
  writeFileSync(join(here.folder, "config/sensorium/profiles.json"), JSON.stringify(planted));
  expect(JSON.parse((await here.run(["profile", "list", "--json"])).out)).toEqual([]);
  await here.remove();
});

test("recalls a memory", async () => {
  const words = ["Invoices are due in 30 days", "ACME pays late.", "--tags", "money,acme"];
  const { id } = await json("remember", ...words);
  const { results } = await json("recall", "when are invoices due");
  expect(results[0]).toMatchObject({ memory: { id, tags: ["money", "acme"] } });
  const { out } = await cli.run(["recall", "when are invoices due"]);
  expect(out).toContain(`Invoices are due in 30 days  (semantic, agent, ${id})\n  ACME pays late.`);
});

test("remembers a text of several lines under its first", async () => {
  const content = "Pallets are counted twice.\nBy two people.";
  expect(await json("remember", content, "--subject", "pallet-9")).toMatchObject({
    ...{ title: "Pallets are counted twice.", content, subject: "pallet-9", type: "semantic" },
    scope: "agent",
  });
});

test("measures search with questions of one's own, compares settings, and keeps the trend", async () => {
  const { id } = await json("remember", "The lighthouse keeper is called Edda Holm.");
  const lines = [
    { question: "what is the lighthouse keeper called?", answers: [id] },
    { question: "who is the lighthouse keeper?", answers: ["edda holm"] },
    { question: "xylophone zeppelin quagmire", answers: [] },
    { question: "jellyfish umbrella nocturne", answers: ["nobody said this"] },
  ];
  writeFileSync(join(cli.folder, "own.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  const right = { questions: 4, hit5: 2 / 3, recall10: 2 / 3, false_answers: 0, missing_answers: 1 };
  const { runs } = await json("eval", "own.jsonl", "--against", '{"min_score": 1}');
  expect(runs).toMatchObject([
    { params: {}, hit1: 2 / 3, ...right },
    { params: { min_score: 1 }, hit1: 0, recall10: 0, missing_answers: 3 },
  ]);
  const { out } = await cli.run(["eval", "own.jsonl", "--verbose"]);
  expect(out).toMatch(/^\{\} +4 +66\.7 % +66\.7 % +66\.7 % +0 +1$/m);
  expect(out).toContain("jellyfish umbrella nocturne");
  expect(out).toMatch(/^hit@5 +▆▆$/m);
  writeFileSync(join(cli.folder, "own.jsonl"), '{"question": "whose?"}\n{"answers": 3}');
  expect((await cli.run(["eval", "own.jsonl"])).err).toContain("own.jsonl, line 2: expected");
});

test("filters memories by owner, time and metadata", async () => {
  const { id } = await json("remember", "Invoices of the harbour", "Paid in March.");
  const of = ["--metadata", '{"port": "north"}'];
  expect((await json("recall", "invoices of the harbour", ...of)).results).toEqual([]);
  expect(await json("memory", "list", ...of)).toEqual([]);
  const { agent_id, created_at } = await json("memory", "show", id);
  const filters = ["--agent", agent_id, "--created-from", created_at];
  expect((await json("recall", "invoices of the harbour", ...filters)).results[0].memory.id).toBe(id);
  expect(await json("memory", "list", ...filters)).toMatchObject([{ id }]);
});

test("saves and resumes a handoff", async () => {
  const answer = await json("handoff", "save", "work", "--summary", "Half done", "--next", "The rest");
  expect(answer).toMatchObject({ version_num: 1, payload: { next_action: "The rest" } });
  expect(await json("handoff", "list")).toMatchObject([{ name: "work" }]);
  const { out } = await cli.run(["handoff", "resume", "work"]);
  expect(out).toMatch(/^# Handoff: work\n.*Half done.*The rest/s);
});

test("a run is begun from a template and done step by step", async () => {
  const step = { completion_mode: "attestation", title: "A step" } as const;
  const first = { ...step, step_key: "first" };
  const steps = [first, { ...step, step_key: "second", depends_on: ["first"] }];
  await admin.templates.author({ name: "Two steps", slug: "two-steps", steps } as never);
  const { id } = await json("run", "create", "Get it done", "--template", "two-steps");
  expect(await json("run", "list")).toMatchObject([{ id, status: "active" }]);
  expect((await cli.run(["run", "start", id, "first"])).out).toBe("first started.\n");
  expect((await cli.run(["run", "complete", id, "first", "--note", "Looked"])).out).toBe(
    "first completed. Now ready: second.\n",
  );
  expect((await cli.run(["run", "show", id])).out).toContain("Get it done");
  expect((await cli.run(["run", "start", id, "none"])).err).toMatch(/step "?none.*\(not_found, request req_/);
  await cli.run(["run", "start", id, "second"]);
  expect((await cli.run(["run", "complete", id, "second"])).out).toBe("second completed. Run completed.\n");
});

describe("doctor", () => {
  test("finds nothing wrong", async () => {
    await person.interests.create({ agent_id: agentId, event_type: "com.example.order.*" });
    await settle(async () => (await person.memories.health()).embed_gap_count === 0);
    const { code, out } = await cli.run(["doctor"]);
    expect(code).toBe(0);
    expect(out.match(/^\S/gm)).toEqual(["✓", "✓", "✓", "✓", "✓", "✓"]);
    expect(out).toContain("of the agent at the terminal in ");
    expect(out).toContain("✓ events   1 interest; 0 deliveries pending");
    expect(out).toContain("✓ memories all are found by meaning");
  });

  test("counts each pending delivery once, also one that is leased", async () => {
    const of = { event_type: "com.example.late", delivery_mode: "poll" } as const;
    const { client: agent, env } = await newAgent(server, admin, "late", ["receive"], of);
    for (const id of ["late-1", "late-2"])
      await admin.publish({ id, type: "com.example.late", source: "https://shop.example.com" });
    await settle(async () => (await agent.deliveries.stats()).pending === 2);
    expect((await agent.deliveries.poll({ limit: 1 })).deliveries).toHaveLength(1);
    const { out } = await cli.run(["doctor"], { env });
    expect(out).toContain("✓ events   1 interest; 2 deliveries pending");
  });

  test.each([
    ["nothing listens", { SENSORIUM_URL: "http://127.0.0.1:9" }, /✗ address .*(nothing listens|bad port)/],
    ["a revoked key", { SENSORIUM_API_KEY: `ak_live_${"0".repeat(32)}` }, /✗ key .* is refused: revoked/],
    ["the key is none", { SENSORIUM_API_KEY: "secret" }, /✗ key .* is not an API key: expected ak_live_/],
    ["there is no key", { SENSORIUM_API_KEY: "" }, /✗ key .*none: run `sensorium connect`/],
  ])("%s", async (_, env, told) => {
    const { code, out } = await cli.run(["doctor"], { env });
    expect([code, out]).toEqual([1, expect.stringMatching(told)]);
  });

  test("names a missing scope and its use", async () => {
    const { key } = await admin.keys.create({ agent_id: agentId, scopes: ["send"] });
    const { code, out } = await cli.run(["doctor"], { env: { SENSORIUM_API_KEY: key } });
    expect([code, out]).toEqual([0, expect.stringContaining("! scopes   without receive: no listen")]);
  });
});

test("global options may precede the command", async () => {
  const { url } = server;
  await using bare = newCli();
  const { code, out } = await bare.run(["--url", url, "--json", "publish", "--", "-x"]);
  expect([code, out]).toEqual([1, ""]);
  const answer = await bare.run([`--url=${url}`, "doctor"]);
  expect(answer).toMatchObject({ out: expect.stringContaining(`✓ address  ${url} (from --url)`) });
});

test.each([
  ["--json --help run", /^sensorium run COMMAND/],
  ["--help --url http://x run", /^sensorium run COMMAND/],
  ["help --json run", /^sensorium run COMMAND/],
  ["--json help --profile x run", /^sensorium run COMMAND/],
  ["--json -h", /^sensorium COMMAND/],
  ["--url http://x help", /^sensorium COMMAND/],
  ["", /^ {2}recall +Searches/m],
  ["listen --help", /^sensorium listen/],
  ["help run", /^sensorium run COMMAND\n\n {2}list/],
])("help is given wherever it is asked for: %s", async (args, told) => {
  const ran = await cli.run(args.split(" ").filter(Boolean));
  expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(told) });
});

test.each([["--version"], ["--json --version"]])(
  "the program itself runs, and says its version: %s",
  async (args) => {
    const ran = await cli.spawn(args.split(" ")).ended;
    expect(ran).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: "" });
  },
);
