import { beforeEach, describe, expect, test } from "@jest/globals";
import type { CloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import type { Subscription } from "../../services/sense/interests/receiver.ts";
import { RoutingTable, USUAL } from "../../services/sense/interests/routing-table.ts";

const TYPE = "com.example.order.created";
const event = (data: object = {}) =>
  ({ specversion: "1.0", id: "1", source: "urn:t", type: TYPE, data }) as unknown as CloudEvent;

const interest = (id: string, more: Partial<Subscription> = {}): Subscription => ({
  ...{ kind: "interest", id: `int_${id}`, agent_id: `ag_${id}`, glob: TYPE, priority: 1 },
  ...more,
});
const feed: Subscription = { ...interest("f"), kind: "feed", agent_id: undefined, channel_id: "ch_1" };

let table: RoutingTable;
const receiversOf = async (given: CloudEvent) => {
  const receivers = table.ofType(TYPE) ?? (await table.match(given)).receivers;
  return receivers.map(({ agent_id }) => agent_id).toSorted();
};

beforeEach(() => {
  table = new RoutingTable(1);
  table.subscribe(interest("a"));
});

describe("what decides besides the type is asked of each event", () => {
  test.each<[string, () => void, CloudEvent, string[], CloudEvent, string[]]>([
    [
      "a filter",
      () => table.subscribe(interest("b", { filter: "event.data.total > 5" })),
      event({ total: 9 }),
      ["ag_a", "ag_b"],
      event({ total: 1 }),
      ["ag_a"],
    ],
    [
      "a filter that is looked up",
      () => table.subscribe(interest("b", { filter: 'event.data.city == "Ulm"' })),
      event({ city: "Ulm" }),
      ["ag_a", "ag_b"],
      event({ city: "Bonn" }),
      ["ag_a"],
    ],
  ])("%s", async (_, change, first, its, second, others) => {
    change();
    expect(await receiversOf(first)).toEqual(its);
    expect(await receiversOf(second)).toEqual(others);
    expect(await receiversOf(first)).toEqual(its);
  });

  test("an order key", async () => {
    table.subscribe(interest("b"), { ...USUAL, ordering_key: "data.order" });
    const orderingOf = async (given: CloudEvent) => {
      const receivers = table.ofType(TYPE) ?? (await table.match(given)).receivers;
      return receivers.find(({ agent_id }) => agent_id === "ag_b")?.ordering;
    };
    const one = await orderingOf(event({ order: "1" }));
    expect(one).toHaveLength(22);
    expect(await orderingOf(event({ order: "2" }))).not.toBe(one);
    expect(await orderingOf(event())).toBeUndefined();
  });

  test("a wait", async () => {
    table.subscribe(interest("w", { kind: "wait", agent_id: undefined, begun_at: 1 }));
    for (const _ of [1, 2]) {
      expect(table.ofType(TYPE)).toBeUndefined();
      expect((await table.match(event())).waits).toMatchObject([{ id: "int_w" }]);
    }
  });
});

describe("what is known of a type ends with", () => {
  beforeEach(async () => {
    table.subscribe(feed);
    table.join("ch_1", "ag_m");
    expect(await receiversOf(event())).toEqual(["ag_a", "ag_m"]);
    expect(table.ofType(TYPE)).toHaveLength(2);
  });

  test.each<[string, () => void, string[]]>([
    ["another interest", () => table.subscribe(interest("b")), ["ag_a", "ag_b", "ag_m"]],
    ["an interest less", () => table.unsubscribe("int_a"), ["ag_m"]],
    ["another member", () => table.join("ch_1", "ag_n"), ["ag_a", "ag_m", "ag_n"]],
    ["a member less", () => table.leave("ch_1", "ag_m"), ["ag_a"]],
    ["the end of a channel", () => table.empty("ch_1"), ["ag_a"]],
    ["an agent that pauses", () => table.setActive("ag_a", false), ["ag_m"]],
  ])("%s", async (_, change, then) => {
    change();
    expect(await receiversOf(event())).toEqual(then);
    expect(await receiversOf(event())).toEqual(then);
  });

  test("a change while an event is matched", async () => {
    table.setActive("ag_z", true);
    const matching = table.match(event());
    table.subscribe(interest("b"));
    await matching;
    expect(await receiversOf(event())).toEqual(["ag_a", "ag_b", "ag_m"]);
  });
});

test("a first event that an interest matches is told once, whether its receivers are known or not", async () => {
  table.subscribe(interest("new", { unmatched: true }));
  await receiversOf(event());
  expect(table.takeMatched()).toEqual(["int_new"]);
  await receiversOf(event());
  expect(table.takeMatched()).toEqual([]);
});
