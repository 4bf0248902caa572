import { expect, test } from "@jest/globals";
import type { TestAgent } from "../support/agents.ts";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { ok } from "../support/tenancy.ts";
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
