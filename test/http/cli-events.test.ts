import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { expect, test } from "@jest/globals";
import { createClient } from "../../packages/client/index.ts";
import { newAgent, newCli } from "../support/cli.ts";
import { serving } from "../support/serving.ts";
import { settle } from "../support/settle.ts";
import { use, useShared } from "../support/use.ts";

const server = await useShared();
const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
const made = await newAgent(server, admin, "at the terminal", ["send", "receive"]);
const { id: agentId, client: agent } = made;
const cli = use(newCli(made.env));

test("listen and tail receive published events", async () => {
  await agent.interests.create({ agent_id: agentId, event_type: "com.example.order.*" });
  const tailing = cli.start(["tail", "com.example.seen.*", "--count", "2", "--json"]);
  const listening = cli.start(["listen", "--count", "2", "--json"]);
  await settle(async () => (await cli.run(["publish", "com.example.order.warm"])).code === 0);
  await settle(() => listening.out().includes("com.example.order.warm"));
  const published = await cli.run(["publish", "com.example.order.placed", "-", "--subject", "order-1"], {
    input: '{"total": 120}',
  });
  expect(published.code).toBe(0);
  const { code, out } = await listening.ended;
  expect(code).toBe(0);
  const event = { type: "com.example.order.placed", subject: "order-1", data: { total: 120 } };
  expect(JSON.parse(out.trim().split("\n").at(-1) as string)).toMatchObject(event);
  await settle(async () => (await admin.deliveries.stats()).in_flight === 0);
  // It shows what comes once it has looked.
  await settle(async () => {
    await cli.run(["publish", "com.example.seen.now"]);
    return tailing.out().split("\n").length > 2;
  });
  expect(await tailing.ended).toMatchObject({ code: 0, out: expect.stringContaining("com.example.seen") });
});

test("tail shows each event once, also what came while the service was away", async () => {
  let isAway = false;
  const open = new Set<ServerResponse>();
  const between = await serving(async (request, response) => {
    if (isAway) return void response.destroy();
    const { url = "", method = "", headers } = request;
    const sent = method === "POST" && { body: await buffer(request) };
    const { authorization = "" } = headers;
    const init = { method, headers: { authorization, "content-type": "application/json" }, ...sent };
    const answer = await fetch(server.root + url, init);
    response.setHeader("content-type", answer.headers.get("content-type") ?? "");
    if (url.startsWith("/v1/events/stream")) open.add(response);
    // The test ends it.
    await pipeline(answer.body as never, response).catch(() => {});
  });
  const publish = (subject: string) =>
    admin.publish({ type: "com.example.tailed", source: "urn:t", subject });
  await publish("before");
  const env = { SENSORIUM_URL: between.url, SENSORIUM_API_KEY: server.credentials.agent.api_key };
  const tailing = cli.start(["tail", "com.example.tailed", "--json"], { env });
  const shown = () =>
    Array.from(tailing.out().matchAll(/^\{.*\}$/gm), ([line]) => JSON.parse(line).payload.subject);
  try {
    await settle(() => open.size > 0);
    await settle(async () => {
      await publish("first");
      return shown().includes("first");
    });
    isAway = true;
    for (const response of open) response.destroy();
    await settle(() => tailing.err().includes("unreachable"));
    await publish("meanwhile");
    isAway = false;
    await settle(() => shown().includes("meanwhile"));
    await publish("after");
    await settle(() => shown().includes("after"));
    expect((await tailing.end("SIGINT")).code).toBe(130);
    expect([...new Set(shown())]).toEqual(["first", "meanwhile", "after"]);
    expect(shown().slice(-2)).toEqual(["meanwhile", "after"]);
  } finally {
    tailing.kill("SIGKILL");
    for (const response of open) response.destroy();
    await between.close();
  }
});

test("listen that is ended before `--count` exits as interrupted", async () => {
  await agent.interests.create({ agent_id: agentId, event_type: "com.example.one" });
  await admin.publish({ type: "com.example.one", source: "urn:t" });
  const hearing = cli.start(["listen", "--count", "100"]);
  await settle(() => hearing.out().includes("com.example.one"));
  expect((await hearing.end("SIGINT")).code).toBe(130);
});

test("listen finishes running handlers, even if asked to end repeatedly", async () => {
  const event_type = "com.example.long";
  const { env } = await newAgent(server, admin, "supervised", ["receive"], { event_type });
  const fifo = join(cli.folder, "fifo");
  execFileSync("mkfifo", [fifo]);
  const hearing = cli.spawn(["listen", "--exec", "echo begun; cat fifo"], { env });
  const { event_id } = await admin.publish({ type: "com.example.long", source: "urn:t" });
  await settle(() => hearing.out().includes("begun"));
  hearing.kill("SIGTERM");
  hearing.kill("SIGTERM");
  await writeFile(fifo, "done\n");
  expect(await hearing.ended).toMatchObject({ code: 0, out: "begun\ndone\n" });
  expect((await admin.events.get({ event_id })).deliveries).toMatchObject({ acknowledged: 1, pending: 0 });
});

test("a command that Ctrl-C ends with listen has not failed: its delivery is returned", async () => {
  const event_type = "com.example.halt";
  const { client: halted, env } = await newAgent(server, admin, "halted", ["receive"], { event_type });
  const hearing = cli.spawn(["listen", "--exec", "echo pid $$; exec sleep 600"], { env });
  await admin.publish({ type: "com.example.halt", source: "urn:t" });
  const pid = await settle(() => Number(/pid (\d+)/.exec(hearing.out())?.[1]) || null);
  // As a terminal does, both.
  hearing.kill("SIGINT");
  process.kill(pid, "SIGINT");
  expect(await hearing.ended).toMatchObject({ code: 0, err: "" });
  const { deliveries } = await halted.deliveries.poll({ wait: 30 });
  expect(deliveries).toMatchObject([{ attempt_count: 1 }]);
});

test("a command of listen that is ended and exits with 0 has not handled its event, and one that has ended is done", async () => {
  const event_type = "com.example.polite";
  const { client: own, env } = await newAgent(server, admin, "polite", ["receive"], { event_type });
  const polite = "trap 'exit 0' TERM; echo begun; sleep 600 & wait";
  const hearing = cli.spawn(["listen", "--grace", "0s", "--exec", polite], { env });
  await admin.publish({ type: event_type, source: "urn:t" });
  await settle(() => hearing.out().includes("begun"));
  await hearing.end("SIGINT");
  expect((await own.deliveries.poll({ wait: 30 })).deliveries).toMatchObject([{ attempt_count: 1 }]);
  const left =
    'const { spawn } = require("node:child_process"); const { pid } = spawn("sleep", ["600"], ' +
    '{ detached: true, stdio: "inherit" }); console.log("pid", pid); process.exit(0);';
  const shell = `${process.execPath} -e '${left}'`;
  const next = cli.spawn(["listen", "--count", "1", "--exec", shell], { env });
  await admin.publish({ type: event_type, source: "urn:t" });
  const { code, out } = await next.ended;
  expect(code).toBe(0);
  process.kill(Number(/pid (\d+)/.exec(out)?.[1]));
});

test.each(["stream", "poll"])("a command of listen by %s that says to try later pauses it", async (by) => {
  const event_type = `com.example.later.${by}`;
  const { client: own, env } = await newAgent(server, admin, `later ${by}`, ["receive"], { event_type });
  const shell = `test -e ${by}.open || { touch ${by}.open; exit 75; }; echo opened`;
  const hearing = cli.spawn(["listen", "--by", by, "--pause", "1s", "--count", "1", "--exec", shell], {
    env,
  });
  const { event_id } = await admin.publish({ type: event_type, source: "urn:t" });
  const { code, out, err } = await hearing.ended;
  expect([code, out]).toEqual([0, "opened\n"]);
  expect(err).toMatch(/ ended with 75: paused until \d{4}-[^\n]+\n$/);
  expect((await admin.events.get({ event_id })).receivers).toMatchObject([{ attempt_count: 1 }]);
  const paused = cli.start(["listen", "--by", by, "--pause-on", "9", "--exec", "exit 9"], { env });
  await admin.publish({ type: event_type, source: "urn:t" });
  await settle(() => paused.err().includes("ended with 9: paused until"));
  expect((await own.deliveries.poll({ wait: 30 })).deliveries).toMatchObject([{ attempt_count: 1 }]);
  expect((await paused.end()).code).toBe(0);
});

test("a command is run with each event, and its last words are the reason of a failure", async () => {
  await agent.interests.create({ agent_id: agentId, event_type: "com.example.job" });
  const shell =
    'read event; case "$event" in *good*) echo "did it";; *) echo "the printer is on fire" >&2; exit 3;; esac';
  const listening = cli.spawn(["listen", "--exec", shell]);
  const { event_id } = await admin.publish({ type: "com.example.job", source: "urn:t", data: "bad" });
  await settle(async () => {
    const { receivers } = await admin.events.get({ event_id });
    const mine = receivers?.find(({ agent_id }) => agent_id === agentId);
    return mine?.timeline.some(({ reason }) => reason === "the printer is on fire");
  });
  const good = await admin.publish({ type: "com.example.job", source: "urn:t", data: "good" });
  await settle(
    async () => (await admin.events.get({ event_id: good.event_id })).deliveries.acknowledged === 1,
  );
  const { code, out, err } = await listening.end("SIGINT");
  expect([code, out]).toEqual([0, expect.stringContaining("did it")]);
  // Once for the attempt, with the event.
  const { payload } = await admin.events.get({ event_id });
  const [said, failed, ...others] = err.trimEnd().split("\n");
  expect(said).toBe(`com.example.job ${payload.id}: the printer is on fire`);
  expect(failed).toMatch(new RegExp(`^com.example.job ${payload.id}: .* ended with 3$`));
  expect(others).toEqual([]);
});

test("tail ends when the reader of its output does", async () => {
  const tailing = cli.spawn(["tail", "com.example.piped"]);
  tailing.stdout.destroy();
  let isOver = false;
  void tailing.ended.then(() => {
    isOver = true;
  });
  await settle(async () => {
    await agent.publish({ type: "com.example.piped", source: "urn:t" });
    return isOver;
  });
  expect(await tailing.ended).toEqual({ code: 1, out: "", err: "" });
});
