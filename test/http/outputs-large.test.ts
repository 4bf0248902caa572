import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const MB = 1_048_576;
const LINE = 'A line with "quotes" and \\ é.\n';
const textOf = (megabytes: number) => LINE.repeat(Math.ceil((megabytes * MB) / Buffer.byteLength(LINE)));
const markdown = { "content-type": "text/markdown" };

async function start() {
  const server = await startAlone({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  /** The most memory that the server has had, in bytes. */
  const most = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid()}/status`, "utf8"))?.[1]) * 1024;
  const agent = api(server, await agentToken(server, server.credentials.agent.api_key));
  return { server, agent, most };
}

test("a body of 50 MB is never held: in JSON, under a key, as Markdown, and when it is read", async () => {
  const { server, agent, most } = await start();
  try {
    const body = textOf(50);
    ok(await agent.post("/outputs", { body: "# Small" }));
    const before = most();
    const { id, content_hash } = ok(await agent.post("/outputs", { body }, { "idempotency-key": "k" }));
    expect(ok(await agent.post("/outputs?title=Same", body, markdown)).content_hash).toBe(content_hash);
    expect(ok(await agent.get(`/outputs/${id}`)).body === body).toBe(true);
    // Parsed as a whole it would take four times its size.
    expect(most() - before).toBeLessThan(4 * body.length);
  } finally {
    await server.stop();
  }
});

test("a node in use never holds 50 MB of Markdown, nor what of it is searched", async () => {
  const { server, agent, most } = await start();
  const record = new DatabaseSync(join(server.dataDir, "sensorium.db"), { readOnly: true });
  try {
    const unindexed = () =>
      record.prepare(`SELECT count(*) AS n FROM d_outputs WHERE doc LIKE '%"queue":%'`).get()?.n;
    const save = async (megabytes: number) => {
      ok(await agent.post(`/outputs?title=${megabytes}`, textOf(megabytes), markdown));
      await settle(() => unindexed() === 0, { within: 150_000 });
    };
    // Heaps and the caches of both databases have their size after some that are searched as far as this one.
    for (let n = 0; n < 4; n++) await save(5);
    const before = most();
    await save(50);
    // A few megabytes on a machine at rest; on one that is busy what is on its way waits longer, and garbage with it.
    expect(most() - before).toBeLessThan(40 * MB);
  } finally {
    record.close();
    await server.stop();
  }
}, 600_000);
