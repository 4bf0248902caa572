import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connectTo, newCli } from "../support/cli.ts";
import { agentToken } from "../support/http.ts";
import { REVISIONS, resultOf } from "../support/mcp.ts";
import { serving } from "../support/serving.ts";
import { use, useShared } from "../support/use.ts";

const server = await useShared();
const cli = use(newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: server.credentials.agent.api_key }));

/** Lines of JSON-RPC, and what is answered to each by its id. */
async function exchange(messages: object[], env: Record<string, string> = {}) {
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const { code, out, err } = await cli.run(["mcp", "--tools", "memories"], { input, env });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const answers = out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return new Map(answers.map((answer) => [answer.id, answer]));
}

const MEMORY = { title: "Über uns", content: "We are here.", type: "semantic", scope: "agent" };

test.each(REVISIONS)(
  "the official client speaks over standard input and output, revision %s",
  async (revision) => {
    const modern = revision === "2026-07-28";
    const client = new Client(
      { name: "test", version: "1" },
      modern ? { versionNegotiation: { mode: { pin: revision } } } : {},
    );
    const end = await connectTo(cli.start(["mcp"], { open: true }), client);
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      const made = await client.callTool({ name: "memories_create", arguments: MEMORY });
      expect(resultOf(made)).toMatchObject({ title: MEMORY.title });
      const { id } = resultOf(made);
      const { contents } = await client.readResource({ uri: `sensorium://memories/${id}` });
      expect(contents).toMatchObject([{ text: expect.stringContaining("We are here.") }]);
      if (modern) {
        const uri = `sensorium://memories/${id}`;
        const changed = new Promise((resolve) =>
          client.setNotificationHandler("notifications/resources/updated", resolve),
        );
        const subscription = await client.listen({ resourceSubscriptions: [uri] });
        const update = { id, title: "Changed" };
        expect(await client.callTool({ name: "memories_update", arguments: update })).not.toMatchObject({
          isError: true,
        });
        expect(await changed).toMatchObject({ params: { uri } });
        await subscription.close();
      }
      await expect(client.readResource({ uri: "sensorium://Ärger/1" })).rejects.toMatchObject({
        code: -32602,
      });
    } finally {
      await end();
    }
  },
);

describe("sensorium mcp", () => {
  test("answers all it was asked before its input ended, and nothing else", async () => {
    const answers = await exchange([
      { id: 1, method: "tools/list" },
      { method: "notifications/initialized" },
      { id: "two", method: "tools/call", params: { name: "memories_list", arguments: { limit: 1 } } },
    ]);
    expect([...answers.keys()].sort()).toEqual([1, "two"]);
    const names = answers.get(1).result.tools.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => !name.startsWith("memories_"))).toEqual([]);
    expect(resultOf(answers.get("two").result)).toMatchObject({ memories: expect.any(Array) });
  });

  test("passes on texts with separators of lines, in what is asked and in the answer", async () => {
    const content = "first\u2028second\u2029third\u0085fourth";
    const create = { name: "memories_create", arguments: { ...MEMORY, title: "Separators", content } };
    const made = await exchange([{ id: 1, method: "tools/call", params: create }]);
    const { id } = resultOf(made.get(1).result);
    const params = { uri: `sensorium://memories/${id}` };
    const read = await exchange([{ id: 2, method: "resources/read", params }]);
    expect(read.get(2).result.contents[0].text).toContain(content);
  });

  test("says what is wrong as an error of the protocol", async () => {
    const ask = [{ id: 1, method: "tools/list" }];
    const wrongKey = `ak_live_${"a".repeat(32)}`;
    expect((await exchange(ask, { SENSORIUM_API_KEY: wrongKey })).get(1)).toMatchObject({
      error: { code: -32603, data: { code: "authentication_failed" } },
    });
    for (const input of ["hello\n", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n']) {
      const { out } = await cli.run(["mcp"], { input });
      expect(JSON.parse(out)).toMatchObject({ id: null, error: { code: -32700 } });
    }
  });

  test("answers each request although the service sends nothing, and ends with its input", async () => {
    const silent = await serving(({ url }, response) => {
      if (url?.startsWith("/mcp?tools=memories")) return;
      // The headers of a stream, and a part of its answer.
      response.writeHead(200, { "content-type": "text/event-stream" }).write('data: {"jsonrpc"');
    });
    const env = { SENSORIUM_URL: silent.url, SENSORIUM_API_KEY: "" };
    const ask = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`;
    for (const tools of ["memories", "runs"]) {
      const { code, out } = await cli.run(["mcp", "--tools", tools, "--timeout", "1s"], { input: ask, env });
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({
        id: 1,
        error: {
          code: -32603,
          message: "The service sent nothing for 1 s. The request may have taken effect.",
        },
      });
    }
    await silent.close();
  });

  test("a stream that ends without an answer is answered", async () => {
    const other = await serving((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(": nothing\n\n");
    });
    const env = { SENSORIUM_URL: other.url, SENSORIUM_API_KEY: "" };
    expect((await exchange([{ id: 1, method: "tools/list" }], env)).get(1)).toMatchObject({
      error: { code: -32603, message: "The service ended the stream before it answered." },
    });
    await other.close();
  });
});

const ROOT = join(import.meta.dirname, "../..");
const BRIDGE = ["packages/client/bin.js", "mcp"] as const;
const guide = await readFile(join(ROOT, "docs/mcp.md"), "utf8");
const readme = await readFile(join(ROOT, "README.md"), "utf8");

const token = await agentToken(server, server.credentials.agent.api_key);

interface Entry {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

/** The configurations that the guide and the README show. */
const entries = [...`${guide}${readme}`.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json]) => {
  const { mcpServers, servers } = JSON.parse(json as string);
  return (mcpServers ?? servers).sensorium as Entry;
});

/** With what a reader puts in: this server's address, its key, its token, the folder of the checkout. */
function filled({ command, args, env, url, headers }: Entry): Transport {
  const { credentials, root } = server;
  if (url) {
    const sent = Object.entries(headers ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{SENSORIUM_API_KEY\}/, credentials.agent.api_key),
    ]);
    const requestInit = { headers: Object.fromEntries(sent) };
    return new StreamableHTTPClientTransport(new URL(url.replace("http://127.0.0.1:3000", root)), {
      requestInit,
    });
  }
  const [file, word] = BRIDGE;
  expect([command, args]).toEqual(["node", [expect.stringMatching(`^/path/to/.+/${file}$`), word]]);
  const own = { ...env, SENSORIUM_URL: root, SENSORIUM_API_KEY: credentials.agent.api_key };
  expect(Object.keys(own)).toEqual(Object.keys(env ?? {}));
  return new StdioClientTransport({ command: process.execPath, args: [join(ROOT, file), word], env: own });
}

test("the bridge and HTTP are shown", () =>
  expect(entries.map(({ url }) => url === undefined)).toEqual([true, true, false, true]));

test.each(entries.map((entry, at) => [at + 1, entry] as const))(
  "configuration %i connects",
  async (_, entry) => {
    const client = new Client({ name: "guide", version: "1" });
    await client.connect(filled(entry));
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("memories_search");
    } finally {
      await client.close();
    }
  },
);

test("the TOML says the same as the JSON", () => {
  const [, toml = ""] = /^```toml\n(.*?)^```$/ms.exec(guide) ?? [];
  expect(JSON.parse(/^args = (.*)$/m.exec(toml)?.[1] ?? "null")).toEqual(entries[0]?.args);
  for (const name of Object.keys(entries[0]?.env ?? {})) expect(toml).toContain(`${name} = "`);
});

test("the prompts and resources it names are there", async () => {
  const client = new Client({ name: "guide", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.root}/mcp`), { requestInit }));
  const { prompts } = await client.listPrompts();
  const { resourceTemplates } = await client.listResourceTemplates();
  await client.close();
  const section = /^## Prompts$.*?(?=^## )/ms.exec(guide)?.[0] as string;
  expect([...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(
    prompts.map(({ name }) => name),
  );
  for (const { uriTemplate } of resourceTemplates) expect(guide).toContain(`\`${uriTemplate}\``);
});
