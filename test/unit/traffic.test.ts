import { describe, expect, test } from "@jest/globals";
import { fromFieldName, toFieldName } from "../../lib/text/field-name.ts";
import { drainTally, MAX_AGENTS, MAX_TYPES, OTHER, tally } from "../../services/platform/usage/tally.ts";
import { computeSpan, RANGES, type Range, toSeries } from "../../services/platform/usage/traffic.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-24T10:17:42.500Z");
const at = (time: string) => new Date(`2026-11-24T${time}:00.000Z`);

describe("spans of time", () => {
  test.each<[Range, number, string, string]>([
    ["15m", 15, "2026-11-24T10:03:00.000Z", "2026-11-24T10:18:00.000Z"],
    ["1h", 60, "2026-11-24T09:18:00.000Z", "2026-11-24T10:18:00.000Z"],
    ["24h", 288, "2026-11-23T10:20:00.000Z", "2026-11-24T10:20:00.000Z"],
    ["7d", 168, "2026-11-17T11:00:00.000Z", "2026-11-24T11:00:00.000Z"],
  ])("%s has %i values, and ends with the one in progress", (range, values, from, to) => {
    const span = computeSpan(range, NOW);
    expect([new Date(span.from).toISOString(), new Date(span.to).toISOString()]).toEqual([from, to]);
    expect((span.to - span.from) / span.step).toBe(values);
    expect(span.unit).toBe(RANGES[range].unit);
  });

  test("a value is null where nothing was recorded, and 0 where nothing happened", () => {
    const span = computeSpan("15m", NOW);
    const points = [
      { at: at("10:05"), counts: { published: 3 } },
      { at: at("10:05"), counts: { published: 4, failed: 1 } },
      // Counted, though its minute was not marked.
      { at: at("10:09"), counts: { published: 1 } },
      { at: at("09:00"), counts: { published: 100 } },
    ];
    const recorded = [{ at: at("10:00"), minutes: [0, 4, 5, 6, 16, 17] }];
    const { published, failed } = toSeries(span, points, recorded);
    const none = (count: number) => new Array(count).fill(null);
    expect(published).toEqual([null, 0, 7, 0, ...none(2), 1, ...none(6), 0, 0]);
    expect(failed).toEqual([null, 0, 1, 0, ...none(2), 0, ...none(6), 0, 0]);
  });

  test("longer values sum shorter ones, and are recorded if any of their minutes was", () => {
    const span = computeSpan("24h", NOW);
    const points = [0, 1, 4].map((n) => ({
      at: new Date(at("10:05").getTime() + n * MINUTE),
      counts: { published: 2 },
    }));
    const { published } = toSeries(span, points, [{ at: at("10:00"), minutes: [13] }]);
    expect(published.slice(-5)).toEqual([null, null, 6, 0, null]);
  });
});

describe("counting in memory", () => {
  const drained = () =>
    Object.fromEntries(
      [...drainTally()].map(([tenant, agents]) => [
        tenant,
        Object.fromEntries([...agents].map(([agent, types]) => [agent, Object.fromEntries(types)])),
      ]),
    );

  test("counts by tenant, agent and type until it is drained", () => {
    drainTally();
    tally({ tenant_id: "tn_a", agent_id: "ag_1", type: "a" }, "created", 2);
    tally({ tenant_id: "tn_a", agent_id: "ag_1", type: "a" }, "created", 1);
    tally({ tenant_id: "tn_a", agent_id: null, type: "b" }, "published", 1);
    tally({ tenant_id: "tn_b", agent_id: "ag_2" }, "acknowledged", 5);
    tally({ tenant_id: "tn_b", agent_id: "ag_2" }, "failed", 0);
    expect(drained()).toEqual({
      tn_a: { ag_1: { a: { created: 3 } }, "": { b: { published: 1 } } },
      tn_b: { ag_2: { [OTHER]: { acknowledged: 5 } } },
    });
    expect(drained()).toEqual({});
  });

  test("many agents and types have one count together, until the next hour", () => {
    const count = (n: number, now: number) =>
      tally({ tenant_id: "tn_many", agent_id: `ag_${n}`, type: `type.${n}` }, "created", 1, now);
    for (let n = 0; n < 2 * MAX_AGENTS; n++) count(n, NOW);
    drainTally();
    for (let n = 0; n < 2 * MAX_AGENTS; n++) count(n, NOW);
    const { tn_many = {} } = drained();
    expect(Object.keys(tn_many)).toHaveLength(MAX_AGENTS + 1);
    expect(new Set(Object.values(tn_many).flatMap((each) => Object.keys(each))).size).toBe(MAX_TYPES + 1);
    expect(tn_many[OTHER]).toEqual({ [OTHER]: { created: MAX_AGENTS } });
    count(2 * MAX_AGENTS, NOW + 60 * MINUTE);
    const name = 2 * MAX_AGENTS;
    expect(drained()).toEqual({ tn_many: { [`ag_${name}`]: { [`type.${name}`]: { created: 1 } } } });
  });
});

test.each(["com.example.order", "a%2Eb", "$set", "100%", "7", "__proto__", "ü.😀", ":"])(
  "the type %s is a field's name",
  (type) => {
    expect(toFieldName(type)).not.toMatch(/[.$]|^\d|^__/);
    expect(fromFieldName(toFieldName(type))).toBe(type);
  },
);
