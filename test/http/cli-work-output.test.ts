import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Client, createClient } from "../../packages/client/index.ts";
import { type Cli, newCli } from "../support/cli.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";

let server: TestServer;
let admin: Client;
let cli: Cli;
let agents = 0;

beforeAll(async () => {
  server = await startShared();
  admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
  cli = newCli({ SENSORIUM_URL: server.root });
});

afterAll(async () => {
  await cli?.remove();
  await server?.stop();
});

/** An agent that receives events of a type of its own, and how it works. */
async function worker(scopes = ["receive", "memory:read", "memory:write"]) {
  const name = `worker-${++agents}`;
  const type = `com.example.output.n${agents}`;
  const { id: agent_id } = await admin.agents.create({ name: type, delivery_mode: "sse" });
  const { key } = await admin.keys.create({ agent_id, scopes: scopes as never });
  const own = createClient({ url: server.url, apiKey: key });
  const keyWith = async (more: string[]) =>
    (await admin.keys.create({ agent_id, scopes: more as never })).key;
  await own.interests.create({ agent_id, event_type: type, retry_delays_seconds: [1] });
  const publish = async (data?: unknown) =>
    (await admin.publish({ type, source: "urn:t", ...(data !== undefined && { data }) })).event_id;
  const receiver = async (event_id: string) => (await admin.events.get({ event_id })).receivers?.[0];
  const reasons = async (event_id: string) =>
    (await receiver(event_id))?.timeline.flatMap(({ reason }) => reason ?? []) ?? [];
  /** The log, once there is one. */
  const log = (event_id: string) =>
    settle(async () => {
      const found = await receiver(event_id);
      return found && (await own.deliveries.log({ agent_id, delivery_id: found.delivery_id })).log;
    });
  const env = { SENSORIUM_API_KEY: key };
  const start = (args: string[], more = {}) => cli.start(["work", ...args], { env: { ...env, ...more } });
  const run = (...args: string[]) => cli.run(args, { env });
  return { name, own, publish, receiver, reasons, log, start, run, keyWith };
}

const node = (script: string) => ["--", process.execPath, "-e", script];

const acknowledged = async (event_id: string) =>
  (await admin.events.get({ event_id })).deliveries.acknowledged === 1;

/** Passes requests to the server, but for those that `answers` answers itself. */
async function startProxy(answers: (req: IncomingMessage, body: string, res: ServerResponse) => boolean) {
  const proxy = createServer(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    if (answers(req, body, res)) return;
    const to = { method: req.method, headers: req.headers };
    const passed = request(server.root + req.url, to, (answer) => {
      res.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(res);
    });
    passed.on("error", () => res.destroy());
    res.on("close", () => passed.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    env: { SENSORIUM_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
    stop: () =>
      new Promise((resolve) => {
        proxy.close(resolve);
        proxy.closeAllConnections();
      }),
  };
}

test("the end of a command's output is the log of its delivery, in order, without colours and secrets", async () => {
  const { publish, log, start, run, receiver } = await worker();
  const script =
    'const { stdout, stderr } = process; stdout.write("\\x1b[31mone\\x1b[0m\\n", () => setTimeout(() => ' +
    'stderr.write("two\\n", () => setTimeout(() => stdout.write(Buffer.concat([Buffer.from("token=abcdefgh ' +
    'caf\\u00e9 "), Buffer.from([0xff, 0xfe])])), 100)), 100));';
  const working = start(["--count", "1", ...node(script)]);
  const event_id = await publish();
  expect((await working.ended).code).toBe(0);
  expect(await log(event_id)).toBe("one\ntwo\ntoken=[redacted] café \ufffd\ufffd\n[ended with 0]");
  const delivery = (await receiver(event_id))?.delivery_id as string;
  const { out } = await cli.run(["event", "show", event_id, "--delivery", delivery], {
    env: { SENSORIUM_API_KEY: server.credentials.agent.api_key },
  });
  expect(out).toMatch(/State +acknowledged[\s\S]*\n\nLog:\none\ntwo\n[\s\S]*\[ended with 0\]\n$/);
  expect((await run("work", "--timeout", "x", "--", "true")).code).toBe(2);
});

test("a log is bounded, whatever a command writes: the last whole lines, and how much is left out", async () => {
  const { publish, log, start } = await worker();
  const lines = 300_000;
  const script =
    `let text = ""; for (let i = 0; i < ${lines}; i++) text += "line " + String(i).padStart(6, "0") + " \\u00e9\\n"; ` +
    'process.stdout.write(text); process.stdout.once("drain", () => process.exit(3));';
  const working = start(["--timeout", "2m", ...node(script)]);
  const text = await log(await publish());
  working.kill("SIGTERM");
  await working.ended;
  const LINE = Buffer.byteLength("line 000000 é\n");
  const kept = Math.floor(16_000 / LINE);
  const omitted = ((lines - kept) * LINE).toLocaleString("en");
  const first = `[${omitted} bytes left out]\nline ${String(lines - kept).padStart(6, "0")} é\n`;
  expect(text.slice(0, first.length)).toBe(first);
  expect(text.slice(-"299999 é\n[ended with 3]".length)).toBe("299999 é\n[ended with 3]");
  expect(text.length).toBeLessThanOrEqual(16_384);
});

test("a line longer than the log is cut between two characters, and does not fill the worker's memory", async () => {
  const { publish, log, start } = await worker();
  const script = 'process.stdout.write("x" + "\\u00e9".repeat(4_000_000) + "end")';
  const working = start(["--count", "1", ...node(script)]);
  const text = await log(await publish());
  await working.ended;
  const [first, line, last] = text.split("\n") as [string, string, string];
  expect(first).toMatch(/^\[[78],\d{3},\d{3} bytes left out\]$/);
  expect(line).toMatch(/^é{7000,8000}end$/);
  expect(last).toBe("[ended with 0]");
});

test("a command that takes too long has the log of what it did, and a dead letter shows it", async () => {
  const { publish, reasons, log, start, run, own } = await worker();
  const slow = await publish();
  const first = start(["--timeout", "1s", "--", "sh", "-c", "echo began; sleep 600"]);
  await settle(async () => (await reasons(slow)).length > 0);
  expect(await log(slow)).toBe("began\n[ended with SIGTERM: it took longer than 1s]");
  first.kill("SIGTERM");
  await first.ended;
  const working = start(["--", "sh", "-c", "echo 'no lines' >&2; exit 65"]);
  await settle(async () => (await own.deliveries.deadLetters()).count === 1);
  working.kill("SIGTERM");
  await working.ended;
  const id = (await own.deliveries.deadLetters()).items[0]?.id as string;
  expect((await run("dlq", "show", id)).out).toContain("\n\nLog:\nno lines\n[ended with 65]\n\n{");
  expect(JSON.parse((await run("dlq", "show", id, "--json")).out)).toMatchObject({
    id,
    log: "no lines\n[ended with 65]",
  });
});

test("a command that cannot be started says so in the log, and --no-log keeps none", async () => {
  const { publish, reasons, log, start, own, receiver } = await worker();
  const event = await publish();
  const broken = start(["--", "no-such-program"]);
  expect(await log(event)).toBe("[was not started: spawn no-such-program ENOENT]");
  broken.kill("SIGTERM");
  await broken.ended;
  const quiet = await publish();
  const working = start(["--no-log", "--", "sh", "-c", 'echo hidden; test "$SENSORIUM_ATTEMPT" -gt 9']);
  await settle(async () => (await reasons(quiet)).includes("hidden"));
  working.kill("SIGTERM");
  await working.ended;
  const { agent_id, delivery_id } = (await receiver(quiet)) as { agent_id: string; delivery_id: string };
  expect(await own.deliveries.log({ agent_id, delivery_id })).toEqual({ log: null, logged_at: null });
});

test("a service that takes no log gets none, and the event is settled", async () => {
  const { publish, start } = await worker();
  const message = "log: unknown key.";
  let refused = 0;
  const old = await startProxy((req, body, res) => {
    if (!req.url?.startsWith("/v1/delivery/") || !body.includes('"log"')) return false;
    refused++;
    res.writeHead(400, { "content-type": "application/json" });
    res.end(JSON.stringify({ error: { code: "validation_failed", message, details: { field: "log" } } }));
    return true;
  });
  const working = start(["--", "sh", "-c", 'test "$SENSORIUM_ATTEMPT" = 2'], old.env);
  const event_id = await publish();
  await settle(() => acknowledged(event_id));
  expect(refused).toBe(2);
  working.kill("SIGTERM");
  await working.ended;
  await old.stop();
});

test("with --output each event is a version of one output, linked to the event, and saved before it is acknowledged", async () => {
  const { name, own, publish, reasons, start } = await worker();
  const script =
    'process.stdin.on("data", (text) => { const { data } = JSON.parse(text); console.error("aside"); ' +
    'if (data) process.stdout.write("# " + data + "\\ncaf\\u00e9"); if (data === "bad") process.exit(65); });';
  const working = start(["--output", name, ...node(script)]);
  const events = [];
  for (const data of ["first", "second"]) {
    const event_id = await publish(data);
    await settle(() => acknowledged(event_id));
    events.push(event_id);
  }
  const output = await own.outputs.get({ output_id: name });
  expect(output).toMatchObject({
    title: name,
    body: "# second\ncafé",
    current_version_num: 2,
    scope: "agent",
  });
  expect(output.metadata).toMatchObject({ event_id: events[1] });
  const { versions } = await own.outputs.listVersions({ output_id: name });
  expect(versions.map(({ change_note }) => change_note?.split(" ")[1])).toEqual([events[1], undefined]);
  // Nothing to save, and what failed.
  const [empty, bad] = [await publish(), await publish("bad")];
  await settle(() => acknowledged(empty));
  await settle(async () => (await reasons(bad)).length > 0);
  working.kill("SIGTERM");
  await working.ended;
  // Another worker finds it by its name.
  const another = start(["--output", name, ...node('console.log("third")')]);
  const third = await publish();
  await settle(() => acknowledged(third));
  another.kill("SIGTERM");
  await another.ended;
  const { outputs } = await own.outputs.list();
  expect(outputs.map(({ slug, current_version_num }) => [slug, current_version_num])).toEqual([[name, 3]]);
});

test("a redelivered event has its output saved once, although the command writes something else", async () => {
  const { name, own, publish, start } = await worker();
  let acks = 0;
  const lossy = await startProxy((req, _, res) => {
    if (req.url !== "/v1/delivery/ack") return false;
    acks++;
    res.writeHead(503).end();
    return true;
  });
  const command = ["--output", name, "--", "sh", "-c", `echo >> ${name}; echo run $(wc -l < ${name})`];
  const killed = start(command, lossy.env);
  const event_id = await publish();
  await settle(() => acks > 0);
  killed.kill("SIGKILL");
  await killed.ended;
  await lossy.stop();
  const working = start(command);
  await settle(() => acknowledged(event_id));
  expect(working.err()).toContain(": run 2\n");
  expect(working.err()).toContain("its output was saved by an earlier attempt");
  working.kill("SIGTERM");
  await working.ended;
  const output = await own.outputs.get({ output_id: name });
  expect(output).toMatchObject({ body: "run 1\n", current_version_num: 1 });
});

test("an event whose output is not saved comes back with the reason, and is saved once that is gone", async () => {
  const { name, own, publish, reasons, log, start, keyWith } = await worker(["receive", "memory:read"]);
  const command = ["--output", name, ...node('console.log("text")')];
  const working = start(command);
  const event_id = await publish();
  const reason = await settle(async () => (await reasons(event_id))[0]);
  expect(reason).toMatch(/^the output was not saved: .*memory:write/);
  expect(await log(event_id)).toBe("text\n[ended with 0]");
  expect(await acknowledged(event_id)).toBe(false);
  working.kill("SIGTERM");
  await working.ended;
  const allowed = start(command, {
    SENSORIUM_API_KEY: await keyWith(["receive", "memory:read", "memory:write"]),
  });
  await settle(() => acknowledged(event_id));
  allowed.kill("SIGTERM");
  await allowed.ended;
  expect(await own.outputs.get({ output_id: name })).toMatchObject({
    body: "text\n",
    current_version_num: 1,
  });
});

test("an output larger than it may be is not saved in parts", async () => {
  const { name, own, publish, reasons, start } = await worker();
  const script =
    'const mb = Buffer.alloc(1_048_576, "x"); let left = 33; ' +
    "const more = () => { if (left-- > 0) process.stdout.write(mb, more); }; more();";
  const working = start(["--output", name, ...node(script)]);
  const event_id = await publish();
  const [reason] = await settle(async () => {
    const found = await reasons(event_id);
    return found.length > 0 && found;
  });
  expect(reason).toBe("the output was not saved: it has 34,603,008 bytes, more than 32 MB");
  working.kill("SIGTERM");
  await working.ended;
  expect((await own.outputs.list()).outputs).toEqual([]);
  for (const wrong of ["Daily report", "search", "a--b", "x".repeat(81)])
    expect(
      await cli.run(["work", "--output", wrong, "--", "true"], { env: { SENSORIUM_API_KEY: "as_any" } }),
    ).toMatchObject({ code: 2, err: expect.stringContaining(`--output is ${wrong}: expected lower-case`) });
});
