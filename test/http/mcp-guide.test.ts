import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { agentToken } from "../support/http.ts";
import { useShared } from "../support/use.ts";

const ROOT = join(import.meta.dirname, "../..");
const BRIDGE = ["packages/client/bin.js", "mcp"] as const;
const guide = await readFile(join(ROOT, "docs/mcp.md"), "utf8");
const readme = await readFile(join(ROOT, "README.md"), "utf8");

const server = await useShared();
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
