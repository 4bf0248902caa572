import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startChild } from "../support/child.ts";
import { agentToken } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";

const SUITE = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");
const EXCEPTIONS = join(import.meta.dirname, "../fixtures/mcp-conformance.yml");
const APPLIES = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];

let server: TestServer;
let door: Server;
let folder: string;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  door = await openDoor(server, await agentToken(server, server.credentials.agent.api_key));
  folder = mkdtempSync(join(tmpdir(), "afferent-mcp-"));
});
afterAll(async () => {
  door?.closeAllConnections();
  await new Promise((resolve) => (door ? door.close(resolve) : resolve(null)));
  if (folder) rmSync(folder, { recursive: true });
  await server?.stop();
});

/** The suite knows of no tokens: this adds one, and changes nothing else. */
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

test("the official conformance suite passes, but for what does not apply", async () => {
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`;
  const args = [SUITE, "server", "--url", url, "--expected-failures", EXCEPTIONS];
  const suite = await startChild(process.execPath, args, { cwd: folder });
  const { code } = await suite.exited;
  const passed = [...suite.output().matchAll(/^✓ ([\w-]+): [1-9]/gm)].map(([, name]) => name);
  expect({ code, passed }).toEqual({ code: 0, passed: APPLIES });
});
