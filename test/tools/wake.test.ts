/** @needs codingtools chromium */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createClient } from "../../packages/client/index.ts";
import { signIn, startBrowser } from "../support/chromium.ts";
import { hasCodingTools } from "../support/coding-tools.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { canUnshare, channelSessions, startChannel, startToolSessions } from "../support/tool-sessions.ts";
import { register, send } from "../support/webhooks.ts";

const TYPE = "com.ci.build.failed";
const COMPLETE = "mcp__sensorium__runs_complete_step";
const ACKNOWLEDGE = "mcp__sensorium__deliveries_ack";
const FACT = "The test of the parcels is flaky.";

/** Does the step that the latest event names, if it names a run, then acknowledges its delivery. */
function react({ messages }: { messages: unknown }) {
  const all = JSON.stringify(messages);
  const event = [...all.matchAll(/<channel [^>]*delivery_id=\\"([\w-]+)\\"/g)].at(-1);
  const [delivery] = event?.slice(1) ?? [];
  const said = all.slice(event?.index);
  if (!delivery) return undefined;
  const [, id] = /\\"run\\": \\"([0-9a-f-]{36})/.exec(said) ?? [];
  const calls = [
    ...(id ? [{ name: COMPLETE, input: { id, step_key: "look", what_makes_this_done: FACT } }] : []),
    { name: ACKNOWLEDGE, input: { delivery_ids: [delivery] } },
  ];
  return calls[said.split('"tool_result"').length - 1];
}

/** Asks a person about a step that is ready, and completes it by the answer. Hangs before that, without a file `go`. */
const HANDLE = `import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
const { id, type, data } = JSON.parse(readFileSync(0, "utf8"));
const sensorium = (...args) =>
  execFileSync("sensorium", [...args, "--idempotency-key", process.env.SENSORIUM_DELIVERY_ID]);
const asks = type === "service.run.step_ready";
if (asks) sensorium("approval", "ask", "Start the build again?", "--run", data.run_id, "--step", data.step_key);
else sensorium("run", "complete", data.run_id, data.step_key, "--note", "A person said " + data.choice);
appendFileSync("ledger", id + " " + type + "\\n");
if (asks && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 600_000));
`;

// The preview of channels is off without a flag that Claude Code asks its maker for: here nothing can be asked.
const alone = hasCodingTools() && (await canUnshare()) ? test : test.skip;

alone(
  "a webhook wakes an idle session, which lets a program be started, which asks a person, who lets the run complete",
  async () => {
    await using stack = new AsyncDisposableStack();
    const there = await startToolSessions(...channelSessions({ call: react }));
    stack.defer(() => there.stop());
    const { server, agent, clone } = there;
    const admin = api(
      server,
      ok(await api(server).post("/auth/login", server.credentials.admin)).access_token,
    );
    await writeFile(join(clone, "handle.mjs"), HANDLE);

    const { id: agent_id } = await agent.agents.create({ name: "builder", delivery_mode: "sse" });
    await agent.agents.update({ agent_id, visibility_timeout_seconds: 2 });
    const scopes = ["send", "receive", "memory:read", "memory:write"] as const;
    const { key } = await agent.keys.create({ agent_id, scopes: [...scopes] });
    const builder = createClient({ url: server.url, apiKey: key });
    const step_ready = { event_type: "service.run.step_ready", filter_expression: "step_key == 'again'" };
    await builder.interests.create({ agent_id, ...step_ready });
    const { agent: me } = await agent.auth.me();
    await agent.interests.create({ agent_id: me?.id as string, event_type: TYPE });
    const steps = [
      { step_key: "look", title: "Find out why" },
      { step_key: "again", title: "Start it again", depends_on: ["look"] },
    ];
    const run = ok(await admin.post("/runs", { goal: "A green build", steps }));
    const hook = await register(admin, {
      ...{ name: "CI", source: "ci", mapping: { entity: "build", action: "/what" } },
    });

    const session = await startChannel(there, [COMPLETE, ACKNOWLEDGE]);
    stack.defer(() => session.end("SIGTERM").then(() => {}));
    const command = `echo $$ > worker; exec sensorium work -- '${process.execPath}' handle.mjs`;
    const work = async () => {
      const worker = await there.start(["env", `SENSORIUM_API_KEY=${key}`, "sh", "-c", command]);
      stack.defer(() => worker.end("SIGTERM").then(() => {}));
      return worker;
    };
    const first = await work();

    const arrive = async (data: object) => {
      const { event_id } = ok(await send(hook, JSON.stringify({ what: "failed", ...data })));
      return () => settle(async () => (await agent.events.get({ event_id })).deliveries.acknowledged === 1);
    };
    // The session listens.
    await (await arrive({ branch: "main" }))();

    // The network is lost as the event arrives.
    const back = there.offline(5000);
    const handled = await arrive({ run: run.id });
    await back;
    await handled();

    // The program is killed with its worker, after it has asked.
    const ledger = async () =>
      (await readFile(join(clone, "ledger"), "utf8").catch(() => "")).split("\n").filter(Boolean);
    await settle(async () => (await ledger()).length === 1);
    process.kill(Number(await readFile(join(clone, "worker"), "utf8")), "SIGKILL");
    await first.exited;
    await writeFile(join(clone, "go"), "");
    await work();
    await settle(async () => (await ledger()).length === 2);
    const [asked, again] = await ledger();
    expect(asked).toBe(again);

    const { approvals } = ok(await admin.get("/approvals"));
    expect(approvals).toMatchObject([{ status: "open", run_id: run.id, step_key: "again" }]);
    const browser = await startBrowser();
    stack.defer(() => browser.close());
    const page = await browser.newPage();
    await signIn(page, server.root, server.credentials.admin);
    await page.goto(`${server.root}/approvals`);
    const card = page.locator("section.card", { hasText: "Start the build again?" });
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Answered “Start the build again?” with approve.").waitFor();
    await server.kill();
    await server.restart();

    await settle(async () => ok(await admin.get(`/runs/${run.id}`)).status === "completed");
    // Handled and acknowledged, each once.
    await settle(async () => {
      const { pending, dead } = await builder.deliveries.stats();
      return pending === 0 && dead === 0;
    });
    expect((await ledger()).map((line) => line.split(" ")[1])).toEqual([
      ...["service.run.step_ready", "service.run.step_ready", "service.approval.answered"],
    ]);
    const { events } = ok(await admin.get(`/events?type=${TYPE}`));
    expect(events).toHaveLength(2);
  },
  240_000,
);
