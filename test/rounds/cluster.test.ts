/** @needs mongodb, nats, redis: `npm run cluster`, from its start to Ctrl-C. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { cloudEvent, receive } from "../support/agents.ts";
import { startChild } from "../support/child.ts";
import { agentToken, api } from "../support/http.ts";
import { hasJavaCompiler, onPath } from "../support/needs.ts";
import { ok } from "../support/tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const [, ...command] = scripts.cluster.split(" ");
const record = Boolean(process.env.MONGO_URL) || onPath("mongod") || (await hasJavaCompiler());
const here = record && onPath("nats-server") && onPath("redis-server");

describe("npm run cluster", () => {
  (here ? test : test.skip)("what one gateway is told, another serves; Ctrl-C ends all", async () => {
    const cluster = await startChild(process.execPath, [...command, "2", "1"], { cwd: ROOT });
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

  test("numbers that are none are refused in one line", async () => {
    const child = await startChild(process.execPath, [...command, "two"], { cwd: ROOT });
    expect(await child.exited).toMatchObject({ code: 1 });
    expect(child.output()).toBe("GATEWAYS and WORKERS are whole numbers from 1 to 16: got two.\n");
  });
});
