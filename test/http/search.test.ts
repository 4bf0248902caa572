import { afterEach, describe, expect, test } from "@jest/globals";
import { startEmbedder } from "../support/embedder.ts";
import type { Api } from "../support/http.ts";
import { makeCast, remember } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { use, useServer } from "../support/use.ts";
import { whole } from "../support/whole.ts";
import { words } from "../support/words.ts";

const embedder = use(await startEmbedder());
const server = await useServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER_URL: embedder.url } });
const cast = await makeCast(server);
afterEach(() => embedder.behave({ status: 200, dims: 64, holds: false, by: null }));

const search = async (who: Api, query: string, more: object = {}, expect_ = "") =>
  ok(await who.post(`/memories/search${expect_ && `?expect=${expect_}`}`, { query, ...more }));
const idsOf = (answer: { results: { memory: { id: string } }[] }) =>
  answer.results.map(({ memory }) => memory.id);
const gap = async () => ok(await cast.alice.get("/memories/health")).embed_gap_count as number;
const embedded = () => settle(async () => (await gap()) === 0, { what: "every vector" });

describe("a search", () => {
  test("finds by words as soon as a memory is made, and by meaning when it has its vector", async () => {
    embedder.behave({ holds: true });
    const { id } = await remember(cast.alice, { title: "Invoices", content: "ACME pays after thirty days" });
    const first = await search(cast.alice, "when does acme pay");
    expect(first).toMatchObject({
      results: [
        { memory: { id, title: "Invoices" }, superseded: false, sources: { bm25: expect.any(Number) } },
      ],
      no_match: false,
    });
    embedder.behave({ holds: false });
    await embedded();
    const { results, sources_contributed, originating_query_id, degraded_reasons } = await whole(() =>
      search(cast.alice, "when does acme pay"),
    );
    expect(degraded_reasons).toEqual([]);
    expect(results[0].sources.vector).toBeGreaterThan(0.5);
    expect(results[0].score).toBeGreaterThan(first.results[0].score);
    expect(sources_contributed.toSorted()).toEqual(["bm25", "vector"]);
    expect(originating_query_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ["Python", "我用Python写代码"],
    ["2031", "2031年の計画です"],
    ["猫", "私の猫は白い"],
    ["물", "차가운 물을 마신다"],
    ["کتابخانه ها", "کتابخانه\u200cها باز است"],
    ["کتابخانه\u200cها", "کتابخانه ها باز است"],
    ["Mahnlauf", "Der Mahn\u00adlauf beginnt am Ersten"],
    ["pay\u200broll", "Payroll closes early"],
    ["NOT", "A gate called NOT"],
    ["so be it", "He said: so be it, then left"],
    ["F#", "the F# compiler"],
    ["=>", "a => b in code"],
  ])("finds %s in the text that has it", async (query, content) => {
    const { id } = await remember(cast.alice, { content });
    expect(idsOf(await search(cast.alice, query))).toContain(id);
  });

  test.each([
    ["Mongo", "Sessions are kept in MongoDB"],
    ["the RTO", "our recovery time objective is four hours"],
    ["open ADRs", "see the architecture decision records"],
    ["mean response latency", "The MRL is 40 ms"],
    ["configurations", "set the proxy in the config"],
  ])("finds %s in other forms", async (query, content) => {
    const { id } = await remember(cast.alice, { content });
    expect(idsOf(await search(cast.alice, query))).toContain(id);
  });

  test("finds a second fact through a name that it shares with the first", async () => {
    const first = await remember(cast.alice, { content: "The windmill is looked after by Ottokar Quast." });
    const second = await remember(cast.alice, { content: "Ottokar Quast answers at extension 5581." });
    await embedded();
    const { results } = await whole(() =>
      search(cast.alice, "how do I phone whoever looks after the windmill"),
    );
    expect(idsOf({ results }).slice(0, 2)).toEqual([first.id, second.id]);
    expect([results[0].through, results[1].through]).toEqual([undefined, "Ottokar"]);
  });

  test("finds a second fact by its relationship with the first, unless it is contrary, forgotten or filtered", async () => {
    const first = await remember(cast.alice, {
      content: "The lighthouse is painted by the guild.",
      ...{ tags: ["a"], type: "semantic", metadata: { floor: 3 } },
    });
    const relate = async (content: string, relationship_type: string) => {
      const more = { tags: ["b"], type: "procedural", metadata: { floor: 4 } };
      const { id } = await remember(cast.alice, { content, ...more });
      const edge = { target_memory_id: id, relationship_type, strength: 0.8 };
      ok(await cast.alice.post(`/memories/${first.id}/relationships`, edge));
      return id as string;
    };
    const second = await relate("Ring 4417 before six.", "references");
    const contrary = await relate("Nobody has brushes.", "contradicts");
    const forgotten = await relate("Ring 9921 before noon.", "references");
    ok(await cast.alice.post(`/memories/${forgotten}/forget`));
    await embedded();
    const asked = "how do I telephone whoever paints the lighthouse";
    const { results } = await whole(() => search(cast.alice, asked, { limit: 5 }));
    expect(idsOf({ results })[0]).toBe(first.id);
    const found = results.find(({ memory }: { memory: { id: string } }) => memory.id === second);
    expect(found).toMatchObject({ through: "references", sources: {}, superseded: false });
    expect(found.score).toBeLessThan(results[0].score);
    for (const other of [contrary, forgotten]) expect(idsOf({ results })).not.toContain(other);
    const { plan } = await search(cast.alice, asked, { limit: 5, explain: true }, second);
    expect(plan.expect).toMatchObject({ id: second, found: true, stage: "relationships" });
    expect(plan.funnel.at(-1)).toEqual({ stage: "relationships", in: 1, out: 2 });
    const planned = plan.results.find(({ memory_id }: { memory_id: string }) => memory_id === second);
    const final = expect.closeTo(found.score, 4);
    expect(planned).toMatchObject({ final, through: "references", vector: null });
    const today = new Date(Date.now() - 60_000).toISOString();
    const both = { tags: ["a", "b"], metadata: { floor: { gte: 3 } }, created_from: today };
    const filtered = await whole(() => search(cast.alice, asked, { limit: 5, ...both }));
    expect(idsOf(filtered)).toEqual([first.id, second]);
    for (const own of [{ tags: ["a"] }, { memory_types: ["semantic"] }, { metadata: { floor: 3 } }]) {
      const one = await whole(() => search(cast.alice, asked, { limit: 5, ...own }));
      expect(idsOf(one)).toEqual([first.id]);
    }
    // Nothing leads on from a fact that answers the question alone.
    const alone = await whole(() => search(cast.alice, "who paints the lighthouse", { limit: 5 }));
    expect(idsOf(alone)).not.toContain(second);
  });

  test("no relationship leads to a memory that the caller may not read", async () => {
    const told = { content: "The ferry is steered by the Nordwind crew.", scope: "team" };
    const first = await remember(cast.bob, told);
    const secret = await remember(cast.bob, { content: "Ring 7712 at night." });
    const edge = { target_memory_id: secret.id, relationship_type: "references" };
    ok(await cast.bob.post(`/memories/${first.id}/relationships`, edge));
    await embedded();
    const asked = "how do I telephone whoever steers the ferry";
    expect(idsOf(await whole(() => search(cast.bob, asked)))).toContain(secret.id);
    const seen = idsOf(await whole(() => search(cast.alice, asked)));
    expect(seen).toContain(first.id);
    expect(seen).not.toContain(secret.id);
  });

  test("puts the newer of two statements about the same first", async () => {
    const say = (content: string) => remember(cast.alice, { title: "Canteen hours", content });
    const [old, newer] = [
      await say("The canteen opens at eleven."),
      await say("The canteen opens at noon now."),
    ];
    // A vector of one alone would decide.
    await embedded();
    const found = await whole(() => search(cast.alice, "when does the canteen open"));
    expect(idsOf(found).slice(0, 2)).toEqual([newer.id, old.id]);
    expect(found.results[0].score).toBeGreaterThanOrEqual(found.results[1].score);
  });

  test("says that nothing fits", async () => {
    const answer = await search(cast.alice, "quantum chromodynamics on a lattice");
    expect(answer).toMatchObject({ results: [], no_match: true, sources_contributed: [] });
  });

  test("ranks near-ties agent, team, institution", async () => {
    const scopes = ["institutional", "team", "agent"];
    for (const scope of scopes) await remember(cast.alice, { content: "the sextant lies on deck", scope });
    await embedded();
    const found = async (more = {}) =>
      (await search(cast.alice, "sextant deck", more)).results.map(
        ({ memory }: { memory: { scope: string } }) => memory.scope,
      );
    expect(await found()).toEqual(scopes.toReversed());
    expect(await found({ scope: "team" })).toEqual(["team"]);
  });

  test("narrows by type, tags and project", async () => {
    await cast.orgAdmin.post("/projects", { key: "apollo", name: "Apollo" });
    const content = "gyroscope drift";
    const plain = await remember(cast.alice, { content });
    const other = await remember(cast.alice, { content, type: "episodic", tags: ["Flight Plan"] });
    const filed = await remember(cast.alice, { content, project_id: "apollo" });
    const by = async (more: object) => new Set(idsOf(await search(cast.alice, "gyroscope drift", more)));
    expect(await by({ memory_types: ["episodic", "entity"] })).toEqual(new Set([other.id]));
    expect(await by({ tags: ["flight_plan", "x"] })).toEqual(new Set([other.id]));
    expect(await by({ project_id: "apollo" })).toEqual(new Set([filed.id]));
    expect(await by({ project_id: "" })).toEqual(new Set([plain.id, other.id]));
  });

  test("gives superseded ones when asked to, forgotten and expired ones never", async () => {
    const content = "the theodolite needs oil";
    const old = await remember(cast.alice, { content });
    const next = await remember(cast.alice, { content: `${content} monthly`, supersedes_id: old.id });
    const gone = await remember(cast.alice, { content });
    await remember(cast.alice, { content, expires_at: new Date(Date.now() - 1000).toISOString() });
    await cast.alice.post(`/memories/${gone.id}/forget`);
    await embedded();
    expect(idsOf(await search(cast.alice, "theodolite oil"))).toEqual([next.id]);
    const all = await search(cast.alice, "theodolite oil", { include_superseded: true });
    expect(all.results.map((each: { superseded: boolean }) => each.superseded)).toEqual([false, true]);
    await cast.alice.post(`/memories/${gone.id}/restore`);
    expect(new Set(idsOf(await search(cast.alice, "theodolite oil")))).toEqual(new Set([next.id, gone.id]));
  });

  test("explains, and gives the outcome for an expected memory", async () => {
    const content = "barometer falls before rain";
    const a = await remember(cast.alice, { content, title: "Barometer" });
    const b = await remember(cast.alice, { content, title: "Weather" });
    const far = await remember(cast.alice, { content: "unlike anything" });
    await embedded();
    const explained = (more: object = {}, id = "") =>
      whole(() => search(cast.alice, "barometer rain", { limit: 1, explain: true, ...more }, id));
    const fate = async (id: string, more: object = {}) => (await explained(more, id)).plan.expect;
    const { plan, results } = await explained();
    expect(plan.legs.map(({ name }: { name: string }) => name)).toEqual(["bm25", "vector"]);
    expect(plan.funnel.at(-1)).toEqual({ stage: "limit", in: 2, out: 1 });
    expect(Object.keys(plan.results[0]).toSorted()).toEqual(words`
      bm25 confidence final fused memory_id recency title vector`);
    // Also of those that are not returned.
    const titleOf = ({ id }: { id: string }) =>
      plan.results.find(({ memory_id }: { memory_id: string }) => memory_id === id).title;
    expect([a, b].map(titleOf)).toEqual(["Barometer", "Weather"]);
    const [winner, second] = results[0].memory.id === a.id ? [a, b] : [b, a];
    expect(await fate(winner.id)).toMatchObject({ found: true, stage: "result" });
    expect(await fate(second.id)).toMatchObject({ found: false, stage: "limit" });
    expect(await fate(far.id)).toMatchObject({ found: false });
    expect(await fate(second.id, { memory_types: ["entity"] })).toMatchObject({ stage: "filter" });
    const others = await remember(cast.carol, { content });
    expect(await fate(others.id)).toEqual({ ...(await fate(crypto.randomUUID())), id: others.id });
  });

  test.each([
    [{}, "validation_failed"],
    [{ query: " " }, "validation_failed"],
    [{ query: "x", limit: 51 }, "validation_failed"],
    [{ query: "x", min_score: 1.5 }, "validation_failed"],
    [{ query: "x", memory_types: ["dream"] }, "validation_error"],
    [{ query: "x", project_id: "unheard-of" }, "validation_error"],
  ])("of %j is %s", async (body, code) => {
    const { status, body: answer } = await cast.alice.post("/memories/search", body);
    expect([status, answer.error.code]).toEqual([400, code]);
  });
});

test("an embedder that is late is not waited for", async () => {
  const { id } = await remember(cast.alice, { content: "the astrolabe came from Fez" });
  embedder.behave({ holds: true });
  const answer = await search(cast.alice, "astrolabe from fez");
  expect(answer).toMatchObject({ results: [{ memory: { id } }], degraded: true });
  expect(answer.degraded_reasons[0]).toContain("did not answer");
});

test("an embedder that is out of order leaves a gap that is counted, and filled when it works again", async () => {
  await embedded();
  embedder.behave({ status: 500 });
  const { id } = await remember(cast.alice, { content: "the quadrant is made of brass" });
  const answer = await settle(async () => {
    const found = await search(cast.alice, "brass quadrant");
    return found.degraded_reasons.includes("vector: the embedder failed") && found;
  });
  expect(answer).toMatchObject({ results: [{ memory: { id } }], degraded: true });
  expect(await gap()).toBe(1);
  embedder.behave({ status: 200 });
  await embedded();
  const again = await whole(() => search(cast.alice, "brass quadrant made"));
  expect(again.results[0].sources.vector).toBeGreaterThan(0);
});

test("an embedder that makes nothing of a text leaves it to be found by its words, and is not missed", async () => {
  await embedded();
  embedder.behave({ by: async (texts) => texts.map(() => new Array(64).fill(0)) });
  const { id } = await remember(cast.alice, { content: "会議は金曜日です" });
  await embedded();
  const found = await whole(() => search(cast.alice, "会議"));
  expect(found).toMatchObject({ results: [{ memory: { id } }], sources_contributed: ["bm25"] });
  expect(await search(cast.alice, "🔴")).toMatchObject({ no_match: true, degraded: false });
});

test("an embedder that gives vectors of another length is not used", async () => {
  const { id } = await remember(cast.alice, { content: "the sundial is slow" });
  await embedded();
  embedder.behave({ dims: 32 });
  const answer = await settle(async () => {
    const found = await search(cast.alice, "is the sundial slow?");
    return (
      found.degraded_reasons.includes("vector: the embedder returned a vector of another length") && found
    );
  });
  expect(answer).toMatchObject({ results: [{ memory: { id } }], degraded: true });
});

test("of many memories that say the same each is proposed, but none more than three times", async () => {
  const same = {
    ...{ content: "the sextant needs a new mirror", title: "Sextant", type: "semantic", scope: "agent" },
  };
  const memories = Array.from({ length: 40 }, () => same);
  const { results } = ok(await cast.carol.post("/memories/batch", { memories }));
  const ids = new Set<string>(results.map(({ memory }: { memory: { id: string } }) => memory.id));
  const open = async () => {
    const { merge_proposals } = ok(
      await cast.orgAdmin.get("/memories/merge-proposals?status=open&limit=200"),
    );
    return merge_proposals
      .map((each: Record<string, string>) => [each.memory_a_id, each.memory_b_id])
      .filter(([a]: string[]) => ids.has(a as string)) as [string, string][];
  };
  await settle(async () => new Set((await open()).flat()).size === ids.size, { what: "proposals for each" });
  // One more is compared with all of them.
  const last = await remember(cast.carol, same);
  ids.add(last.id);
  await settle(async () => (await open()).flat().includes(last.id), { what: "a proposal for the last" });
  const pairs = await open();
  expect(pairs).toHaveLength(ids.size - 1);
  const counts = [...ids].map((id) => pairs.filter((pair) => pair.includes(id)).length);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...counts)).toBeLessThanOrEqual(3);
});
