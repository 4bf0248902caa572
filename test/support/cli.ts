import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Client } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { main } from "../../packages/client/cli/main.ts";
import { createClient, type Client as Sensorium } from "../../packages/client/index.ts";
import { COMPILED } from "./child.ts";

const CLI = join(import.meta.dirname, "../../packages/client/cli.ts");

type Ran = { code: number | null; out: string; err: string };

export interface Running {
  ended: Promise<Ran>;
  /** Returns its output so far. */
  out(): string;
  err(): string;
  kill(signal: NodeJS.Signals): void;
  /** Kills it, by default with SIGTERM, and returns how it ended. */
  end(signal?: NodeJS.Signals): Promise<Ran>;
  stdin: Writable;
  stdout: Readable;
  /** Of a separate process. */
  pid?: number | undefined;
}

interface More {
  env?: Record<string, string>;
  input?: string;
  /** Its working folder, in place of the command line's. */
  cwd?: string;
}

/** The command line in an empty folder, with a separate environment. */
export interface Cli extends AsyncDisposable {
  folder: string;
  /** Runs it in this process, which costs less, until it ends. */
  run(args: string[], more?: More): Promise<Ran>;
  /** Returns what it prints. @throws Error if it fails, or says anything besides */
  done(...args: string[]): Promise<string>;
  /** Returns the JSON that it prints, likewise. */
  json(...args: string[]): Promise<ReturnType<typeof JSON.parse>>;
  /** Starts it in this process, and goes on. @param more `open`: its input does not end */
  start(args: string[], more?: More & { open?: true }): Running;
  /** The same as a process: for what only one has, such as its death and the output that its children inherit. */
  spawn(args: string[], more?: More & { open?: true }): Running;
  /** Returns how a process of it is started. */
  command(args: string[]): { command: [string, ...string[]]; env: Record<string, string> };
  /** Ends what still runs, and removes the folder. */
  remove(): Promise<void>;
}

type Parts = Pick<Running, "stdin" | "stdout" | "kill" | "pid"> & {
  stderr: Readable;
  code: Promise<number | null>;
};

export function newCli(env: Record<string, string> = {}): Cli {
  const folder = mkdtempSync(join(tmpdir(), "sensorium-cli-"));
  const running = new Set<Running>();
  const own = { PATH: process.env.PATH as string, HOME: folder, ...COMPILED, ...env };
  const starter =
    (begin: (args: string[], env: Record<string, string>, cwd: string) => Parts): Cli["start"] =>
    (args, { input = "", open, cwd = folder, ...more } = {}) => {
      const { stderr, code, ...parts } = begin(args, { ...own, ...more.env }, cwd);
      const [out, err] = [textOf(parts.stdout), textOf(stderr)];
      // One that has already ended reads nothing.
      parts.stdin.on("error", () => {});
      parts.stdin.write(input);
      if (!open) parts.stdin.end();
      const ended = code.then((code) => ({ code, out: out(), err: err() }));
      const end: Running["end"] = (signal = "SIGTERM") => {
        parts.kill(signal);
        return ended;
      };
      const it: Running = { ...parts, ended, out, err, end };
      running.add(it);
      return it;
    };
  const start = starter(beginHere);
  const done: Cli["done"] = async (...args) => {
    const { code, out, err } = await start(args).ended;
    if (code !== 0 || err) throw new Error(`sensorium ${args.join(" ")} ended with ${code}: ${err || out}`);
    return out.trimEnd();
  };
  const remove = async () => {
    await Promise.all(Array.from(running, (it) => it.end("SIGKILL")));
    rmSync(folder, { recursive: true });
  };
  return {
    folder,
    command: (args) => ({ command: [process.execPath, CLI, ...args], env: own }),
    start,
    spawn: starter(beginProcess),
    run: (args, more) => start(args, more).ended,
    done,
    json: async (...args) => JSON.parse(await done(...args, "--json")),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

function textOf(stream: Readable): () => string {
  let text = "";
  stream.on("data", (piece) => {
    text += piece;
  });
  return () => text;
}

function beginHere(args: string[], env: Record<string, string>, cwd: string): Parts {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const signals = new EventEmitter();
  const code = main(args, { env, cwd, home: env.HOME as string, stdin, stdout, stderr, signals }).then(
    async (code) => {
      for (const stream of [stdout, stderr]) await finished(stream.end());
      return code;
    },
  );
  // Nothing in this process can be killed: it is asked to end.
  const kill = (signal: NodeJS.Signals) => void signals.emit(signal === "SIGKILL" ? "SIGTERM" : signal);
  return { stdin, stdout, stderr, code, kill };
}

function beginProcess(args: string[], env: Record<string, string>, cwd: string): Parts {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env });
  const { stdin, stdout, stderr, pid } = child;
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  return { stdin, stdout, stderr, code, pid, kill: (signal) => void child.kill(signal) };
}

/** Connects a client of MCP with `sensorium mcp`, whose input was left open. @returns what ends both */
export async function connectTo(
  { stdin, stdout, ended }: Running,
  client: Client,
): Promise<() => Promise<void>> {
  // The transport of servers also serves the other end.
  await client.connect(new StdioServerTransport(stdout, stdin));
  return async () => {
    await client.close();
    stdout.resume();
    stdin.end();
    await ended;
  };
}

type Scopes = Parameters<Sensorium["keys"]["create"]>[0]["scopes"];
type Fields = Partial<Parameters<Sensorium["agents"]["create"]>[0]>;

/** A new agent that receives events of a type, if one is given; its client, and the environment of its command line. */
export async function newAgent(
  { root }: { root: string },
  admin: Sensorium,
  name: string,
  scopes: Scopes,
  { event_type, ...fields }: Fields & { event_type?: string } = {},
) {
  const { id } = await admin.agents.create({ name, delivery_mode: "sse", ...fields });
  const { key } = await admin.keys.create({ agent_id: id, scopes });
  const client = createClient({ url: root, apiKey: key });
  if (event_type) await client.interests.create({ agent_id: id, event_type });
  return { id, client, env: { SENSORIUM_URL: root, SENSORIUM_API_KEY: key } };
}
