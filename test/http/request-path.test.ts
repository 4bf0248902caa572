import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");
const REQUESTS = 400;
/** Functions of every request are called as often, but for the ends of the last; those of loops are not. */
const CALLS = REQUESTS - 10;
/** Files that a reader of a request opens, besides general functions and the driver of the record. */
const MOST_FILES = 16;
const GENERAL = /^(lib|packages)\//;

type FunctionCoverage = { ranges: { count: number }[] };
type Coverage = { result: { url: string; functions: FunctionCoverage[] }[] };

/** A session with the debugger of a server. */
async function debuggerAt(url: string) {
  const socket = new WebSocket(url);
  const pending = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    pending.get(id)?.(result);
  };
  await new Promise((resolve) => (socket.onopen = resolve));
  let last = 0;
  return {
    send: <T>(method: string, params: object = {}): Promise<T> => {
      const id = ++last;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve) => pending.set(id, resolve as (result: unknown) => void));
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

test("GET /channels runs code of few files", async () => {
  await using server = await startAlone({ env: { NODE_OPTIONS: "--inspect=127.0.0.1:0" } });
  const { agent } = server.credentials;
  const caller = api(server, agent.api_key);
  const [, url = ""] = await settle(() => /Debugger listening on (ws:\S+)/.exec(server.logs()));
  using debug = await debuggerAt(url);
  const list = async () => ok(await caller.get("/channels"));
  for (let i = 0; i < 50; i++) await list();
  await debug.send("Profiler.enable");
  await debug.send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  for (let i = 0; i < REQUESTS; i++) await list();
  const { result } = await debug.send<Coverage>("Profiler.takePreciseCoverage");
  const files = result
    .filter(({ url }) => url.startsWith("file:") && !url.includes("node_modules"))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= CALLS))
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
    .filter((file) => !GENERAL.test(file))
    .sort();
  expect(files.length <= MOST_FILES ? [] : files).toEqual([]);
  expect(files).toContain("services/sense/channels/channels.service.ts");
});
