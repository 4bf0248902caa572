import { expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { enrich, toQuery } from "../../services/sense/deliveries/enrich.ts";

test.each([
  [{ type: "com.acme.invoice.overdue", subject: "invoices/4711" }, "invoices 4711 acme invoice overdue"],
  [{ type: "invoice.overdue" }, "invoice overdue"],
  [{ type: "ping", subject: "  customer_42:eu " }, "customer 42 eu ping"],
])("an event is looked for by its subject and type: %j", (event, query) =>
  expect(toQuery(event)).toBe(query),
);

type Call = (action: string, params: { query: string; limit: number; content: boolean }) => Promise<unknown>;

/** Returns a broker that only serves search. */
function brokerWith(call: Call): ServiceBroker {
  return { call, logger: { debug: () => {} } } as unknown as ServiceBroker;
}

const receiver = { tenant_id: "tn_1", agent_id: "ag_1" };
const envelope = (type: string, more: object = {}) => JSON.stringify({ type, ...more, data: { n: 1 } });
const parsed = async (broker: ServiceBroker, wanting: Parameters<typeof enrich>[2], who: object = receiver) =>
  Object.fromEntries(
    [...(await enrich(broker, who as never, wanting))].map(([id, text]) => [id, JSON.parse(text)]),
  );

test("events of the same question ask once; what was not asked for is left alone", async () => {
  const asked: unknown[] = [];
  const broker = brokerWith(async (_, { query, limit, content }) => {
    asked.push([query, limit, content]);
    return { memories: [{ id: query, title: "t", score: 1 }], degraded: [] };
  });
  const found = await parsed(broker, [
    { id: "1", depth: "shallow", envelope: envelope("a.b") },
    { id: "2", depth: "shallow", envelope: envelope("a.b", { enrichment: "the publisher's" }) },
    { id: "3", depth: "deep", envelope: envelope("a.b") },
  ]);
  expect(asked).toEqual([
    ["a b", 3, false],
    ["a b", 10, true],
  ]);
  const enrichment = { memories: [{ id: "a b", title: "t", score: 1 }] };
  expect(found).toEqual({
    1: { type: "a.b", data: { n: 1 }, enrichment },
    2: { type: "a.b", data: { n: 1 }, enrichment },
    3: { type: "a.b", data: { n: 1 }, enrichment },
  });
});

test("numbers that JavaScript cannot hold pass through", async () => {
  const broker = brokerWith(async () => ({ memories: [], degraded: [] }));
  const text = '{"type":"a.b","data":{"n":12345678901234567890}}';
  const found = await enrich(broker, receiver, [{ id: "1", depth: "deep", envelope: text }]);
  expect(found.get("1")).toContain('"n":12345678901234567890');
});

test("a search that hangs or fails is told in the event; others are not held up by it", async () => {
  const broker = brokerWith(async (_, { query }) => {
    if (query === "hangs") return new Promise(() => {});
    if (query === "fails") throw new Error("search is down");
    return { memories: [], degraded: query === "half" ? ["vector: late"] : [] };
  });
  const wanting = ["hangs", "fails", "half", "whole"].map((type) => ({
    ...{ id: type, depth: "shallow" as const, envelope: envelope(type) },
  }));
  const found = await parsed(broker, wanting);
  const enrichments = Object.fromEntries(Object.entries(found).map(([id, event]) => [id, event.enrichment]));
  const degraded = (reason: string) => ({ memories: [], degraded: true, degraded_reasons: [reason] });
  expect(enrichments).toEqual({
    ...{ hangs: degraded("no answer within 200 ms"), fails: degraded("the search failed") },
    ...{ half: degraded("vector: late"), whole: { memories: [] } },
  });
});

test("a token that may not read memories is given none", async () => {
  const broker = brokerWith(() => Promise.reject(new Error("must not be asked")));
  const wanting = [{ id: "1", depth: "deep" as const, envelope: envelope("a") }];
  const found = await parsed(broker, wanting, { ...receiver, reads_memories: false });
  expect(found[1].enrichment).toMatchObject({
    memories: [],
    degraded_reasons: ["the agent's token lacks the scope memory:read"],
  });
});
