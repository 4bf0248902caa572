/** @needs mongodb, nats: search nodes that die and join: answers are whole, or say that they are not. */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Document } from "mongodb";
import { ownerOf } from "../../mixins/affinity.ts";
import { holds } from "../../services/remember/search/coverage.ts";
import type { TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { agentIn, remember } from "../support/memories.ts";
import { type Watch, watchMongo } from "../support/mongo-watch.ts";
import { onNodes } from "../support/on-nodes.ts";
import { settle } from "../support/settle.ts";

await onNodes("search by several nodes", 2, { EMBEDDER: "none" }, ({ url, nodes, admin }) => {
  let agent: TestAgent;
  let dead: Child | undefined;
  const watches: Watch[] = [];

  beforeAll(async () => {
    agent = await agentIn(nodes.gateway, admin, {});
  });
  afterAll(async () => {
    for (const watch of watches) await watch.stop();
  });

  const idOf = ({ pid }: Child) => `${hostname().toLowerCase()}-${pid}`;
  const search = (query: string) => agent.post("/memories/search", { query });

  /** Returns the worker that answers the tenant's searches. */
  function owner(among: Child[]): Child {
    const { tenant_id } = nodes.gateway.credentials;
    const { id } = ownerOf(
      tenant_id,
      among.map((child) => ({ id: idOf(child) })),
    );
    return among.find((child) => idOf(child) === id) as Child;
  }

  /** Searches until an answer is whole: none before may lack the memory without saying so. */
  async function findsWhole(query: string, id: string): Promise<void> {
    const misleading: unknown[] = [];
    await settle(
      async () => {
        const { status, body } = await search(query);
        if (status !== 200) return false;
        const isFound = body.results[0]?.memory.id === id;
        if (!isFound && !body.degraded) misleading.push(body);
        return isFound && !body.degraded;
      },
      { what: `a whole answer to ${query}` },
    );
    expect(misleading).toEqual([]);
  }

  test("a memory written just before its owner dies is found, or missed by answers that say so", async () => {
    const old = await remember(agent, { content: "the heron waits" });
    await findsWhole("heron", old.id);
    const { id } = await remember(agent, { content: "the spoonbill waits" });
    dead = owner(nodes.workers);
    await dead.end("SIGKILL");
    await findsWhole("spoonbill", id);
    await findsWhole("heron", old.id);
  });

  test("a node that neither owns a tenant nor stands by does not index it, until it is the last", async () => {
    const { tenant_id } = nodes.gateway.credentials;
    const alive = nodes.workers.filter((child) => child !== dead);
    for (let number = 2; ; number++) {
      const commands: Document[] = [];
      const watch = await watchMongo(url, (command) => commands.push(command));
      watches.push(watch);
      alive.push(await nodes.addWorker(undefined, { MONGO_URL: watch.url }));
      const self = idOf(alive.at(-1) as Child);
      const looks = () =>
        commands.filter(({ find, filter }) => find === "memories" && filter.changed_at).length;
      await settle(() => looks() >= 1, { what: "the new node to look for changes" });
      // It looks again once something was written.
      await remember(agent, { content: `the wren waits, the ${number}th` });
      await settle(() => looks() >= 2, { what: "the new node to look for changes again" });
      const isHolder = holds({ self, nodes: alive.map(idOf) }, tenant_id);
      const held = entriesIn(join(nodes.folder, `worker-${number}`, "search.db"));
      if (isHolder) expect(held).toBeGreaterThan(0);
      else expect(held).toBe(0);
      if (!isHolder) break;
    }
    const { id } = await remember(agent, { content: "the flamingo waits" });
    await findsWhole("flamingo", id);
    const last = alive.at(-1) as Child;
    const first = owner(alive);
    await first.end("SIGKILL");
    await findsWhole("flamingo", id);
    for (const child of alive) if (child !== last && child !== first) await child.end("SIGKILL");
    await findsWhole("flamingo", id);
  });
});

/** Counts the entries in an index on disk. */
function entriesIn(file: string): number {
  if (!existsSync(file)) return 0;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(db.prepare("SELECT count(*) AS n FROM entries").get()?.n);
  } finally {
    db.close();
  }
}
