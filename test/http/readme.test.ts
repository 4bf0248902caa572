import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent } from "../support/agents.ts";
import { PATIENT, readersFolder, readmePage, runCommands } from "../support/guides.ts";
import { startServer } from "../support/server.ts";

const readme = readmePage();
const overHttp = readme.slice(readme.indexOf("The same over HTTP"), readme.indexOf("And in TypeScript"));

// No settings: the limits are those of a new installation.
const server = await startServer();
const reader = readersFolder(server);
afterAll(async () => {
  reader.remove();
  await server.stop();
});

test("its commands lead from the first interest to a memory", async () => {
  await runCommands(readme, reader.folder, { prelude: PATIENT });
});

test("an agent may send as many requests as it says, and a batch is one", async () => {
  expect(readme).toContain("1,000 requests a minute");
  const agent = await newAgent(server, await firstAgent(server));
  const batch = [1, 2, 3].map((n) => cloudEvent(`of a batch, ${n}`));
  const type = "application/cloudevents-batch+json";
  const { status, headers } = await agent.post("/events", batch, { "content-type": type });
  expect(status).toBe(202);
  const counted = ["limit", "remaining"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
  expect(counted).toEqual([1000, 999]);
});

test("the part over HTTP can be repeated", async () => {
  await runCommands(overHttp, reader.folder);
});

test("its commands find the server by DATA_DIR", async () => {
  unlinkSync(join(reader.folder, "data"));
  // Without the block that saves the memory: it exists.
  const firstMemory = readme.slice(readme.indexOf("\nsensorium recall") - "```sh".length);
  const env = { DATA_DIR: server.dataDir };
  await runCommands(`${overHttp}${firstMemory}`, reader.folder, { prelude: PATIENT, env });
});
