/** @needs mongodb, nats, redis: `npm run cluster`, from its start to Ctrl-C. */
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { cloudEvent, receive } from "../support/agents.ts";
import { startChild } from "../support/child.ts";
import { agentToken, api } from "../support/http.ts";
import { hasJavaCompiler, onPath } from "../support/needs.ts";
import { ok } from "../support/tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const [, ...command] = scripts.cluster.split(" && ").at(-1).split(" ");
const record = Boolean(process.env.MONGO_URL) || onPath("mongod") || (await hasJavaCompiler());
const here = record && onPath("nats-server") && onPath("redis-server");

describe("npm run cluster", () => {
  (here ? test : test.skip)("what one gateway is told, another serves; Ctrl-C ends all", async () => {
    const cluster = await startChild(process.execPath, [...command, "2", "1", "RATE_LIMIT_PER_MINUTE=4321"], {
      cwd: ROOT,
    });
    try {
      await cluster.find(/The cluster is ready/);
      const urls = [...cluster.output().matchAll(/^gateway +(\S+)$/gm)].map(([, url]) => url as string);
      expect(new Set(urls).size).toBe(2);
      const [, file] = cluster.output().match(/^credentials +(\S+)$/m) as RegExpMatchArray;
      const { agent: own } = JSON.parse(await readFile(file as string, "utf8"));
      const [one, other] = urls.map((url) => ({ url })) as [{ url: string }, { url: string }];
      const token = await agentToken(one, own.api_key);
      const agent = { id: own.id, token, ...api(other, token) };
      ok(await api(one, token).post(`/agents/${own.id}/interests`, { event_type: "com.example.thing" }));
      ok(await api(one, token).post("/events", cloudEvent("over the cluster")));
      expect(await receive(agent, 1)).toMatchObject([{ payload: { id: "over the cluster" } }]);
      expect((await agent.get("/auth/me")).headers.get("x-ratelimit-limit")).toBe("4321");
      const ready = await agent.get(`${new URL(other.url).origin}/readyz`);
      expect(ready.body).toMatchObject({ status: "ready", checks: { redis: "ok" } });
      expect(await cluster.end("SIGINT")).toEqual({ code: 0, signal: null });
      expect(cluster.output()).toMatch(/Stopped\.\n$/);
      await expect(agent.get("/auth/me")).rejects.toThrow();
      const workers = [...cluster.output().matchAll(/^worker +process (\d+)$/gm)].map(([, pid]) =>
        Number(pid),
      );
      expect(workers).toHaveLength(1);
      for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    } finally {
      await cluster.end("SIGINT");
    }
  });

  (here ? test : test.skip).each(["Starting", "MongoDB", "NATS", "worker", "gateway"])(
    "SIGTERM after the line %s ends all that was started, and leaves no file",
    async (line) => {
      const TMPDIR = await mkdtemp(join(tmpdir(), "sensorium-interrupted-"));
      const cluster = await startChild(process.execPath, [...command, "2", "1"], {
        cwd: ROOT,
        env: { ...process.env, TMPDIR },
      });
      try {
        await cluster.find(new RegExp(`^${line} `, "m"));
        expect(cluster.output()).not.toMatch(/is ready/);
        expect(await cluster.end("SIGTERM")).toEqual({ code: 0, signal: null });
        expect(cluster.output()).toMatch(/^Stopping\.\nStopped\.\n$/m);
        expect(processesNaming(TMPDIR)).toEqual([]);
        expect(await readdir(TMPDIR)).toEqual([]);
      } finally {
        await cluster.end("SIGKILL");
        await rm(TMPDIR, { recursive: true });
      }
    },
  );

  test.each([
    [["two"], "GATEWAYS and WORKERS are whole numbers from 1 to 16: got two."],
    [["1", "2", "3"], "GATEWAYS and WORKERS are whole numbers from 1 to 16: got 1 2 3."],
    [["RATE_LIMIT=1"], "RATE_LIMIT is not a setting; see docs/reference/settings.md."],
    [["PORT=3000"], "PORT cannot be given: the command sets it for each node."],
    [["DEDUPE_DAYS=0"], 'DEDUPE_DAYS is "0": expected a whole number from 1 to 36500.'],
  ])("%j is refused in one line", async (args, line) => {
    const child = await startChild(process.execPath, [...command, ...args], { cwd: ROOT });
    expect(await child.exited).toMatchObject({ code: 1 });
    expect(child.output()).toBe(`${line}\n`);
  });
});

/** The command lines of processes that have `text` in theirs or in their environment. */
function processesNaming(text: string): string[] {
  const read = (file: string) => {
    try {
      return readFileSync(file, "utf8").replaceAll("\0", " ");
    } catch {
      return "";
    }
  };
  return globSync("/proc/[0-9]*")
    .filter((folder) => read(`${folder}/environ`).includes(text) || read(`${folder}/cmdline`).includes(text))
    .map((folder) => read(`${folder}/cmdline`));
}
