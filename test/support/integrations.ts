import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Client, createClient } from "../../packages/client/index.ts";
import type { TestServer } from "./server.ts";

const ROOT = join(import.meta.dirname, "../..");

/** An agent without memories, and the client that has its key. */
export interface ClientAgent {
  client: Client;
  /** Settings of programs from the environment. */
  url: string;
  apiKey: string;
}

/** A new agent that may remember, publish and receive. */
export async function newClient({ url, credentials }: TestServer): Promise<ClientAgent> {
  const admin = createClient({ url, apiKey: credentials.agent.api_key });
  const { id } = await admin.agents.create({ name: "framework", delivery_mode: "poll" });
  const scopes = ["memory:read", "memory:write", "send", "receive"] as const;
  const { key } = await admin.keys.create({ agent_id: id, scopes: [...scopes] });
  return { client: createClient({ url, apiKey: key }), url, apiKey: key };
}

/** Runs a program with Node in this checkout, as an agent, and returns what it prints. @throws Error if it fails */
export async function runProgram(
  file: string,
  { url, apiKey }: ClientAgent,
  ...args: string[]
): Promise<string> {
  const env = { PATH: process.env.PATH, SENSORIUM_URL: url, SENSORIUM_API_KEY: apiKey };
  const node = ["--conditions=@sensorium/source", join(ROOT, file), ...args];
  return (await promisify(execFile)(process.execPath, node, { cwd: ROOT, env })).stdout;
}

/** Returns a client whose acknowledgements are lost, as if its process ended before them. */
export function withoutAcknowledging({ url, apiKey }: ClientAgent) {
  const lost: string[] = [];
  const losing: typeof fetch = (input, init) => {
    if (!String(input).endsWith("/delivery/ack")) return fetch(input, init);
    lost.push(String(init?.body));
    return new Promise((_, reject) =>
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
    );
  };
  return { client: createClient({ url, apiKey, fetch: losing }), lost };
}
