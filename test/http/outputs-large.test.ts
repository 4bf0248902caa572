import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { agentToken, api } from "../support/http.ts";
import { ok } from "../support/tenancy.ts";

const MB = 1_048_576;

test("a body of 50 MB is never held: in JSON, under a key, as Markdown, and when it is read", async () => {
  const server = await startAlone({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  try {
    /** The most memory that the server has had, in bytes. */
    const most = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid()}/status`, "utf8"))?.[1]) * 1024;
    const agent = api(server, await agentToken(server, server.credentials.agent.api_key));
    const body = 'A line with "quotes" and \\ é.\n'.repeat(Math.ceil((50 * MB) / 31));
    ok(await agent.post("/outputs", { body: "# Small" }));
    const before = most();
    const { id, content_hash } = ok(await agent.post("/outputs", { body }, { "idempotency-key": "k" }));
    const markdown = { "content-type": "text/markdown" };
    expect(ok(await agent.post("/outputs?title=Same", body, markdown)).content_hash).toBe(content_hash);
    expect(ok(await agent.get(`/outputs/${id}`)).body === body).toBe(true);
    // Parsed as a whole it would take four times its size.
    expect(most() - before).toBeLessThan(4 * body.length);
  } finally {
    await server.stop();
  }
});
