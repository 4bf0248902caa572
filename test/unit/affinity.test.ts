import { expect, test } from "@jest/globals";
import type { Context } from "moleculer";
import { Affinity, ownerOf } from "../../mixins/affinity.ts";

const nodes = Array.from({ length: 5 }, (_, i) => ({ id: `sensorium-host-${1000 + i}` }));
const keys = Array.from({ length: 10_000 }, (_, i) => `ag_${i}`);
const call = (agent_id?: unknown) => ({ meta: { caller: { agent_id } }, params: {} }) as unknown as Context;
const keyed = () => new Affinity(null, null, { key: "meta.caller.agent_id" });

test("every caller sends a key to the same node, in whatever order it sees them", () => {
  const [one, other] = [keyed(), keyed()];
  for (const key of keys.slice(0, 200)) {
    const reversed = [...nodes].reverse();
    expect(one.select(nodes, call(key)).id).toBe(other.select(reversed, call(key)).id);
  }
});

test("keys are spread evenly", () => {
  const counts = Map.groupBy(keys, (key) => ownerOf(key, nodes).id);
  expect(counts.size).toBe(nodes.length);
  for (const own of counts.values()) {
    expect(own.length).toBeGreaterThan(1_800);
    expect(own.length).toBeLessThan(2_200);
  }
});

test("when a node goes, only its keys move, and to all of the others", () => {
  const [gone, ...left] = nodes as [{ id: string }, ...{ id: string }[]];
  const moved = keys.filter((key) => ownerOf(key, nodes).id !== ownerOf(key, left).id);
  expect(moved.every((key) => ownerOf(key, nodes).id === gone.id)).toBe(true);
  expect(new Set(moved.map((key) => ownerOf(key, left).id)).size).toBe(left.length);
});

test("calls without a key stay on a node that can serve them; those with one go to its owner all the same", () => {
  const seen = nodes.map((node, i) => ({ ...node, local: i === 2 }));
  for (let n = 0; n < nodes.length; n++) expect(keyed().select(seen, call()).id).toBe(nodes[2]?.id);
  for (const key of keys.slice(0, 50))
    expect(keyed().select(seen, call(key)).id).toBe(ownerOf(key, nodes).id);
});

test("where none is this node they go to all of them, however often a request chooses one", () => {
  const even = nodes.slice(0, 4);
  const all = even.map(({ id }) => id).sort();
  const reached = (strategy: Affinity, ctx?: Context) => {
    const chosen = Array.from({ length: 200 }, () => {
      strategy.select(even, ctx);
      return strategy.select(even, ctx).id;
    });
    return [...new Set(chosen)].sort();
  };
  expect(reached(new Affinity(null, null), call("ag_1"))).toEqual(all);
  expect(reached(keyed(), call(undefined))).toEqual(all);
  expect(reached(keyed())).toEqual(all);
});
