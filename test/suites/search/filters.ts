import { beforeAll, describe, expect, test } from "@jest/globals";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { LegsQuery } from "../../../storage/search/protocol.ts";
import type { SearchIndex } from "../search.ts";
import { entry, NOW, query, vector } from "./samples.ts";

const FILTERS = "tn_filters";
const MODEL = "filters";

/** One entry per filter; all have the same word and vector, so that only filters distinguish them. */
const ENTRIES: Record<string, Partial<SearchEntry>> = {
  own: {},
  others: { agent_id: "ag_b" },
  team: { scope: "team", agent_id: "ag_b", team_id: "team_a" },
  otherTeam: { scope: "team", agent_id: "ag_b", team_id: "team_b" },
  ownInOtherTeam: { scope: "team", team_id: "team_b" },
  institution: { scope: "institutional", agent_id: "ag_b" },
  nobodys: { scope: "institutional", agent_id: null },
  expired: { expires_at: NOW },
  expiring: { expires_at: NOW + 1 },
  superseded: { superseded: true },
  filed: { project_id: "apollo" },
  tagged: { tags: ["red", "blue"] },
  episodic: { type: "episodic" },
  labelled: { scope: "institutional", audience: ["regions:emea", "segments:b2b"] },
};

const PLAIN = [
  "own",
  "ownInOtherTeam",
  "institution",
  "nobodys",
  "expiring",
  "filed",
  "tagged",
  "episodic",
  "labelled",
];

const CASES: [string, Partial<LegsQuery>, string[]][] = [
  ["an agent without a team", {}, PLAIN],
  [
    "an agent of a team",
    { access: { agent_id: "ag_a", agent_ids: ["ag_a"], team_ids: ["team_a"] } },
    [...PLAIN, "team"],
  ],
  [
    "a person who owns nobody",
    { access: { agent_id: null, agent_ids: [], team_ids: [] } },
    ["institution", "nobodys", "labelled"],
  ],
  ["a scope", { where: { scope: "team" } }, ["ownInOtherTeam"]],
  ["types", { where: { types: ["episodic", "procedural"] } }, ["episodic"]],
  ["an unknown type", { where: { types: ["unheard of"] } }, []],
  ["a project", { where: { project_id: "apollo" } }, ["filed"]],
  ["no project", { where: { project_id: null, scope: "agent" } }, ["own", "expiring", "tagged", "episodic"]],
  ["tags", { where: { tags_any: ["green", "blue"] } }, ["tagged"]],
  ["an owner", { where: { agent_id: "ag_b" } }, ["institution"]],
  [
    "an audience",
    { where: { audience: [["regions:emea", "regions:apac"], ["segments:b2b"]] } },
    ["labelled"],
  ],
  ["an audience with one group missing", { where: { audience: [["regions:emea"], ["x:y"]] } }, []],
  [
    "superseded ones too",
    { include_superseded: true, where: { scope: "agent", project_id: null } },
    ["own", "expiring", "superseded", "tagged", "episodic"],
  ],
  [
    "a moment later",
    { now: NOW + 1, where: { scope: "agent", project_id: null } },
    ["own", "tagged", "episodic"],
  ],
];

/** Each filter in each leg, and in both. */
export function filterCases(index: () => SearchIndex): void {
  describe("filters", () => {
    beforeAll(async () => {
      await index().useModel(MODEL);
      await index().put(
        FILTERS,
        Object.entries(ENTRIES).map(([id, more]) => entry({ id, text: "lemur", ...more })),
      );
      const missing = (await index().unembedded(1000)).filter(({ tenant_id }) => tenant_id === FILTERS);
      await index().setVectors(
        MODEL,
        missing.map((each) => ({ ...each, vector: vector(1, 1) })),
      );
    });

    const legs = { text: { terms: ["lemur"] }, vector: { terms: [], vector: vector(1, 1) } };
    for (const [leg, by] of Object.entries({
      ...legs,
      both: { ...legs.text, ...legs.vector, terms: ["lemur"] },
    }))
      test.each(CASES)(`${leg}: %s`, async (_name, more, expected) => {
        const answer = await index().legs(query("", { tenant_id: FILTERS, ...by, ...more }));
        expect(answer.candidates.map(({ id }) => id).sort()).toEqual(expected.toSorted());
        expect(answer.visible).toBe(expected.length);
      });

    test("frequencies count only what the reader may find", async () => {
      const { corpus } = await index().legs(
        query("lemur", { tenant_id: FILTERS, where: { types: ["episodic"] } }),
      );
      expect(corpus).toEqual({ documents: 1, frequencies: [1], averageLength: 2 });
    });

    test.each([
      ["own", "candidate"],
      ["others", "unknown"],
      ["otherTeam", "unknown"],
      ["nowhere", "unknown"],
      ["expired", "expired"],
      ["superseded", "superseded"],
      ["episodic", "filtered"],
    ])("of %s it says that it is %s", async (expect_, expected) => {
      const where = { types: ["semantic"] };
      const answer = await index().legs(query("lemur", { tenant_id: FILTERS, where, expect: expect_ }));
      expect(answer.expected).toBe(expected);
    });
  });
}
