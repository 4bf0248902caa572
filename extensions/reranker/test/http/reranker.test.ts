/** @alone: calls of one process. */
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { firstAgent, type TestAgent } from "../../../../test/support/agents.ts";
import { remember } from "../../../../test/support/memories.ts";
import { startServer } from "../../../../test/support/server.ts";
import { serving } from "../../../../test/support/serving.ts";
import { ok } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

interface Request {
  path: string;
  authorization: string | undefined;
  body: { query: string; model?: string; documents?: string[]; texts?: string[] };
}

/** The service's answer: a status and a body, or nothing at all. */
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
const service = await serving(async (req, res) => {
  const body = JSON.parse(Buffer.concat(await req.toArray()).toString());
  const request = { path: req.url as string, authorization: req.headers.authorization, body };
  requests.push(request);
  const answered = answer(request);
  if (!answered) return;
  res.writeHead(answered.status, { "content-type": "application/json", location: "/elsewhere" });
  res.end(JSON.stringify(answered.body ?? {}));
});

const ENV = {
  ...{ RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", RERANKER_URL: service.url, RERANKER_MODEL: "small" },
  ...{ RERANKER_API_KEY: "the-key", RERANKER_TIMEOUT_MS: "10000" },
};

async function rememberBoth(by: TestAgent) {
  await remember(by, { title: "Lanterns", content: "Green lanterns, green lanterns: lit on feast days." });
  await remember(by, {
    title: "Ships",
    content: "Ships enter the harbour when the lantern at its end is green.",
  });
}

const server = await useServer({ env: ENV });
const agent = await firstAgent(server);
await rememberBoth(agent);
beforeEach(() => {
  answer = asJina;
  requests.length = 0;
});
afterAll(() => service.close());

interface Found {
  results: { memory: { title: string }; score: number }[];
  degraded: boolean;
  no_match: boolean;
  degraded_reasons: string[];
}

const search = async (asked: object = {}, by = agent): Promise<Found> =>
  ok(await by.post("/memories/search", { query: "green lanterns", ...asked }));
const titlesIn = ({ results }: Found) => results.map(({ memory }) => memory.title);

test("the service gets the query, the texts with their titles, the model and the key, and its ratings order the best", async () => {
  expect(titlesIn(await search())).toEqual(["Ships", "Lanterns"]);
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

test("min_score applies to the new scores, and the plan shows the leg, and the relevance of each result", async () => {
  const { results } = await search();
  const [first, second] = results.map(({ score }) => score) as [number, number];
  expect(titlesIn(await search({ min_score: (first + second) / 2 }))).toEqual(["Ships"]);
  const { plan } = ok(await agent.post("/memories/search", { query: "green lanterns", explain: true }));
  expect(plan.legs).toContainEqual({ name: "rerank", candidates: 2, ms: expect.any(Number) });
  expect(plan.results.map(({ relevance }: { relevance: number }) => relevance)).toEqual([0.9, 0.1]);
});

test.each([
  ["an error", () => ({ status: 503 })],
  ["a redirect, which is not followed", () => ({ status: 307 })],
  ["too few ratings", () => ({ status: 200, body: { results: [{ index: 0, relevance_score: 1 }] } })],
  ["ratings of other texts", () => ({ status: 200, body: { results: [{ index: 1e9, score: 1 }] } })],
] as [string, Answer][])("after %s the answer has its own order, and says so", async (_what, how) => {
  answer = how;
  const found = await search();
  expect(titlesIn(found)).toEqual(["Lanterns", "Ships"]);
  expect(found).toMatchObject({ degraded: true, degraded_reasons: ["rerank: the reranker failed"] });
  expect(requests.map(({ path }) => path)).toEqual(["/rerank"]);
  answer = asJina;
  await search();
});

const other = await startServer({ env: { ...ENV, RERANKER_TIMEOUT_MS: "1000" } });
const by = await firstAgent(other);
await rememberBoth(by);
requests.length = 0;

describe("a service in another form, on a server that waits for a second", () => {
  beforeEach(() => {
    answer = asTei;
  });
  afterAll(() => other.stop());

  test("that reads texts instead of documents is asked in its form", async () => {
    expect(titlesIn(await search({}, by))).toEqual(["Ships", "Lanterns"]);
    await search({}, by);
    expect(requests.map(({ body }) => (body.texts ? "texts" : "documents"))).toEqual([
      ...["documents", "texts", "texts"],
    ]);
  });

  test("is not waited for longer than RERANKER_TIMEOUT_MS", async () => {
    answer = () => null;
    const found = await search({}, by);
    expect(found.degraded_reasons).toEqual(["rerank: the reranker did not answer within 1000 ms"]);
    expect(titlesIn(found)).toEqual(["Lanterns", "Ships"]);
  });

  test("is not asked for a while after three failures in a row", async () => {
    await search({}, by);
    requests.length = 0;
    answer = () => ({ status: 500 });
    for (let i = 0; i < 4; i++) await search({}, by);
    expect(requests).toHaveLength(3);
    const { degraded_reasons } = await search({}, by);
    expect(degraded_reasons).toEqual(["rerank: the reranker failed several times in a row"]);
  });
});
