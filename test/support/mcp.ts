import { join } from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Json } from "./http.ts";
import type { TestServer } from "./server.ts";

/** The stateless revision, and the one before it, as the official client speaks them. */
export const REVISIONS = ["2026-07-28", "2025-11-25"] as const;

/** The official suite. Installed with the frameworks, apart from the server: it is large (`@needs frameworks`). */
export const CONFORMANCE_SUITE = join(
  import.meta.dirname,
  "../../packages/integrations/node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

interface McpOptions {
  revision?: (typeof REVISIONS)[number];
  /** Query of the address: `tools=memories`. */
  query?: string;
}

/** The official client, connected. */
export interface McpClient extends AsyncDisposable {
  client: Client;
  /** Calls a tool and gives its value, or its text. @throws Error when it is an error */
  call(name: string, args?: Record<string, unknown>): Promise<Json>;
  /** Calls a tool that refuses, and gives the envelope's error. */
  refused(name: string, args?: Record<string, unknown>): Promise<Json>;
  names(): Promise<string[]>;
}

export async function connectMcp(
  server: Pick<TestServer, "root">,
  token: string,
  { revision = "2026-07-28", query = "" }: McpOptions = {},
): Promise<McpClient> {
  const modern = revision === "2026-07-28";
  const client = new Client(
    { name: "test", version: "1" },
    modern ? { versionNegotiation: { mode: { pin: revision } } } : {},
  );
  const url = new URL(`${server.root}/mcp${query && `?${query}`}`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  await client.listTools();
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args }) as Promise<CallToolResult>;
  return {
    client,
    async call(name, args) {
      const result = await call(name, args);
      if (result.isError) throw new Error(`${name}: ${textOf(result)}`);
      return resultOf(result);
    },
    async refused(name, args) {
      const result = await call(name, args);
      if (!result.isError) throw new Error(`${name} was not refused: ${textOf(result)}`);
      return JSON.parse(textOf(result)).error;
    },
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Returns the value of a result that is JSON, otherwise its text. */
export function resultOf(result: object): Json {
  const [first] = (result as CallToolResult).content;
  const text = first?.type === "text" ? first.text : "";
  return /^[{[]/.test(text) ? JSON.parse(text) : text;
}

function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
}
