import { describe, expect, test } from "@jest/globals";
import type { TestAgent } from "../support/agents.ts";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const ids: Record<string, string> = {};

const hour = (n: number) => `2026-03-01T${String(n).padStart(2, "0")}:00:00.000Z`;

const server = await useShared();
const cast = await makeCast(server);
/** Owns most of the memories; all have the word "quokka". */
const agent = await agentIn(server, cast.admin, { team_id: cast.teamA });
const put = async (name: string, by: TestAgent, more: object) => {
  const made = await remember(by, { title: name, content: `A quokka, ${name}`, ...more });
  ids[name] = made.id as string;
};
const paid = { customer: "acme", amount: 120, due: "2026-03-02", labels: ["a", "b"], open: false };
await put("paid", agent, { metadata: { ...paid, subject: "ada" }, freshness_date: hour(1) });
await put("open", agent, {
  metadata: { customer: "acme", amount: 500, open: true },
  freshness_date: hour(2),
});
await put("nested", agent, {
  metadata: { of: { customer: "acme" }, text: '{"customer":"acme"}', amount: "120" },
  source_type: "ticket",
});
await put("plain", agent, { metadata: { subject: ["ada", 7] } });
await put("bobs", cast.bob, { metadata: paid });
await put("teams", cast.bob, { scope: "team", metadata: paid });
await put("others", cast.carol, { scope: "team", metadata: paid });
await put("institution", cast.carol, { scope: "institutional", metadata: { customer: "other" } });

type Filters = Record<string, unknown> & { metadata?: object };

/** Returns the titles that the list gives, and those that the search gives, which must be the same. */
async function found(filters: Filters, by: TestAgent = agent): Promise<string[]> {
  const { metadata, ...others } = filters;
  const query = new URLSearchParams(others as Record<string, string>);
  if (metadata) query.set("metadata", JSON.stringify(metadata));
  const listed = ok(await by.get(`/memories?${query}`));
  const searched = ok(await by.post("/memories/search", { query: "quokka", limit: 50, ...filters }));
  const titles = listed.memories.map(({ title }: { title: string }) => title).sort();
  expect(listed.total).toBe(titles.length);
  expect(searched.results.map(({ memory }: { memory: { title: string } }) => memory.title).sort()).toEqual(
    titles,
  );
  return titles;
}

test.each<[string, Filters, string[]]>([
  ["a text", { metadata: { customer: "acme" } }, ["open", "paid", "teams"]],
  ["one of several", { metadata: { customer: { in: ["other", "none"] } } }, ["institution"]],
  ["a number within", { metadata: { amount: { gt: 100, lte: 120 } } }, ["paid", "teams"]],
  ["a boolean", { metadata: { open: true } }, ["open"]],
  ["a date", { metadata: { due: { lt: "2026-03-03T00:00:00Z" } } }, ["paid", "teams"]],
  ["a value of a list", { metadata: { labels: "b" } }, ["paid", "teams"]],
  ["several keys", { metadata: { customer: "acme", amount: { gte: 121 } } }, ["open"]],
  ["what nobody has", { metadata: { customer: "nobody" } }, []],
  ["patterns as they are", { metadata: { customer: ".*" } }, []],
  ["a subject", { subject: "ada" }, ["paid", "plain"]],
  ["a kind of source", { source_type: "ticket" }, ["nested"]],
  ["a subject that is a number", { subject: "7" }, ["plain"]],
  ["freshness", { freshness_from: hour(1), freshness_until: hour(2) }, ["paid"]],
  ["freshness from", { freshness_from: hour(2) }, ["open"]],
  ["all at once", { metadata: { customer: "acme" }, subject: "ada", type: undefined as never }, ["paid"]],
])("by %s", async (_name, { type: _, ...filters }, expected) =>
  expect(await found(filters)).toEqual(expected),
);

test("by when memories were created and updated, also together with metadata", async () => {
  const { created_at } = ok(await agent.get(`/memories/${ids.nested}`));
  const until = ["open", "paid"];
  expect(await found({ created_until: created_at, agent_id: agent.id })).toEqual(until);
  expect(await found({ created_until: created_at, metadata: { customer: "acme" } })).toEqual(until);
  const changed = await agent.patch(`/memories/${ids.paid}`, { confidence: 0.9 });
  const { updated_at } = ok(changed);
  expect(await found({ updated_from: updated_at })).toEqual(["paid"]);
  expect(await found({ updated_until: updated_at, agent_id: agent.id })).toEqual(["nested", "open", "plain"]);
});

test("a filter never shows what the caller may not read", async () => {
  expect(await found({ agent_id: cast.bob.id })).toEqual(["teams"]);
  expect(await found({ agent_id: cast.bob.id, metadata: { customer: "acme" } })).toEqual(["teams"]);
  expect(await found({ agent_id: cast.carol.id })).toEqual(["institution"]);
  expect(await found({ agent_id: cast.bob.id }, cast.bob)).toEqual(["bobs", "teams"]);
  const asked = { query: "quokka", explain: true, metadata: { customer: "acme" } };
  const { plan } = ok(await agent.post(`/memories/search?expect=${ids.bobs}`, asked));
  expect(plan.expect).toMatchObject({ found: false, stage: "visible" });
  expect(plan.funnel[0].in).toBe(3);
});

test("a memory's change counts at once", async () => {
  const { id } = await remember(agent, { content: "A quokka", title: "moving", metadata: { step: 1 } });
  ok(await agent.patch(`/memories/${id}`, { metadata: { step: 2 } }));
  expect(await found({ metadata: { step: 1 } })).toEqual([]);
  expect(await found({ metadata: { step: 2 } })).toEqual(["moving"]);
  ok(await agent.post(`/memories/${id}/forget`));
  expect(await found({ metadata: { step: 2 } })).toEqual([]);
});

test("pages of a list by metadata", async () => {
  const query = `metadata=${encodeURIComponent('{"customer":"acme"}')}&limit=2`;
  const first = ok(await agent.get(`/memories?${query}`));
  const second = ok(await agent.get(`/memories?${query}&cursor=${first.next_cursor}`));
  const titles = [...first.memories, ...second.memories].map(({ title }) => title);
  expect([titles, first.total, second.next_cursor]).toEqual([["teams", "open", "paid"], 3, null]);
});

const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k${n}`, 1]));
const KEY = "a key of 1 to 64 characters without dots, dollar signs and control characters";
test.each<[string, object, RegExp]>([
  ["an operator", { $where: "1" }, new RegExp(KEY)],
  ["a path", { "of.customer": "acme" }, new RegExp(KEY)],
  ["an empty key", { "": 1 }, new RegExp(KEY)],
  ["a long key", { ["k".repeat(65)]: 1 }, new RegExp(KEY)],
  ["an operator as value", { customer: { $ne: "acme" } }, /customer/],
  ["an unknown operator", { amount: { gtee: 1 } }, /gtee/],
  ["no condition", { amount: {} }, /amount/],
  ["bounds of two kinds", { amount: { gte: 1, lt: "2026-01-01" } }, /bounds of one kind/],
  ["a bound that is no date", { amount: { gte: "soon" } }, /date/],
  ["null", { amount: null }, /amount/],
  ["a long text", { customer: "x".repeat(201) }, /200 characters/],
  ["too many values", { amount: { in: Array.from({ length: 51 }, (_, n) => n) } }, /50 items/],
  ["too many keys", many, /metadata/],
])("refuses %s", async (_name, metadata, message) => {
  const searched = await agent.post("/memories/search", { query: "quokka", metadata });
  const listed = await agent.get(`/memories?metadata=${encodeURIComponent(JSON.stringify(metadata))}`);
  for (const answer of [searched, listed]) {
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toMatch(message);
  }
});

test.each(["metadata=customer", "metadata=[]", "created_from=yesterday", "agent_id=someone"])(
  "refuses %s",
  async (query) => expect((await agent.get(`/memories?${query}`)).status).toBe(400),
);

const keeper = await agentIn(server, cast.admin, { name: "keeper" }, ["memory:read", "memory:write"]);

type Valid = { from: string; until: string | null };
type Found = { memory: { id: string; content: string }; valid: Valid };
const FACT = { type: "semantic", scope: "institutional" };
let facts = 0;
/** Three offices, each until the next: from January, March and June. */
async function offices() {
  const project_id = `moves-${++facts}`;
  ok(await cast.orgAdmin.post("/projects", { key: project_id }));
  const say = async (city: string, valid_from: string, more: object = {}) =>
    ok(
      await keeper.post("/memories", {
        ...{ ...FACT, project_id, title: "Our office", content: `The office is in ${city}.`, valid_from },
        ...more,
      }),
    );
  const first = await say("Oslo", "2026-01-01");
  const second = await say("Bergen", "2026-03-01", { supersedes_id: first.id, reason: "we moved" });
  const third = await say("Tromsø", "2026-06-01", { supersedes_id: second.id });
  const listed = async (query: string) =>
    ok(await keeper.get(`/memories?project_id=${project_id}&${query}`)).memories.map(
      ({ content }: { content: string }) => content.slice(17, -1),
    );
  const found = async (times: object): Promise<Found[]> =>
    ok(await keeper.post("/memories/search", { query: "where is the office", project_id, ...times })).results;
  const cities = async (times: object) =>
    (await found(times)).map(({ memory }) => memory.content.slice(17, -1));
  return { project_id, first, second, third, listed, found, cities };
}

test("a memory holds from its time until its successor's, unless somebody says otherwise", async () => {
  const { first, second, third } = await offices();
  const read = async (id: string) => {
    const { valid_from, valid_until } = ok(await keeper.get(`/memories/${id}`));
    return [valid_from, valid_until];
  };
  expect(await read(first.id)).toEqual(["2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"]);
  expect(await read(second.id)).toEqual(["2026-03-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"]);
  expect(await read(third.id)).toEqual(["2026-06-01T00:00:00.000Z", null]);
  const plain = ok(await keeper.post("/memories", { ...FACT, title: "t", content: "c" }));
  expect([plain.valid_from, plain.valid_until]).toEqual([plain.created_at, null]);
  const fresh = { ...FACT, title: "t", content: "c", freshness_date: "2026-02-02T10:00:00Z" };
  expect(ok(await keeper.post("/memories", fresh)).valid_from).toBe("2026-02-02T10:00:00.000Z");
  const zoned = { ...FACT, title: "t", content: "c", valid_from: "2026-03-15+02:00" };
  expect(ok(await keeper.post("/memories", zoned)).valid_from).toBe("2026-03-14T22:00:00.000Z");
});

test.each([
  [{ valid_from: "2026-03-01", valid_until: "2026-03-01" }, "valid_until"],
  [{ valid_until: "2020-01-01" }, "valid_until"],
  [{ valid_from: "2026-02-30" }, "valid_from"],
  [{ valid_from: "March" }, "valid_from"],
  [{ valid_from: "2026-03-01+25:00" }, "valid_from"],
])("%j is refused", async (times, field) => {
  const refused = await keeper.post("/memories", { ...FACT, title: "t", content: "c", ...times });
  expect(refused).toMatchObject(refusal(400, "validation_failed", { field }));
});

describe("as_of", () => {
  test.each([
    ["2025-12-31", []],
    ["2026-01-01", ["Oslo"]],
    ["2026-02-28T23:59:59Z", ["Oslo"]],
    ["2026-03-01", ["Bergen"]],
    ["2026-05-31T23:00:00-05:00", ["Tromsø"]],
    ["2026-07-01", ["Tromsø"]],
  ])("%s", async (as_of, expected) => {
    const { listed, cities } = await offices();
    expect(await listed(`as_of=${encodeURIComponent(as_of)}`)).toEqual(expected);
    expect(await cities({ as_of })).toEqual(expected);
  });

  test("without it the present holds, and results say when", async () => {
    const { listed, found } = await offices();
    expect(await listed("")).toEqual(["Tromsø"]);
    const [result, ...others] = await found({});
    expect(others).toEqual([]);
    expect(result?.valid).toEqual({ from: "2026-06-01T00:00:00.000Z", until: null });
    const [then] = await found({ as_of: "2026-04-01" });
    expect(then?.valid).toEqual({ from: "2026-03-01T00:00:00.000Z", until: "2026-06-01T00:00:00.000Z" });
  });

  test("with known_at: what was believed then", async () => {
    const { project_id, first, second, listed, cities } = await offices();
    // Before the second was recorded nobody knew that the first would end.
    const known_at = first.created_at;
    for (const as_of of ["2026-02-01", "2026-04-01", "2026-12-01"]) {
      expect(await cities({ as_of, known_at })).toEqual(["Oslo"]);
      expect(await listed(`as_of=${as_of}&known_at=${known_at}`)).toEqual(["Oslo"]);
    }
    expect(await cities({ as_of: "2026-12-01", known_at: second.created_at })).toEqual(["Bergen"]);
    expect(await cities({ known_at: "2026-01-01" })).toEqual([]);
    const bundle = { query: "where is the office", project_id, caps: { outputs: 0, handoffs: 0 } };
    const { items, rendered_brief } = ok(
      await keeper.post("/bundles", { ...bundle, as_of: "2026-02-01", include_possible: true }),
    );
    expect(items.map(({ item_id }: { item_id: string }) => item_id)).toEqual([first.id]);
    expect(rendered_brief).toContain("held 2026-01-01 to 2026-03-01");
  });

  test("with known_at: not what was corrected later, nor what that ended", async () => {
    const { second, third, listed, cities } = await offices();
    const known_at = third.created_at;
    ok(await keeper.patch(`/memories/${third.id}`, { valid_from: "2026-05-01" }));
    ok(await keeper.patch(`/memories/${third.id}`, { valid_until: "2026-09-01" }));
    const cases = [
      ["2026-05-15", ["Bergen"], ["Tromsø"]],
      ["2026-06-15", ["Tromsø"], ["Tromsø"]],
      ["2026-10-01", ["Tromsø"], []],
    ] as const;
    for (const [as_of, then, now] of cases) {
      expect(await cities({ as_of, known_at })).toEqual(then);
      expect(await listed(`as_of=${as_of}&known_at=${known_at}`)).toEqual(then);
      expect(await cities({ as_of })).toEqual(now);
    }
    const [, { corrections }] = ok(await keeper.get(`/memories/${second.id}/history`)).versions;
    expect(corrections).toMatchObject([{ valid: { until: "2026-06-01T00:00:00.000Z" } }]);
  });

  test.each(["yesterday", "2026-13-01", ""])("%j is refused", async (as_of) =>
    expect(await keeper.post("/memories/search", { query: "office", as_of })).toMatchObject(
      refusal(400, "validation_failed", { field: "as_of" }),
    ),
  );
});

test("a correction is history, moves what came before, and can be written back", async () => {
  const { first, third, cities } = await offices();
  const change = { valid_from: "2026-05-01", reason: "the contract says so" };
  const after = ok(await keeper.patch(`/memories/${third.id}`, change));
  expect(after.valid_from).toBe("2026-05-01T00:00:00.000Z");
  expect(await cities({ as_of: "2026-05-15" })).toEqual(["Tromsø"]);
  const { versions } = ok(await keeper.get(`/memories/${first.id}/history`));
  expect(
    versions.map(({ content, valid, reason }: { content: string; valid: Valid; reason: string }) => [
      content.slice(17, -1),
      ...[valid.from.slice(0, 10), valid.until?.slice(0, 10)],
      reason,
    ]),
  ).toEqual([
    ["Tromsø", "2026-05-01", undefined, null],
    ["Bergen", "2026-03-01", "2026-05-01", "we moved"],
    ["Oslo", "2026-01-01", "2026-03-01", null],
  ]);
  expect(versions[0]).toMatchObject({
    ...{ agent_id: keeper.id, user_id: null, superseded_by: null },
    corrections: [
      {
        agent_id: keeper.id,
        reason: change.reason,
        valid: { from: "2026-06-01T00:00:00.000Z", until: null },
      },
    ],
  });
  // What was read changes nothing.
  const { valid_from, valid_until } = after;
  ok(await keeper.patch(`/memories/${after.id}`, { valid_from, valid_until }));
  expect(ok(await keeper.get(`/memories/${after.id}/history`)).versions[0].corrections).toHaveLength(1);
  const ended = ok(await keeper.patch(`/memories/${after.id}`, { valid_until: "2026-09-01" }));
  expect(ended.valid_until).toBe("2026-09-01T00:00:00.000Z");
  expect(await cities({ as_of: "2026-10-01" })).toEqual([]);
  const cleared = ok(await keeper.patch(`/memories/${after.id}`, { valid_from: null, valid_until: null }));
  expect([cleared.valid_from, cleared.valid_until]).toEqual([cleared.created_at, null]);
});

test("history shows only what the caller may read", async () => {
  const own = ok(
    await keeper.post("/memories", { type: "semantic", scope: "agent", title: "t", content: "mine" }),
  );
  const shared = { ...FACT, title: "t", content: "ours", supersedes_id: own.id };
  const { id } = ok(await keeper.post("/memories", shared));
  const contents = async (by: typeof keeper) =>
    ok(await by.get(`/memories/${id}/history`)).versions.map(({ content }: { content: string }) => content);
  const other = await agentIn(server, cast.admin, { name: "other" }, ["memory:read"]);
  expect([await contents(keeper), await contents(other)]).toEqual([["ours", "mine"], ["ours"]]);
  expect((await other.get(`/memories/${own.id}/history`)).status).toBe(404);
  const stranger = await makeWorld(server, "strangers");
  expect((await stranger.agent.get(`/memories/${id}/history`)).status).toBe(404);
});

/** Has words of a memory, and more that it lacks. */
const UNSURE = "Tromsø winter";

test("results say how well they match, and those that may not fit are left out on request", async () => {
  const { project_id } = await offices();
  const search = async (query: string, more: object = {}) =>
    ok(await keeper.post("/memories/search", { query, project_id, ...more })).results;
  const [sure] = await search("The office is in Tromsø");
  expect(sure.match).toBe("likely");
  const unsure = await search(UNSURE);
  expect(unsure.map(({ match }: { match: string }) => match)).toContain("possible");
  for (const { score, match } of unsure) expect(match).toBe(score >= 0.36 ? "likely" : "possible");
  const shown = await search(UNSURE, { include_possible: false });
  expect(shown).toEqual(unsure.filter(({ match }: { match: string }) => match === "likely"));
});
