import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { COMMANDS } from "../../packages/client/cli/commands.ts";
import { find } from "../../packages/client/cli/find.ts";
import { parse } from "../../packages/client/cli/parse.ts";
import { createClient } from "../../packages/client/index.ts";
import { newAgent, newCli } from "../support/cli.ts";
import { settle } from "../support/settle.ts";
import { use, useShared } from "../support/use.ts";

const REVOKED = `ak_live_${"0".repeat(32)}`;
const NOWHERE = "http://127.0.0.1:9";
const FILE = join(import.meta.dirname, "../../README.md");

interface Line {
  words: string[];
  /** The codes that the command fails with, if they are not the usual ones; `goes on` if it does not end. */
  refused?: string;
  unreached?: string;
}

/** Needs of a command's call beyond its words. */
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

/** The outcome of each with a key that is refused, and without a server. */
const refusals = new Map<string, Promise<Failure>>();
const unanswered = new Map<string, Promise<Failure>>();
const AT_ONCE = 12;

// It has no limits of failures: every command is refused once.
const server = await useShared();
const cli = use(newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: REVOKED }));
// The file that `eval QUESTIONS` reads.
writeFileSync(join(cli.folder, "questions"), '{"question": "Who waters the figs?", "answers": []}');
const queue: (() => Promise<void>)[] = [];
const enqueue = (args: string[]) => {
  const { promise, resolve } = Promise.withResolvers<Failure>();
  queue.push(async () => resolve(await errorOf(args).catch((error) => ({ exit: -1, message: `${error}` }))));
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

const linesOf = (err: string) => err.trimEnd().split("\n");

type Failure = { exit: number; code?: string; message: string };

/** The one error of a command that fails. */
async function errorOf(args: string[], env: Record<string, string> = {}): Promise<Failure> {
  const { code, err } = await cli.run(["--json", ...args], { env });
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
    test("reports that no server answers", async () =>
      expect(await unanswered.get(name)).toEqual({
        ...{ exit: 1, code: unreached ?? "unreachable", message: expect.stringContaining(NOWHERE) },
      }));
});

test("listen reports transient errors and continues", async () => {
  const listening = cli.start(["listen", "--json", "--url", NOWHERE]);
  await settle(() => listening.err().split("\n").length > 2);
  const { err } = await listening.end("SIGINT");
  const codes = linesOf(err).map((line) => JSON.parse(line).error.code);
  expect(new Set(codes)).toEqual(new Set(["unreachable"]));
});

test("listen reports an event that it rejects", async () => {
  const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
  const event_type = "com.example.job";
  const { env } = await newAgent(server, admin, "hands back", ["receive"], { event_type });
  await admin.publish({ type: "com.example.job", source: "urn:t" });
  const listening = cli.spawn(["listen", "--json", "--exec", "exit 3"], { env });
  await settle(() => listening.err().includes("\n"));
  const [line = ""] = linesOf((await listening.end("SIGINT")).err);
  const message = expect.stringMatching(/^com\.example\.job \S+: exit 3 ended with 3$/);
  expect(JSON.parse(line)).toEqual({ error: { code: "command_failed", message } });
});

test("doctor still prints its findings", async () => {
  const { code, out } = await cli.run(["doctor", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ mark: "wrong", what: "key" }));
});

const BEYOND = "DATA cannot be sent: the number at b is beyond the range of a double";
const NO_DURATION = "--timeout is soon: expected a duration like 90s, 15m, 2h or 7d.";
const NO_KEY = "The key from SENSORIUM_API_KEY is not an API key";
const ELSEWHERE = { SENSORIUM_API_KEY: "", DATA_DIR: "elsewhere" };
/** A call that fails, what it is told as text, and the code as JSON. */
test.each<[string[], string, string?, Record<string, string>?]>([
  [["nonsense"], '"nonsense" is not a command.'],
  [["pubish", "a.b"], '"pubish" is not a command. Did you mean publish?'],
  [["help", "me"], '"me" is not a command.'],
  [["--profile", "x"], "COMMAND is missing."],
  [["dlq", "replya"], "dlq replya: expected list, causes, show, replay, discard. Did you mean replay?"],
  [["handoff", "eat"], "handoff eat: expected save, list, resume."],
  [["publish"], "TYPE is missing."],
  [["remember"], "Usage: sensorium remember TITLE"],
  [["work"], "COMMAND is missing"],
  [["publish", "a.b", "{"], "DATA is not JSON"],
  [["publish", "a.b", "hello"], `in double quotes: '"hello"'`],
  [["publish", "a.b", '{"a": {"b": 1e400}}'], BEYOND],
  [["publish", "a.b", "--colour", "red"], "Unknown option '--colour'"],
  [["recall", "x", "--limt", "3"], "Unknown option '--limt'. Did you mean --limit?"],
  [["recall", "x", "--query", "results["], "--query is not a JMESPath expression"],
  [["recall", "x", "--metadata", "port=north"], "--metadata is not JSON"],
  [["recall", "x", "--url", "nowhere"], '"nowhere" is not a URL'],
  [["doctor", "--url", "ftp://x"], '"ftp://x" is not a URL'],
  [["recall", "when", "is", "it"], 'Unexpected argument "is" for recall: put a text with spaces in quotes.'],
  [["interest", "list", "mine"], 'Unexpected argument "mine" for interest list'],
  [["handoff", "save", "p", "--payload", "[1]"], "--payload is not a JSON object"],
  [["listen", "--as", "person"], "--as is person: only agents can do this."],
  [["listen", "--by", "pigeon"], "--by is pigeon: expected stream, poll."],
  [["listen", "--concurrency", "0"], "--concurrency is 0: expected a whole number above 0."],
  [["mcp", "--channel", "--acknowledge", "never"], "expected tool, turn"],
  [["dlq", "discard"], "ID is missing: give ids, --reason, --agent or --all."],
  [["dlq", "discard", "dlv_x", "--all"], "Give ids, or options that select; not both."],
  [["api", "GETT", "/events"], "METHOD is GETT: expected GET"],
  [["login", "ada@example.com"], "give it with --password-stdin"],
  [["connect", "abc"], "abc is not a code: expected one like BCDF-2345"],
  [["completion", "tcsh"], "SHELL is tcsh: expected bash, zsh, fish."],
  [["interest", "add", "a.*", "--priority", "10"], "--priority is 10: expected 0 to 9."],
  [["run", "create", "It"], "--template is missing: a run needs the slug of a template"],
  [["run", "close", "x"], "--outcome is missing: achieved, partially_achieved, abandoned."],
  [["key", "create", "lamp"], "--scopes: missing"],
  [["approval", "ask", "Go on?", "--evidence", "x"], "expected KIND:ID"],
  [["work", "--timeout", "soon", "--", "true"], NO_DURATION],
  ...["Daily report", "search", "a--b", "x".repeat(81)].map((name): [string[], string] => [
    ["work", "--output", name, "--", "true"],
    `--output is ${name}: expected lower-case`,
  ]),
  ...["tomorrow", "Nov 3", "7", "08:15", "2031-06", "03/04/2031 08:15", "2031-06-01T08:15+0200"].map(
    (at): [string[], string] => [["publish", "t", "--at", at], `--at is ${at}: expected a time`],
  ),
  ...[
    ...["2031-06-31 08:15", "2031-06-31", "2031-06-31T08:15:00Z", "2031-02-29T08:15:00+02:00"],
    "2031-06-01T24:00:00Z",
  ].map((at): [string[], string] => [
    ["schedule", "next", "--at", at],
    `--at is ${at}: there is no such time`,
  ]),
  [["approval", "ask", "Go on?", "--at", "2031-13-01T08:15:00Z"], "there is no such time"],
  [["agent", "replay", "x", "--since", "2024-02-30T08:15:00Z"], "there is no such time"],
  [["work", "--pause-on", "75,0", "--", "true"], "--pause-on is 75,0: expected exit codes"],
  [["work", "--timeout", "4000d", "--", "true"], "--timeout is 4000d: expected at most 3650d"],
  [["publish", "t", "--in", "soon"], "--in is soon"],
  [["publish", "t", "--in", "1h", "--at", "2030-01-01"], "not both"],
  [["schedule", "create", "t"], "give --cron, --at or --in"],
  [["schedule", "create", "t", "--cron", "@daily", "--in", "1h"], "only one"],
  [["schedule", "create", "t", "--cron", "@daily", "--missed", "all"], "--missed is all"],
  [["schedule", "list", "--timezone", "Mars/Base"], "--timezone is Mars/Base"],
  [["interest", "update", "x"], "Nothing to change"],
  [["interest", "update", "x", "--retry-delays", "1s,5"], "--retry-delays is 5: expected a duration"],
  [["interest", "update", "x", "--retry-delays", "1s", "--agent-delays"], "not both"],
  [["interest", "update", "x", "--order-by", "subject", "--unordered"], "not both"],
  [["publish", "a.b", "@nowhere"], "nowhere cannot be read: ENOENT", "unreadable_file"],
  [["doctor", "--profile", "work"], "run `sensorium connect --profile work`", "unknown_profile"],
  [["merge", "accept", "x", "--keep", "y"], "run `sensorium login`", "not_signed_in"],
  [["output", "export", "x", "x.md"], "This is for people, not for agents", "not_signed_in"],
  [["recall", "x"], "The key from SENSORIUM_API_KEY is refused", "authentication_failed"],
  [["recall", "x"], NO_KEY, "validation_failed", { SENSORIUM_API_KEY: "x" }],
  [
    ["recall", "x"],
    "No API key: run `sensorium connect`",
    "authentication_failed",
    { SENSORIUM_API_KEY: "" },
  ],
  [["recall", "x"], "  elsewhere/credentials.json: not there", "authentication_failed", ELSEWHERE],
])("%j is told: %s", async (args, said, code = "usage_error", env = {}) => {
  const exit = code === "usage_error" ? 2 : 1;
  const ran = await cli.run(args, { env });
  expect(ran).toEqual({ code: exit, out: "", err: expect.stringContaining(said) });
  // No stack.
  expect(ran.err).not.toMatch(/^ +at /m);
  const details = exit === 2 && { details: { usage: expect.stringMatching(/^sensorium [\w ]+/) } };
  expect(await errorOf(args, env)).toMatchObject({ exit, code, ...details });
});

test("without a service it says what to do", async () => {
  const { err } = await cli.run(["recall", "x", "--url", NOWHERE]);
  expect(err).toContain("Run sensorium doctor for details");
});

test("reports unreadable profiles", async () => {
  await using home = newCli({ XDG_CONFIG_HOME: "/dev/null", SENSORIUM_URL: server.root });
  const { code, err } = await home.run(["recall", "x", "--json"]);
  expect({ code, ...JSON.parse(err) }).toMatchObject({ code: 1, error: { code: "unreadable_file" } });
});

test("reports an unexpected error with its stack", async () => {
  await using home = newCli();
  mkdirSync(join(home.folder, ".config/sensorium"), { recursive: true });
  writeFileSync(join(home.folder, ".config/sensorium/profiles.json"), '{"broken": null}');
  const { code, err } = await home.run(["profile", "list", "--json"]);
  const error = { code: "unexpected_error", details: { stack: expect.stringContaining("profile.ts") } };
  expect({ code, ...JSON.parse(err) }).toMatchObject({ code: 1, error });
});

test("reports the error that ends listen once", async () => {
  const { code, err } = await cli.run(["listen"]);
  const refused = expect.stringMatching(/^The key from SENSORIUM_API_KEY is refused/);
  expect([code, ...linesOf(err)]).toEqual([1, refused, "Run sensorium doctor for details."]);
});

test("what follows -- is no option", async () => {
  const { code, err } = await cli.run(["recall", "--", "--json"]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^The key from SENSORIUM_API_KEY/) });
});
