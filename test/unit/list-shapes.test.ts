import { expect, test } from "@jest/globals";
import { operations } from "../../services/contracts.ts";

/** Lists whose shape is another than `{<noun>: […], next}`: no new ones. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  /** The specification fixes a bare array. */
  array: ["exemplars.list", "handoffs.list", "runs.list", "templates.list"],
  /** Pages by offset with the number of all, from before the rule. */
  total: [
    ...["agents.list", "agents.list_own", "channels.list", "channels.list_feeds", "channels.list_members"],
    ..."connectors.list documents.list documents.list_chunks ingest.list_webhooks interests.list".split(" "),
    ...["keys.list", "memories.list", "merges.list", "outputs.list", "projects.list", "runs.list_artifacts"],
    ..."schedules.list specialists.versions teams.list tenants.list tenants.usage users.list".split(" "),
  ],
  /** Pages by a cursor of an older name. */
  next_cursor: [
    ...["audit.list", "bundles.list_of_agent", "deliveries.list", "events.list", "findings.browse"],
    "handoffs.list_of_agent",
  ],
  /** More than a list, or fixed by the specification. */
  own: [
    ..."deliveries.dead_letters deliveries.poll deliveries.stats findings.list memories.activity".split(" "),
    ...["relationships.list", "sessions.list"],
  ],
};

type Shape = { type?: string; properties?: Record<string, Shape> };

/** Returns the group that a list's answer belongs to. */
function groupOf({ type, properties = {} }: Shape): string {
  if (type === "array") return "array";
  const nouns = Object.keys(properties).filter((name) => properties[name]?.type === "array");
  const [position = "", ...more] = Object.keys(properties).filter((name) => !nouns.includes(name));
  if (nouns.length !== 1 || !["next", "total", "next_cursor"].includes(position)) return "own";
  return position === "total" && more.join() === "next_cursor" ? "total" : more.length ? "own" : position;
}

const lists = operations.flatMap(({ action, method, query = {}, results }) => {
  const shape = results[200] as Shape | undefined;
  return method === "GET" && shape && ("limit" in query || shape.type === "array") ? [{ action, shape }] : [];
});

test("lists are {<noun>: […], next}, or one of the exceptions", () => {
  const found = Map.groupBy(lists, ({ shape }) => groupOf(shape));
  const names = (group: string) => (found.get(group) ?? []).map(({ action }) => action).sort();
  for (const [group, expected] of Object.entries(EXCEPTIONS))
    expect([group, names(group)]).toEqual([group, [...expected].sort()]);
  expect(names("next")).toEqual(expect.arrayContaining(["events.types", "memories.namespaces"]));
});
