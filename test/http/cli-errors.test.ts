import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { COMMANDS } from "../../packages/client/cli/commands.ts";
import { find } from "../../packages/client/cli/find.ts";
import { parse } from "../../packages/client/cli/parse.ts";
import { createClient } from "../../packages/client/index.ts";
import { type Cli, newCli } from "../support/cli.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";

const REVOKED = `ak_live_${"0".repeat(32)}`;
const NOWHERE = "http://127.0.0.1:9";
const FILE = join(import.meta.dirname, "../../README.md");

interface Line {
  words: string[];
  /** The codes that the command fails with, if they are not the usual ones; `goes on` if it does not end. */
  refused?: string;
  unreached?: string;
}

/** What a call of a command needs beyond its words. */
const SPECIAL: Record<string, Partial<Line>> = {
  connect: { words: ["BCDF-2345"], refused: "not_found" },
  listen: { unreached: "goes on" },
  publish: { words: ["com.example.tried"] },
  api: { words: ["GET", "/events"] },
  "agent update": { words: ["x", "--name", "y"] },
  "interest update": { words: ["x", "--priority", "1"] },
  "agent replay": { words: ["x", "--since", "2026-01-31"] },
  "agent delete": { words: ["ag_x", "--yes"] },
  "team delete": { words: ["team_x", "--yes"] },
  "document add": { words: [FILE] },
  "key create": { words: ["x", "--scopes", "send"] },
  "template create": { words: ["{}"] },
  "webhook create": { words: ["x", "--source", "y", "--mapping", "github"] },
  "connector create": {
    words: ["x", ..."--kind amqp091 --broker amqp://h --source y --mapping {}".split(" ")],
  },
  "memory update": { words: ["x", "--title", "y"] },
  "run create": { words: ["x", "--template", "y"] },
  "run skip": { words: ["x", "y", "--reason", "z"] },
  "run reopen": { words: ["x", "y", "--reason", "z"] },
  "run close": { words: ["x", "--outcome", "achieved"] },
  "schedule create": { words: ["com.example.tried", "--in", "1h"] },
  "schedule next": { words: ["--cron", "@daily"] },
  "dlq replay": { words: ["dlv_x"] },
  "dlq discard": { words: ["dlv_x"] },
  "merge accept": { words: ["x", "--keep", "y"], refused: "not_signed_in", unreached: "not_signed_in" },
  "merge reject": { refused: "not_signed_in", unreached: "not_signed_in" },
  "approval answer": { refused: "not_signed_in", unreached: "not_signed_in" },
  "output export": { refused: "not_signed_in", unreached: "not_signed_in" },
  work: { unreached: "goes on" },
  mcp: { refused: "in an answer", unreached: "in an answer" },
  doctor: { refused: "check_failed", unreached: "check_failed" },
};
/** These ask no service, or ask as somebody else: the tests of cli-operate. */
const LOCAL = ["login", "profile list", "profile use", "profile logout", "admin", "completion"];

/**
 * A valid call of every command: its required words are what the help calls them. Lenient ones never fail: the tests of
 * cli-hook.
 */
const COMMAND_LINES = Object.entries(COMMANDS)
  .filter(([name, { lenient }]) => !LOCAL.includes(name) && !lenient)
  .map(([name, { takes }]): [string, Line] => {
    const words = takes.split(" ").filter((each) => /^[A-Z]/.test(each));
    return [name, { words: words.map((each) => each.toLowerCase()), ...SPECIAL[name] }];
  });

const isError = (unreached?: string) => !["goes on", "in an answer"].includes(unreached ?? "");

/** Without a server each retries for some seconds, and the actions of a group do it alike. */
const isFirst = (name: string) =>
  COMMAND_LINES.find(([each]) => each.split(" ")[0] === name.split(" ")[0])?.[0] === name;

let server: TestServer;
let cli: Cli;

/** The outcome of each with a key that is refused, and without a server. */
const refusals = new Map<string, Promise<Failure>>();
const unanswered = new Map<string, Promise<Failure>>();
const AT_ONCE = 12;

beforeAll(async () => {
  // It has no limits of failures: every command is refused once.
  server = await startShared();
  cli = newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: REVOKED });
  const queue: (() => Promise<void>)[] = [];
  const enqueue = (args: string[]) => {
    const { promise, resolve } = Promise.withResolvers<Failure>();
    queue.push(async () =>
      resolve(await errorOf(args).catch((error) => ({ exit: -1, message: `${error}` }))),
    );
    return promise;
  };
  for (const [name, { words, refused, unreached }] of COMMAND_LINES) {
    const args = [...name.split(" "), ...words];
    if (refused !== "in an answer") refusals.set(name, enqueue(args));
    if (isError(unreached) && isFirst(name)) unanswered.set(name, enqueue([...args, "--url", NOWHERE]));
  }
  const work = async () => {
    for (let run = queue.shift(); run; run = queue.shift()) await run();
  };
  // Each test waits for its own.
  for (let n = 0; n < AT_ONCE; n++) void work();
});

afterAll(async () => {
  await cli?.remove();
  await server?.stop();
});

const linesOf = (err: string) => err.trimEnd().split("\n");

interface Failure {
  exit: number;
  code?: string;
  message: string;
}

/** The one error of a command that fails. */
async function errorOf(args: string[], env: Record<string, string> = {}): Promise<Failure> {
  const { code, err } = await cli.run([...args, "--json"], { env });
  const [line = "", ...more] = linesOf(err);
  expect(more).toEqual([]);
  const { error, ...rest } = JSON.parse(line);
  expect(rest).toEqual({});
  return { exit: code, ...error };
}

describe.each(COMMAND_LINES)("%s", (name, { words, refused, unreached }) => {
  test("refuses an unknown option", () => {
    const found = find([...name.split(" "), ...words, "--nonsense"]);
    if (found.kind !== "command") throw new Error(`found no command, but ${found.kind}`);
    expect(found.name).toBe(name);
    expect(() => parse(found.name, found.command, found.rest)).toThrow("Unknown option '--nonsense'");
  });

  if (refused !== "in an answer")
    test("reports refusals of the service", async () => {
      const told = await refusals.get(name);
      expect(told).toMatchObject({ exit: 1, code: refused ?? "authentication_failed" });
      if (refused === "check_failed") expect(told?.message).toMatch(/^key: ak_live_0000… .* is refused/);
      else if (refused !== "not_signed_in")
        expect(told).toMatchObject({ details: {}, request_id: expect.stringMatching(/^req_/) });
    });

  if (isError(unreached) && isFirst(name))
    test("reports that no server answers", async () => {
      expect(await unanswered.get(name)).toEqual({
        exit: 1,
        code: unreached ?? "unreachable",
        message: expect.stringContaining(NOWHERE),
      });
    });
});

test("listen reports transient errors and continues", async () => {
  const listening = cli.start(["listen", "--json", "--url", NOWHERE]);
  await settle(() => listening.err().split("\n").length > 2);
  listening.kill("SIGINT");
  const { err } = await listening.ended;
  const codes = linesOf(err).map((line) => JSON.parse(line).error.code);
  expect(new Set(codes)).toEqual(new Set(["unreachable"]));
});

test("listen reports an event that it rejects", async () => {
  const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
  const agent = await admin.agents.create({ name: "hands back", delivery_mode: "sse" });
  const { key } = await admin.keys.create({ agent_id: agent.id, scopes: ["receive"] });
  const receiver = createClient({ url: server.url, apiKey: key });
  await receiver.interests.create({ agent_id: agent.id, event_type: "com.example.job" });
  await admin.publish({ type: "com.example.job", source: "urn:t" });
  const exec = ["listen", "--json", "--exec", "exit 3"];
  const listening = cli.start(exec, { env: { SENSORIUM_API_KEY: key } });
  await settle(() => listening.err().includes("\n"));
  listening.kill("SIGINT");
  const [line = ""] = linesOf((await listening.ended).err);
  expect(JSON.parse(line)).toEqual({
    error: {
      code: "command_failed",
      message: expect.stringMatching(/^com\.example\.job \S+: exit 3 ended with 3$/),
    },
  });
});

test("mcp reports errors within its protocol", async () => {
  const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
  const { code, out, err } = await cli.run(["mcp", "--json"], { input });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toMatchObject({ id: 1, error: { data: { code: "authentication_failed" } } });
});

test("doctor still prints its findings", async () => {
  const { code, out } = await cli.run(["doctor", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ mark: "wrong", what: "key" }));
});

test.each<[string[], Record<string, string>, object]>([
  [["nonsense"], {}, { exit: 2, code: "usage_error", message: '"nonsense" is not a command.' }],
  [["--profile", "x"], {}, { exit: 2, code: "usage_error", message: "COMMAND is missing." }],
  [["help", "me"], {}, { exit: 2, code: "usage_error", message: '"me" is not a command.' }],
  [["recall"], {}, { exit: 2, code: "usage_error", details: { usage: "sensorium recall QUERY" } }],
  [
    ["run", "create", "Write", "notes"],
    {},
    { exit: 2, message: expect.stringMatching(/^Unexpected argument "notes" for run create/) },
  ],
  [
    ["interest", "list", "mine"],
    {},
    { exit: 2, message: expect.stringMatching(/^Unexpected argument "mine" for interest list/) },
  ],
  [
    ["handoff", "save", "p", "--payload", "[1]"],
    {},
    { exit: 2, message: expect.stringMatching(/^--payload is not a JSON obj/) },
  ],
  [
    ["doctor", "--url", "ftp://x"],
    {},
    { exit: 2, message: expect.stringMatching(/^"ftp:\/\/x" is not a URL/) },
  ],
  [["publish", "a.b", "@nowhere"], {}, { exit: 1, code: "unreadable_file" }],
  [["doctor", "--profile", "work"], {}, { exit: 1, code: "unknown_profile" }],
  [["recall", "x"], { SENSORIUM_API_KEY: "" }, { exit: 1, code: "authentication_failed" }],
  [["recall", "x"], { SENSORIUM_API_KEY: "x" }, { code: "validation_failed", details: { field: "api_key" } }],
  [
    ["recall", "x", "--nonsense"],
    {},
    { exit: 2, code: "usage_error", details: { usage: "sensorium recall QUERY" } },
  ],
])("%j tells", async (args, env, told) => {
  expect(await errorOf(args, env)).toMatchObject(told);
});

test("reports unreadable profiles", async () => {
  const home = newCli({ XDG_CONFIG_HOME: "/dev/null", SENSORIUM_URL: server.root });
  try {
    const { code, err } = await home.run(["recall", "x", "--json"]);
    expect({ code, ...JSON.parse(err) }).toMatchObject({ code: 1, error: { code: "unreadable_file" } });
  } finally {
    await home.remove();
  }
});

test("reports an unexpected error with its stack", async () => {
  const home = newCli();
  try {
    mkdirSync(join(home.folder, ".config/sensorium"), { recursive: true });
    writeFileSync(join(home.folder, ".config/sensorium/profiles.json"), '{"broken": null}');
    const { code, err } = await home.run(["profile", "list", "--json"]);
    const error = { code: "unexpected_error", details: { stack: expect.stringContaining("profile.ts") } };
    expect({ code, ...JSON.parse(err) }).toMatchObject({ code: 1, error });
  } finally {
    await home.remove();
  }
});

test("reports the error that ends listen once", async () => {
  const { code, err } = await cli.run(["listen"]);
  expect({ code, lines: linesOf(err) }).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^The key from SENSORIUM_API_KEY is refused/),
      "Run sensorium doctor for details.",
    ],
  });
});

test("what follows -- is no option", async () => {
  const { code, err } = await cli.run(["recall", "--", "--json"]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^The key from SENSORIUM_API_KEY/) });
});
