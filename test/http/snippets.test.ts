/** @needs pypi */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { snippetsFor } from "../../packages/console/src/pages/agents/snippets.ts";
import { useGround } from "../support/deliveries.ts";
import { pythonOfTests } from "../support/python.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ground = await useGround();

/** How each program for a new agent is run. */
const RUN: [language: string, command: string, args: (text: string) => string[]][] = [
  ["typescript", process.execPath, (text) => ["--input-type=module-typescript", "-e", text]],
  ["python", pythonOfTests(), (text) => ["-c", text]],
];

/** Where Python finds the package, as if it were installed. */
const PYTHONPATH = join(import.meta.dirname, "../../packages/python/src");

/** Starts a program, stopped when disposed, and collects what it prints. */
function start(command: string, args: string[], apiKey: string) {
  const env = { ...process.env, SENSORIUM_API_KEY: apiKey, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" };
  const child: ChildProcess = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (printed += chunk));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { printed: () => printed, [Symbol.asyncDispose]: stop };
}

async function newKey(type: string) {
  const { id } = await newReceiver(ground.server, ground.admin, type, { interests: [type] });
  const { key } = ok(await ground.admin.post(`/agents/${id}/keys`, { scopes: ["receive"] }));
  return { id, key: key as string };
}

test.each(RUN)("the program in %s receives and acknowledges", async (language, command, args) => {
  const type = `com.example.${language}`;
  const { id, key } = await newKey(type);
  const snippet = snippetsFor(ground.server.root, key).find((each) => each.key === language);
  await using program = start(command, args(snippet?.text as string), key);
  await ground.publish(type, { answer: 42 });
  await settle(async () => {
    const { deliveries } = ok(await ground.admin.get(`/agents/${id}/deliveries?status=acknowledged`));
    return deliveries.length === 1;
  });
  expect(program.printed()).toContain(type);
  expect(program.printed()).toMatch(/answer.*42/);
});

test("the commands for curl have the key and the address", async () => {
  const { id, key } = await newKey("com.example.curl");
  await ground.publish("com.example.curl", {});
  const text = snippetsFor(ground.server.root, key).find((each) => each.key === "curl")?.text as string;
  const [receive, acknowledge] = text.split("# Acknowledge by the id of the delivery.") as [string, string];
  await using shell = start("sh", ["-c", receive], key);
  await settle(() => shell.printed().includes('"count":1'));
  const [, delivery] = /"id":"(dlv_[^"]+)"/.exec(shell.printed()) as RegExpExecArray;
  await using acknowledging = start("sh", ["-c", acknowledge.replace("dlv_…", delivery as string)], key);
  await settle(() => acknowledging.printed().includes('{"acknowledged":1}'));
  const { deliveries } = ok(await ground.admin.get(`/agents/${id}/deliveries?status=acknowledged`));
  expect(deliveries).toHaveLength(1);
});

test("an MCP client that signs in gets the address alone", () => {
  const [only, ...others] = snippetsFor("https://sensorium.example.com");
  expect(others).toEqual([]);
  expect(only?.text).toBe("claude mcp add --transport http sensorium https://sensorium.example.com/mcp\n");
});
