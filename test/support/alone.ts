import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./ports.ts";
import type { ServerOptions, TestServer } from "./server.ts";
import { settle } from "./settle.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Returns the settings and the arguments of Node in a checkout's `npm start`: the tests start what users start. */
function startOf(checkout: string): { settings: Record<string, string>; args: string[] } {
  const [command = ""] = readFileSync(join(checkout, "bin/server.js"), "utf8").split("\n");
  const [, settings = "", flags = ""] = /^#!\/usr\/bin\/env -S (.*) node (.*)$/.exec(command) ?? [];
  return {
    settings: Object.fromEntries(settings.split(" ").map((each) => each.split("="))),
    args: [...flags.split(" "), "bin/start.js"],
  };
}

export const START = startOf(ROOT).args;

/**
 * Starts one node as a child process on a free port of 127.0.0.1, or a given one, and waits until it is ready.
 *
 * @throws Error with all it printed when it ends or is not ready within 30 s, or `within`.
 */
export async function startAlone({
  env = {},
  dataDir: given,
  beside,
  root: checkout = ROOT,
  under = [],
  port,
  within,
}: ServerOptions = {}): Promise<TestServer> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), "sensorium-test-")));
  if (beside) await copyFile(join(beside.dataDir, "credentials.json"), join(dataDir, "credentials.json"));
  const removeOwn = () => (given ? undefined : rm(dataDir, { recursive: true, force: true }));
  const start = (port: string) =>
    startReady(checkout, { ...env, HOST: "127.0.0.1", PORT: port, DATA_DIR: dataDir }, under, within);
  let running: Awaited<ReturnType<typeof start>> | undefined;
  try {
    running = await start(port ?? String(await freePort()));
  } catch (error) {
    await removeOwn();
    throw error;
  }
  let { child } = running;
  const { root } = running;
  const terminate = async () => {
    if (!running) return;
    running = undefined;
    const { code, signal } = await child.end("SIGTERM");
    if (code !== 0) throw new Error(`server ended with ${signal ?? `exit code ${code}`}:\n${child.output()}`);
  };
  const stop = () => terminate().finally(removeOwn);
  return {
    ...{ url: `${root}/v1`, root, dataDir },
    credentials: await settle(async () =>
      JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8")),
    ),
    pid: () => child.pid,
    logs: () => child.output(),
    metrics: async () => (await fetch(`${root}/metrics`)).text(),
    stop,
    [Symbol.asyncDispose]: stop,
    end: terminate,
    kill: async () => {
      running = undefined;
      await child.end("SIGKILL");
    },
    restart: async () => {
      await terminate();
      running = await start(new URL(root).port);
      child = running.child;
    },
  };
}

async function startReady(
  cwd: string,
  settings: Record<string, string>,
  under: string[],
  within: number | undefined,
): Promise<{ child: Child; root: string }> {
  // Of this process's environment only what any program needs: the server must not see settings of the tests.
  const { PATH = "", HOME = "", TMPDIR = tmpdir() } = process.env;
  const started = startOf(cwd);
  const [command = process.execPath, ...args] = [...under, process.execPath, ...started.args];
  const child = await startChild(command, args, {
    cwd,
    env: { PATH, HOME, TMPDIR, ...started.settings, ...settings },
  });
  try {
    const [root] = await child.find(/http:\/\/127\.0\.0\.1:\d+/, within);
    const ready = async () => (await fetch(`${root}/readyz`)).status === 200;
    const ended = child.exited.then(() => Promise.reject(new Error("it ended")));
    await Promise.race([
      settle(ready, { what: "GET /readyz to answer 200", ...(within && { within }) }),
      ended,
    ]);
    return { child, root };
  } catch (error) {
    await child.end("SIGKILL");
    throw new Error(`the server did not get ready:\n${child.output()}`, { cause: error });
  }
}
