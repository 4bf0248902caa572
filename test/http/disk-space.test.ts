import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { agentToken, api } from "../support/http.ts";
import { remember } from "../support/memories.ts";
import { atEnd } from "../support/own-folder.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useAlone } from "../support/use.ts";

const MB = 1_000_000;
const MARKDOWN = { "content-type": "text/markdown" };
/** Free space for uploads until they are refused, in megabytes. */
const LEFT = 48;

// A disk that no other program fills meanwhile, where there is one.
const dataDir = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sensorium-small-"));
atEnd(() => rm(dataDir, { recursive: true, force: true }));
const { bavail, bsize } = await statfs(dataDir);
const min = Math.floor(((bavail * bsize) / MB - LEFT) / 2);
const env = { MIN_FREE_DISK_MB: String(min), RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
const server = await useAlone({ env, dataDir });
const token = await agentToken(server, server.credentials.agent.api_key);
const http = api(server, token);

const lines = (megabytes: number) =>
  "A line of some hundred bytes, as they are in any text that is long. \n".repeat(megabytes * 14_500);

/** Sends a text without saying how long it is; where it is cut off, `more` is asked no further. */
function stream(megabytes: number): Promise<Response> {
  const piece = new TextEncoder().encode(lines(1));
  let left = megabytes;
  const body = new ReadableStream({
    pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
  });
  const headers = { authorization: `Bearer ${token}`, ...MARKDOWN };
  return fetch(`${server.url}/outputs?title=Streamed`, {
    ...{ method: "POST", headers, body, duplex: "half" },
  } as RequestInit);
}

async function expectRefused(status: number, retryAfter: string | null, body: unknown): Promise<void> {
  const error = { code: "service_unavailable", details: { retry_after_seconds: 30 } };
  expect({ status, retryAfter, body }).toMatchObject({ status: 503, retryAfter: "30", body: { error } });
  await settle(async () => (await readdir(join(dataDir, "blobs.new"))).length === 0);
}

test("an upload that would fill the disk is refused while it streams, and leaves nothing", async () => {
  const answer = await stream(58);
  await expectRefused(answer.status, answer.headers.get("retry-after"), await answer.json());
  expect(ok(await http.get("/outputs")).outputs).toEqual([]);
});

test("refuses an upload with a Content-Length before reading it", async () => {
  const { status, headers, body } = await http.post("/outputs?title=Long", lines(60), MARKDOWN);
  await expectRefused(status, headers.get("retry-after"), body);
});

test("an index that cannot be written marks answers, readiness and metrics until it is complete", async () => {
  const agent = await firstAgent(server);
  const find = async (query: string) => {
    const { results, degraded, degraded_reasons } = ok(await agent.post("/memories/search", { query }));
    return { found: results.length, degraded, degraded_reasons };
  };
  const behind = async () => /^sensorium_search_index_behind (\d+)$/m.exec(await server.metrics())?.[1];
  const readiness = async () => (await api(server).get(`${server.root}/readyz`)).body.checks.search_index;
  await remember(agent, { content: "the walrus sings at dusk" });
  expect(await find("walrus")).toEqual({ found: 1, degraded: false, degraded_reasons: [] });
  expect([await readiness(), await behind()]).toEqual(["ok", "0"]);

  // What a full disk does to a statement.
  const index = new DatabaseSync(join(dataDir, "search.db"), { timeout: 10_000 });
  try {
    const failure = "SELECT RAISE(ABORT, 'database or disk is full'); END";
    index.exec(`CREATE TRIGGER is_full BEFORE INSERT ON entries BEGIN ${failure}`);
    await remember(agent, { content: "the narwhal dives at dawn" });
    const reason = expect.stringContaining("the index could not be written");
    expect(await find("narwhal")).toEqual({ found: 0, degraded: true, degraded_reasons: [reason] });
    expect(await readiness()).toBe("could not be written: searches may lack the latest changes");
    expect(await behind()).toBe("1");
    index.exec("DROP TRIGGER is_full");
  } finally {
    index.close();
  }
  await settle(async () => (await readiness()) === "ok", { what: "the index to be complete" });
  expect(await find("narwhal")).toEqual({ found: 1, degraded: false, degraded_reasons: [] });
  expect(await behind()).toBe("0");
});

test("refuses one of two that do not fit together; other requests continue", async () => {
  const both = await Promise.all(
    [30, 29].map((megabytes) => http.post("/outputs?title=Two", lines(megabytes), MARKDOWN)),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([201, 503]);
  const event = { specversion: "1.0", id: "small", type: "com.example.small", source: "/disk" };
  expect((await http.post("/events", event)).status).toBe(202);
  expect((await api(server).get(`${server.root}/readyz`)).status).toBe(200);
});
