import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "@jest/globals";
import { type Client, createClient } from "../../packages/client/index.ts";
import { type Child, COMPILED, startChild } from "./child.ts";
import { CLAUDE } from "./coding-tools.ts";
import { type Script, type ScriptedModel, startModel } from "./scripted-model.ts";
import { startServer, type TestServer } from "./server.ts";
import { settle } from "./settle.ts";

export const ROOT = join(import.meta.dirname, "../..");
const execute = promisify(execFile);

type RunOptions = { cwd?: string; env?: Record<string, string> };

/** A person's machine: a home, a clone of acme/parcels, the command line on the PATH, and a scripted model. */
export interface ToolSessions {
  home: string;
  clone: string;
  model: ScriptedModel;
  server: TestServer;
  agent: Client;
  /** Runs a command there, which reaches nothing but 127.0.0.1 where the system allows to enforce that. */
  run(command: string[], more?: RunOptions): Promise<{ code: number | null; output: string }>;
  /** Starts a command there, which goes on. */
  start(command: string[]): Promise<Child>;
  /** Cuts all connections of its processes, for a time; only with a separate network. */
  offline(ms: number): Promise<void>;
  /** Publishes an event that waits for the agent. Returns its type. */
  publish(type?: string): Promise<string>;
  /** Runs the commands of the first block of a README's shell commands, except `npm`. */
  install(readme: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param programs commands by name; @param envOf the tool's own environment */
export async function startToolSessions(
  programs: Record<string, string[]>,
  envOf: (home: string, model: string) => Record<string, string>,
  script: Partial<Script> = {},
): Promise<ToolSessions> {
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  const model = await startModel({
    command: "touch third.txt",
    answer: "The third parcel is packed.",
    ...script,
  });
  const folder = mkdtempSync(join(tmpdir(), "sensorium-tools-"));
  const [home, clone, bin] = ["home", "clone", "bin"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [home, clone, bin]) mkdirSync(each);
  const git = (...args: string[]) => execFileSync("git", ["-C", clone, ...args], { stdio: "ignore" });
  git("init", "-b", "main");
  git("remote", "add", "origin", "git@git.example:acme/parcels.git");
  const all = { ...programs, sensorium: [process.execPath, join(ROOT, "packages/client/bin.js")] };
  for (const [name, words] of Object.entries(all)) {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  }
  const env = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: home, TMPDIR: folder, LANG: "C.UTF-8", ...COMPILED },
    ...{ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: server.credentials.agent.api_key },
    ...envOf(home, `http://127.0.0.1:${model.port}`),
  };
  const ports = [model.port, Number(new URL(server.root).port)];
  const gates = (await canUnshare()) ? await openGates(folder, ports) : undefined;
  const start = (command: string[], { cwd = clone, env: more = {} }: RunOptions = {}) => {
    const [name, ...args] = [...(gates?.prefix ?? []), ...command] as [string, ...string[]];
    return startChild(name, args, { cwd, env: { ...env, ...more } });
  };
  const run: ToolSessions["run"] = async (command, more) => {
    const child = await start(command, more);
    const { code } = await child.end("eof", 60_000);
    return { code, output: child.output() };
  };
  const agent = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
  const publish = async (type = "com.example.parcel.lost") => {
    const { agent: me } = await agent.auth.me();
    await agent.interests.create({ agent_id: me?.id as string, event_type: type });
    await agent.publish({ type, source: "urn:t", data: { parcel: "the fifth" } });
    await settle(async () => (await agent.deliveries.stats()).pending === 1);
    return type;
  };
  return {
    ...{ home, clone, model, server, agent, run, start, publish },
    async offline(ms) {
      if (!gates) throw new Error("there is no separate network");
      gates.cut(true);
      await pause(ms);
      gates.cut(false);
    },
    async install(readme) {
      const [, block = ""] = /```sh\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, readme), "utf8")) ?? [];
      const lines = block.split("\n").filter((line) => line && !line.startsWith("npm "));
      const { code, output } = await run(["sh", "-ec", lines.join("\n")], { cwd: ROOT });
      if (code !== 0) throw new Error(`${readme}: ${output}`);
    },
    async stop() {
      for (const gate of gates?.servers ?? []) gate.close();
      await model.stop();
      await server.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Expects the only handoff to be that of a session which was asked to pack the third parcel. */
export async function expectSaved({ agent }: ToolSessions, origin_client: string, more = {}): Promise<void> {
  const [asked, last_answer] = ["Pack the third parcel", "The third parcel is packed."];
  const payload = { requests: [asked], commands: ["touch third.txt"], last_answer, ...more };
  const name = expect.stringMatching(/^acme\/parcels session [0-9a-f]{12}$/);
  expect(await agent.handoffs.list()).toMatchObject([{ name, summary: asked, origin_client, payload }]);
}

/** Expects that a session is told which events wait: as it starts, and as its turn does. @param context what the model saw */
export async function expectTold(
  { agent, publish }: ToolSessions,
  ask: () => Promise<unknown>,
  context: () => string,
): Promise<void> {
  const type = await publish();
  await ask();
  expect(context().split(`- ${type} `)).toHaveLength(3);
  const { deliveries } = await agent.deliveries.poll();
  await agent.deliveries.ack({ delivery_ids: deliveries.map(({ id }) => id) });
}

/** Has a worker start the command for an event: the model sees the event's text, and the delivery is acknowledged. */
export async function expectHandled(
  { agent, model, publish, run }: ToolSessions,
  command: string[],
): Promise<void> {
  const type = await publish("com.example.parcel.arrived");
  const { code, output } = await run(["sensorium", "work", "--count", "1", "--", ...command]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("handled") });
  expect(output).toContain("The third parcel is packed.");
  const asked = JSON.stringify(model.steps().at(-1)?.body);
  expect(asked).toContain(`type: ${type}`);
  expect(asked).toContain("the fifth");
  expect((await agent.deliveries.stats()).pending).toBe(0);
}

const KEY = "scripted";

/**
 * Options of `startToolSessions` for sessions of Claude Code with a channel, a preview that has to be switched on.
 * @param options of the channel
 */
export function channelSessions(
  script: Partial<Script>,
  ...options: string[]
): Parameters<typeof startToolSessions> {
  const envOf = (home: string, model: string) => {
    const server = { type: "stdio", command: "sensorium", args: ["mcp", "--channel", ...options] };
    const settings = {
      ...{ hasCompletedOnboarding: true, theme: "dark" },
      customApiKeyResponses: { approved: [KEY], rejected: [] },
      cachedGrowthBookFeatures: { tengu_harbor: true, tengu_harbor_permissions: true },
      mcpServers: { sensorium: server },
      projects: { [join(home, "../clone")]: { hasTrustDialogAccepted: true } },
    };
    writeFileSync(join(home, ".claude.json"), JSON.stringify(settings));
    return {
      ...{ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: KEY, DISABLE_AUTOUPDATER: "1" },
      ...{ TERM: "xterm-256color", ENABLE_TOOL_SEARCH: "false" },
    };
  };
  return [{ claude: [CLAUDE] }, envOf, script];
}

/** Starts an idle session with the channel, which asks before it uses other tools. @param tools that it may use */
export async function startChannel({ start }: ToolSessions, tools: string[]): Promise<Child> {
  const allowed = `--permission-mode default --allowedTools ${tools.join(" ")}`;
  const command = `claude --dangerously-load-development-channels server:sensorium ${allowed}`;
  const session = await start(["script", "-qfec", command, "/dev/null"]);
  // The question whether this is for development.
  await session.find(/Enter\S*to\S*confirm/);
  session.type("\r");
  return session;
}

export async function canUnshare(): Promise<boolean> {
  return execute("unshare", ["--map-root-user", "--net", "ip", "link", "set", "lo", "up"]).then(
    () => true,
    () => false,
  );
}

/** Opens a way to each port for a network namespace in which only loopback is reachable. */
async function openGates(folder: string, ports: number[]) {
  const servers: Server[] = [];
  const open = new Set<Socket>();
  let isCut = false;
  const paths: Record<number, string> = {};
  for (const port of ports) {
    const gate = createServer((socket) => {
      if (isCut) return void socket.destroy();
      open.add(socket.once("close", () => open.delete(socket)));
      const out = connect(port, "127.0.0.1");
      socket.pipe(out).pipe(socket);
      for (const event of ["error", "close"]) socket.on(event, () => out.destroy());
      out.on("error", () => socket.destroy());
    });
    paths[port] = join(folder, `${port}.sock`);
    await new Promise<void>((resolve) => gate.listen(paths[port], resolve));
    servers.push(gate);
  }
  const script = join(import.meta.dirname, "only-loopback.mjs");
  const prefix = ["unshare", "--map-root-user", "--net", process.execPath, script, JSON.stringify(paths)];
  const cut = (isOff: boolean) => {
    isCut = isOff;
    for (const socket of isOff ? open : []) socket.destroy();
  };
  return { servers, prefix, cut };
}
