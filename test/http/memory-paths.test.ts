import { beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, receive, type TestAgent } from "../support/agents.ts";
import { startEmbedder } from "../support/embedder.ts";
import type { Answer, Api } from "../support/http.ts";
import { connectMcp } from "../support/mcp.ts";
import { agentIn, makeCast, memory, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, ok } from "../support/tenancy.ts";
import { use, useServer } from "../support/use.ts";
import { whole } from "../support/whole.ts";

const DIMS = 64;

const embedder = use(await startEmbedder());
embedder.behave({ dims: DIMS, by: async (texts) => texts.map(meaningOf) });
const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url } });
const cast = await makeCast(server);
const scopes = ["memory:read", "memory:write", "receive"];
/** An agent of team A that also receives events. */
const reader = await agentIn(server, cast.admin, { team_id: cast.teamA }, scopes);
const interest = { event_type: "com.zeppelin.*", enrichment_depth: "deep" };
ok(await reader.post(`/agents/${reader.id}/interests`, interest));

/** A dirigible means what a zeppelin does, each letter another one. Everything else means something else. */
function meaningOf(text: string): number[] {
  const letter = /(?:zeppelin|dirigible)([a-z])/i.exec(text)?.[1];
  const at = letter ? letter.charCodeAt(0) - 97 : 26 + (text.length % 30);
  return Array.from({ length: DIMS }, (_, i) => (i === at ? 1 : 0.01));
}

/** A memory of Alice's, and its relation to one of the reader's. */
interface Subject {
  id: string;
  /** A word that only this memory holds. */
  word: string;
  anchor: string;
}

let made = 0;

async function subject(scope: string): Promise<Subject> {
  const word = `zeppelin${String.fromCharCode(97 + made++)}`;
  const talk = { source_type: "conversation", source_id: word };
  const text = { title: `A ${word} rises`, content: word, tags: [word] };
  const { id } = await remember(cast.alice, { ...text, scope, ...talk });
  // Its words make its neighbour match too, which would reveal it.
  await remember(cast.alice, { content: "Then all was quiet again.", scope: "institutional", ...talk });
  const anchor = (
    await remember(reader, { scope: "institutional", title: "Anchor", content: `Ground ${made}` })
  ).id;
  const edge = { target_memory_id: id, relationship_type: "related_to" };
  ok(await cast.alice.post(`/memories/${anchor}/relationships`, edge));
  ok(await cast.alice.post("/memories/merge-proposals", { memory_a_id: anchor, memory_b_id: id }));
  await settle(async () => ok(await cast.alice.get("/memories/health")).embed_gap_count === 0, {
    what: "every vector",
  });
  return { id, word, anchor };
}

/** Where memories are come upon, with what is asked by somebody: what is answered names what was found. */
const PATHS: Record<string, (who: Api, subject: Subject) => Promise<Answer>> = {
  list: (who) => who.get("/memories?limit=200"),
  "list by title": (who) => who.get("/memories?limit=200&sort=title"),
  "list by text": (who, { word }) => who.get(`/memories?search=${word}`),
  "list by tag": (who, { word }) => who.get(`/memories?tags=${word}`),
  search: (who, { word }) => who.post("/memories/search", { query: word }),
  "search by meaning": (who, { word }) =>
    who.post("/memories/search", { query: word.replace("zeppelin", "dirigible") }),
  "search, explained": (who, { word }) => who.post("/memories/search", { query: word, explain: true }),
  "search by tag": (who, { word }) => who.post("/memories/search", { query: "rises", tags: [word] }),
  graph: (who, { anchor }) => who.get(`/memories/${anchor}/graph?depth=3`),
};

/** Paths that may show a superseded memory unasked: its history. */
const HISTORY: typeof PATHS = {
  relationships: (who, { anchor }) => who.get(`/memories/${anchor}/relationships`),
  "merge proposals": (who) => who.get("/memories/merge-proposals?limit=200"),
  page: (who, { id }) => who.get(`/memories/${id}`),
};

/** The same, where replaced ones are asked for. */
const ASKED: typeof PATHS = {
  list: (who) => who.get("/memories?limit=200&include_superseded=true"),
  search: (who, { word }) => who.post("/memories/search", { query: word, include_superseded: true }),
  graph: (who, { anchor }) => who.get(`/memories/${anchor}/graph?depth=3&include_superseded=true`),
};

/** For agents only. */
const OF_AGENTS: Record<string, (who: TestAgent, subject: Subject) => Promise<unknown>> = {
  findings: async (who) => (await who.get("/memories/findings?since_seq=0&limit=50&mark_read=false")).body,
  bundle: async (who, { word }) => (await who.post("/bundles", { query: word })).body,
  "bundle of the latest": async (who) => (await who.post("/bundles", { caps: { memories: 50 } })).body,
  "search by a tool": async (who, { word }) => {
    await using mcp = await connectMcp(server, who.token);
    return await mcp.call("memories_search", { query: word });
  },
  resource: async (who, { id }) => {
    await using mcp = await connectMcp(server, who.token);
    const read = mcp.client.readResource({ uri: `sensorium://memories/${id}` });
    return await read.catch(() => null);
  },
  enrichment: async (who, { word }) => {
    const event = cloudEvent(`paths-${word}-${performance.now()}`, { type: `com.zeppelin.${word}` });
    ok(await cast.admin.post("/events", event));
    const [{ payload }] = await receive(who, 1);
    return payload.enrichment;
  },
};

/** Returns the paths that reveal the subject. Refusals only repeat the request; degraded answers may omit it. */
async function findersOf(paths: typeof PATHS, who: Api, subject: Subject): Promise<string[]> {
  const found: string[] = [];
  for (const [name, path] of Object.entries(paths)) {
    const { status, body } = await whole(
      () => path(who, subject),
      (answer) => answer.body,
    );
    if (status < 400 && JSON.stringify(body).includes(subject.id)) found.push(name);
  }
  return found;
}

async function agentFindersOf(subject: Subject): Promise<string[]> {
  const found: string[] = [];
  for (const [name, path] of Object.entries(OF_AGENTS)) {
    const told = await whole(() => path(reader, subject));
    if (JSON.stringify(told).includes(subject.id)) found.push(name);
  }
  return found;
}

const EVERYWHERE = [...Object.keys(PATHS), ...Object.keys(HISTORY)];
const all = { ...PATHS, ...HISTORY };

test("a memory in force is found on every path, so that one that leaks would be seen", async () => {
  const it = await subject("institutional");
  for (const who of [reader, cast.alice, cast.orgAdmin])
    expect(await findersOf(all, who, it)).toEqual(EVERYWHERE);
  expect(await agentFindersOf(it)).toEqual(Object.keys(OF_AGENTS));
});

/** Where ids lead that somebody has: the owner of a forgotten memory may still take it back. */
const BY_ID = ["merge proposals", "page"];

/** How a memory gets out of reach, for others and for its owner. */
const WITHDRAWN: [string, string, (it: Subject) => Promise<Answer | undefined>, string[]][] = [
  ["forgotten", "institutional", ({ id }) => cast.alice.post(`/memories/${id}/forget`), BY_ID],
  [
    "expired",
    "institutional",
    ({ id }) => cast.alice.patch(`/memories/${id}`, { expires_at: "2020-01-01T00:00:00Z" }),
    BY_ID,
  ],
  ["unreadable", "agent", async () => undefined, EVERYWHERE],
];

describe.each(WITHDRAWN)("one that is %s", (state, scope, withdraw, ownersFinders) => {
  let it: Subject;
  beforeAll(async () => {
    it = await subject(scope);
    const answer = await withdraw(it);
    if (answer) ok(answer);
  });

  test("is found on no path by others", async () => {
    for (const who of [reader, cast.bob, cast.carol, cast.admin, cast.member])
      expect(await findersOf({ ...all, ...ASKED }, who, it)).toEqual([]);
    // Org admins settle all proposals, by ids alone; and what was withdrawn they may take back, where they may read it.
    const settles = state === "unreadable" ? ["merge proposals"] : BY_ID;
    expect(await findersOf({ ...all, ...ASKED }, cast.orgAdmin, it)).toEqual(settles);
    expect(await agentFindersOf(it)).toEqual([]);
  });

  test("is found by its owner only where it may be", async () =>
    expect(await findersOf(all, cast.alice, it)).toEqual(ownersFinders));

  test("is not revealed by neighbours, citations or `expect`", async () => {
    const { id, word } = it;
    const search = async (asked: { query: string; explain?: true }, expected = "") =>
      whole(async () => ok(await reader.post(`/memories/search${expected}`, asked)));
    for (const query of [word, word.replace("zeppelin", "dirigible")])
      expect((await search({ query })).results).toEqual([]);
    const citing = { name: `of ${word}`, citations: [{ memory_id: id }] };
    expect(ok(await reader.post("/handoffs", citing)).citations).toEqual([{ memory_id: id, title: "" }]);
    const fate = async (expected: string) => {
      const { plan } = await search({ query: word, explain: true }, `?expect=${expected}`);
      return { ...plan.expect, id: null };
    };
    if (state === "expired") expect(await fate(id)).toMatchObject({ found: false, stage: "visible" });
    else expect(await fate(id)).toEqual(await fate(ABSENT));
  });

  test("does not exist for others on any operation with its id", async () => {
    const { id, anchor } = it;
    const calls: (() => Promise<Answer>)[] = [
      ...["", "/relationships", "/graph", "/lineage", "/citations"].map(
        (path) => () => reader.get(`/memories/${id}${path}`),
      ),
      ...["/cite", "/forget", "/restore"].map((path) => () => reader.post(`/memories/${id}${path}`)),
      () => reader.patch(`/memories/${id}`, { title: "x" }),
      () => reader.post(`/memories/${id}/promote`, { scope: "institutional" }),
      () => reader.post(`/memories/${id}/supersede`, { superseded_by_id: anchor }),
      () => reader.post(`/memories/${anchor}/supersede`, { superseded_by_id: id }),
      () => reader.post("/memories", memory({ supersedes_id: id })),
      () =>
        reader.post(`/memories/${anchor}/relationships`, {
          target_memory_id: id,
          relationship_type: "supports",
        }),
      () => reader.post("/memories/merge-proposals", { memory_a_id: anchor, memory_b_id: id }),
    ];
    const statuses = [];
    for (const call of calls) statuses.push((await call()).status);
    expect(statuses).toEqual(calls.map(() => 404));
    expect(ok(await cast.alice.get(`/memories/${id}`)).id).toBe(id);
  });
});

test("one that was replaced is found in its history, and elsewhere only where it is asked for", async () => {
  const it = await subject("institutional");
  const winner = await remember(reader, { scope: "institutional", title: "The later one", content: "Later" });
  ok(await cast.alice.post(`/memories/${it.id}/supersede`, { superseded_by_id: winner.id }));
  for (const who of [reader, cast.alice, cast.orgAdmin]) {
    expect(await findersOf(all, who, it)).toEqual(Object.keys(HISTORY));
    expect(await findersOf(ASKED, who, it)).toEqual(Object.keys(ASKED));
  }
  expect(await agentFindersOf(it)).toEqual(["resource"]);
});
