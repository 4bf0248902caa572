import { expect, test } from "@jest/globals";
import { renderBrief } from "../../services/remember/bundles/brief.ts";
import { gather } from "../../services/remember/bundles/bundles.service.ts";

const candidate = (item_id: string, score: number) => ({
  ...{ item_id, score, title: `Title of ${item_id}`, excerpt: "Text.", source: "vector+bm25", by: null },
  ...{ created_at: "2026-03-01T10:00:00.000Z", facts: ["semantic"] },
});

type Legs = Record<string, { items: object[]; degraded: string[] } | Error>;

/** Gathers with legs that answer so; gives what they were asked for too. */
async function gathered(params: object, legs: Legs) {
  const asked: [string, unknown][] = [];
  const call = async (action: string, given: unknown) => {
    asked.push([action, given]);
    const answer = legs[action.split(".")[0] as string];
    if (answer instanceof Error) throw answer;
    return answer ?? { items: [], degraded: [] };
  };
  const broker = { logger: { warn: () => {} } };
  return { asked, ...(await gather({ params, call, broker } as never)) };
}

test("the kinds stand in one order by score, and what fails or is late is told", async () => {
  const { items, degraded_reasons } = await gathered(
    { query: "q" },
    {
      memories: { items: [candidate("m1", 0.9), candidate("m2", 0.4)], degraded: ["vector: late"] },
      outputs: new Error("mongodb://user:secret@host is away"),
      handoffs: { items: [candidate("h1", 0.4)], degraded: [] },
    },
  );
  expect(items.map(({ kind, item_id, rank }) => [kind, item_id, rank])).toEqual([
    ["memory", "m1", 1],
    ["memory", "m2", 2],
    ["handoff", "h1", 3],
  ]);
  expect(degraded_reasons).toEqual(["memories: vector: late", "outputs: the search failed"]);
  const brief = renderBrief({ query: "q", items, degraded_reasons });
  expect(brief).toContain("## Incomplete\n\n- memories: vector: late\n- outputs: the search failed\n");
});

test("each leg is asked for what concerns it, up to its cap", async () => {
  const { asked } = await gathered(
    { query: "  ", memory_scope: "team", project_id: "p", since: "s", until: "u", caps: { handoffs: 0 } },
    {},
  );
  const all = { query: null, project_id: "p", since: "s", until: "u" };
  expect(asked).toEqual([
    ["memories.for_bundle", { ...all, scope: "team", limit: 12 }],
    ["outputs.for_bundle", { ...all, limit: 5 }],
  ]);
});

test("a brief is rendered the same again, and cuts what is long", () => {
  const item = {
    ...candidate("m1", 0.9),
    ...{ excerpt: "y".repeat(5000), source: "bm25", kind: "memory" as const, rank: 1, why: "Fits." },
  };
  const brief = renderBrief({ query: null, items: [item], degraded_reasons: [] });
  expect(brief).toBe(
    [
      "# Context: 1 item",
      "The latest items: there was no query.",
      expect.any(String),
      ...["## Memories: 1", "### 1", "- memory m1\n- semantic\n- by a person, 2026-03-01T10:00Z\n- Fits."],
      `\`\`\`text\nTitle of m1\n\n${"y".repeat(1499)}…\n\`\`\`\n`,
    ]
      .map((part) => (typeof part === "string" ? part : brief.split("\n\n")[2]))
      .join("\n\n"),
  );
  expect(renderBrief({ query: null, items: [], degraded_reasons: [] })).toBe(
    "# Context: 0 items\n\nThe latest items: there was no query.\n",
  );
});

test("a brief tells of an item how it was found and its title only if that is not clear already", () => {
  const brief = (more: object) => {
    const item = { ...candidate("m1", 0.9), kind: "memory" as const, rank: 1, why: "Fits.", ...more };
    return renderBrief({ query: "q", items: [item], degraded_reasons: [] });
  };
  expect(brief({})).not.toContain("Fits.");
  expect(brief({ source: "bm25" })).toContain("\n- Fits.\n");
  expect(brief({})).toContain("text\nTitle of m1\n\nText.\n");
  expect(brief({ excerpt: "# Title of m1\n\nText." })).toContain("text\n# Title of m1\n\nText.\n");
});
