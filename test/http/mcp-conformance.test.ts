/** @needs frameworks */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { startChild } from "../support/child.ts";
import { agentToken } from "../support/http.ts";
import { CONFORMANCE_SUITE, REVISIONS } from "../support/mcp.ts";
import type { TestServer } from "../support/server.ts";
import { startShared } from "../support/shared.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/mcp-conformance.yml");
/** js-yaml brings no types. */
const { load } = createRequire(import.meta.url)("js-yaml") as {
  load(text: string): Record<string, string[]>;
};
const EXCEPTIONS = Object.values(load(readFileSync(FIXTURE, "utf8"))).flat();

type Check = { id: string; status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED" };

const server = await startShared();
const door = await openDoor(server, await agentToken(server, server.credentials.agent.api_key));
const folder = mkdtempSync(join(tmpdir(), "sensorium-mcp-"));
afterAll(async () => {
  door.closeAllConnections();
  await new Promise((resolve) => door.close(resolve));
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** The suite knows of no tokens: this adds one and changes nothing else. */
async function openDoor({ root }: TestServer, token: string): Promise<Server> {
  const opened = createServer((req, res) => {
    const { method = "GET", url = "/" } = req;
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const passed = request(new URL(url, root), { method, headers }, (answer) => {
      res.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(res);
    });
    passed.on("error", () => res.destroy());
    res.on("close", () => passed.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => opened.listen(0, "127.0.0.1", resolve));
  return opened;
}

/** The checks of what a revision requires. The suite runs extensions and drafts too, and says that they do not count. */
async function checksOf(revision: string): Promise<Check[]> {
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`;
  const to = join(folder, revision);
  const args = [CONFORMANCE_SUITE, "server", "--url", url, "--requirements", revision, "--output-dir", to];
  const suite = await startChild(process.execPath, args, { cwd: folder });
  await suite.exited;
  const [, notScored = ""] = suite.output().split("Not scored");
  const left = [...notScored.matchAll(/^ {2}[✓✗] ([\w-]+) \(/gm)].map(([, name]) => `server-${name}-2`);
  return globSync("*/checks.json", { cwd: to })
    .filter((file) => !left.some((name) => basename(dirname(file)).startsWith(name)))
    .flatMap((file) => JSON.parse(readFileSync(join(to, file), "utf8")));
}

test("every check of the official conformance suite passes, but those that do not apply", async () => {
  const run = new Set<string>();
  for (const revision of REVISIONS) {
    const checks = await checksOf(revision);
    for (const { id } of checks) run.add(id);
    const failed = checks.filter(({ status }) => status === "FAILURE").map(({ id }) => id);
    const excepted = EXCEPTIONS.filter((id) => checks.some((check) => check.id === id));
    expect({ revision, failed: failed.sort() }).toEqual({ revision, failed: excepted.sort() });
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(30);
  }
  expect(EXCEPTIONS.filter((id) => !run.has(id))).toEqual([]);
});
