import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, expect, test } from "@jest/globals";
import { firstAgent, type TestAgent } from "../support/agents.ts";
import { remember } from "../support/memories.ts";
import { startServer } from "../support/server.ts";
import { ok } from "../support/tenancy.ts";

interface Request {
  path: string;
  authorization: string | undefined;
  body: { query: string; model?: string; documents?: string[]; texts?: string[] };
}

/** What the service answers: a status and a body, or nothing at all. */
type Answer = (request: Request) => { status: number; body?: unknown } | null;

/** Prefers texts that name the harbour. */
const relevanceOf = (text: string) => (text.includes("harbour") ? 0.9 : 0.1);
const asJina: Answer = ({ body: { documents = [] } }) => ({
  status: 200,
  body: {
    results: documents
      .map((text, index) => ({ index, relevance_score: relevanceOf(text) }))
      .sort((a, b) => b.relevance_score - a.relevance_score),
  },
});
/** As text-embeddings-inference: it wants `texts`, and returns a list. */
const asTei: Answer = ({ body: { texts } }) =>
  texts
    ? { status: 200, body: texts.map((text, index) => ({ index, score: relevanceOf(text) })) }
    : { status: 422, body: { error: "missing field `texts`" } };

let answer: Answer = asJina;
const requests: Request[] = [];
const service = createServer(async (req, res) => {
  const request = {
    path: req.url as string,
    authorization: req.headers.authorization,
    body: await bodyOf(req),
  };
  requests.push(request);
  const answered = answer(request);
  if (!answered) return;
  res.writeHead(answered.status, { "content-type": "application/json", location: "/elsewhere" });
  res.end(JSON.stringify(answered.body ?? {}));
});

async function bodyOf(req: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

const start = (env: Record<string, string> = {}) =>
  startServer({
    env: {
      ...{ RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", RERANKER_URL: url, RERANKER_MODEL: "small" },
      ...{ RERANKER_API_KEY: "the-key", RERANKER_TIMEOUT_MS: "10000", ...env },
    },
  });

async function rememberBoth(by: TestAgent) {
  await remember(by, { title: "Lanterns", content: "Green lanterns, green lanterns: lit on feast days." });
  await remember(by, {
    title: "Ships",
    content: "Ships enter the harbour when the lantern at its end is green.",
  });
}

/** A server with settings or failures of its own, and an agent with the two memories. */
async function another(env?: Record<string, string>) {
  const other = await start(env);
  const by = await firstAgent(other);
  await rememberBoth(by);
  return { other, by };
}

await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
const server = await start();
const agent = await firstAgent(server);
await rememberBoth(agent);
beforeEach(() => {
  answer = asJina;
  requests.length = 0;
});
afterAll(async () => {
  await server.stop();
  service.closeAllConnections();
  service.close();
});

interface Found {
  results: { memory: { title: string }; score: number }[];
  degraded: boolean;
  no_match: boolean;
  degraded_reasons: string[];
}

const search = async (asked: object = {}, by = agent): Promise<Found> =>
  ok(await by.post("/memories/search", { query: "green lanterns", ...asked }));
const titlesIn = ({ results }: Found) => results.map(({ memory }) => memory.title);

test("the best results are in the order of the reranker's ratings", async () => {
  expect(titlesIn(await search())).toEqual(["Ships", "Lanterns"]);
});

test("the service gets the query, the texts with their titles, the model and the key", async () => {
  await search();
  expect(requests).toEqual([
    {
      path: "/rerank",
      authorization: "Bearer the-key",
      body: {
        ...{ query: "green lanterns", model: "small", top_n: 2 },
        documents: expect.arrayContaining([
          "Lanterns\nGreen lanterns, green lanterns: lit on feast days.",
          "Ships\nShips enter the harbour when the lantern at its end is green.",
        ]),
      },
    },
  ]);
});

test("what matches is found however low it is rated", async () => {
  answer = ({ body: { documents = [] } }) => {
    const results = documents.map((text, index) => ({ index, relevance_score: relevanceOf(text) / 1000 }));
    return { status: 200, body: { results } };
  };
  const found = await search();
  expect(found).toMatchObject({ degraded: false, no_match: false });
  expect(titlesIn(found)).toHaveLength(2);
});

test("min_score applies to the new scores", async () => {
  const { results } = await search();
  const [first, second] = results.map(({ score }) => score) as [number, number];
  expect(titlesIn(await search({ min_score: (first + second) / 2 }))).toEqual(["Ships"]);
});

test("the plan shows the leg, and the relevance of each result", async () => {
  const { plan } = ok(await agent.post("/memories/search", { query: "green lanterns", explain: true }));
  expect(plan.legs).toContainEqual({ name: "rerank", candidates: 2, ms: expect.any(Number) });
  expect(plan.results.map(({ relevance }: { relevance: number }) => relevance)).toEqual([0.9, 0.1]);
});

test.each([
  ["an error", () => ({ status: 503 })],
  ["a redirect, which is not followed", () => ({ status: 307 })],
  ["too few ratings", () => ({ status: 200, body: { results: [{ index: 0, relevance_score: 1 }] } })],
  [
    "ratings of texts that it was not given",
    () => ({ status: 200, body: { results: [{ index: 1e9, score: 1 }] } }),
  ],
] as [string, Answer][])("after %s the answer has its own order, and says so", async (_what, how) => {
  answer = how;
  const found = await search();
  expect(titlesIn(found)).toEqual(["Lanterns", "Ships"]);
  expect(found).toMatchObject({ degraded: true, degraded_reasons: ["rerank: the reranker failed"] });
  expect(requests.map(({ path }) => path)).toEqual(["/rerank"]);
  answer = asJina;
  await search();
});

test("a search does not wait longer than RERANKER_TIMEOUT_MS", async () => {
  const { other, by } = await another({ RERANKER_TIMEOUT_MS: "300" });
  try {
    answer = () => null;
    const found = await search({}, by);
    expect(found.degraded_reasons).toEqual(["rerank: the reranker did not answer within 300 ms"]);
    expect(titlesIn(found)).toEqual(["Lanterns", "Ships"]);
  } finally {
    await other.stop();
  }
});

test("after three failures in a row searches do not ask it for a while", async () => {
  const { other, by } = await another();
  try {
    answer = () => ({ status: 500 });
    for (let i = 0; i < 4; i++) await search({}, by);
    expect(requests).toHaveLength(3);
    const { degraded_reasons } = await search({}, by);
    expect(degraded_reasons).toEqual(["rerank: the reranker failed several times in a row"]);
  } finally {
    await other.stop();
  }
});

test("a service that reads texts instead of documents is asked in its form", async () => {
  const { other, by } = await another();
  try {
    answer = asTei;
    expect(titlesIn(await search({}, by))).toEqual(["Ships", "Lanterns"]);
    await search({}, by);
    expect(requests.map(({ body }) => (body.texts ? "texts" : "documents"))).toEqual([
      "documents",
      "texts",
      "texts",
    ]);
  } finally {
    await other.stop();
  }
});
