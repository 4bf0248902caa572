import { describe, expect, test } from "@jest/globals";
import { agentIn, makeCast } from "../support/memories.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);
const agent = await agentIn(server, cast.admin, { name: "keeper" }, ["memory:read", "memory:write"]);

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
      await agent.post("/memories", {
        ...{ ...FACT, project_id, title: "Our office", content: `The office is in ${city}.`, valid_from },
        ...more,
      }),
    );
  const first = await say("Oslo", "2026-01-01");
  const second = await say("Bergen", "2026-03-01", { supersedes_id: first.id, reason: "we moved" });
  const third = await say("Tromsø", "2026-06-01", { supersedes_id: second.id });
  const listed = async (query: string) =>
    ok(await agent.get(`/memories?project_id=${project_id}&${query}`)).memories.map(
      ({ content }: { content: string }) => content.slice(17, -1),
    );
  const found = async (times: object): Promise<Found[]> =>
    ok(await agent.post("/memories/search", { query: "where is the office", project_id, ...times })).results;
  const cities = async (times: object) =>
    (await found(times)).map(({ memory }) => memory.content.slice(17, -1));
  return { project_id, first, second, third, listed, found, cities };
}

test("a memory holds from its time until its successor's, unless somebody says otherwise", async () => {
  const { first, second, third } = await offices();
  const read = async (id: string) => {
    const { valid_from, valid_until } = ok(await agent.get(`/memories/${id}`));
    return [valid_from, valid_until];
  };
  expect(await read(first.id)).toEqual(["2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"]);
  expect(await read(second.id)).toEqual(["2026-03-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"]);
  expect(await read(third.id)).toEqual(["2026-06-01T00:00:00.000Z", null]);
  const plain = ok(await agent.post("/memories", { ...FACT, title: "t", content: "c" }));
  expect([plain.valid_from, plain.valid_until]).toEqual([plain.created_at, null]);
  const fresh = { ...FACT, title: "t", content: "c", freshness_date: "2026-02-02T10:00:00Z" };
  expect(ok(await agent.post("/memories", fresh)).valid_from).toBe("2026-02-02T10:00:00.000Z");
  const zoned = { ...FACT, title: "t", content: "c", valid_from: "2026-03-15+02:00" };
  expect(ok(await agent.post("/memories", zoned)).valid_from).toBe("2026-03-14T22:00:00.000Z");
});

test.each([
  [{ valid_from: "2026-03-01", valid_until: "2026-03-01" }, "valid_until"],
  [{ valid_until: "2020-01-01" }, "valid_until"],
  [{ valid_from: "2026-02-30" }, "valid_from"],
  [{ valid_from: "March" }, "valid_from"],
  [{ valid_from: "2026-03-01+25:00" }, "valid_from"],
])("%j is refused", async (times, field) => {
  const refused = await agent.post("/memories", { ...FACT, title: "t", content: "c", ...times });
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
      await agent.post("/bundles", { ...bundle, as_of: "2026-02-01", include_possible: true }),
    );
    expect(items.map(({ item_id }: { item_id: string }) => item_id)).toEqual([first.id]);
    expect(rendered_brief).toContain("held 2026-01-01 to 2026-03-01");
  });

  test("with known_at: not what was corrected later, nor what that ended", async () => {
    const { second, third, listed, cities } = await offices();
    const known_at = third.created_at;
    ok(await agent.patch(`/memories/${third.id}`, { valid_from: "2026-05-01" }));
    ok(await agent.patch(`/memories/${third.id}`, { valid_until: "2026-09-01" }));
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
    const [, { corrections }] = ok(await agent.get(`/memories/${second.id}/history`)).versions;
    expect(corrections).toMatchObject([{ valid: { until: "2026-06-01T00:00:00.000Z" } }]);
  });

  test.each(["yesterday", "2026-13-01", ""])("%j is refused", async (as_of) =>
    expect(await agent.post("/memories/search", { query: "office", as_of })).toMatchObject(
      refusal(400, "validation_failed", { field: "as_of" }),
    ),
  );
});

test("a correction is history, moves what came before, and can be written back", async () => {
  const { first, third, cities } = await offices();
  const change = { valid_from: "2026-05-01", reason: "the contract says so" };
  const after = ok(await agent.patch(`/memories/${third.id}`, change));
  expect(after.valid_from).toBe("2026-05-01T00:00:00.000Z");
  expect(await cities({ as_of: "2026-05-15" })).toEqual(["Tromsø"]);
  const { versions } = ok(await agent.get(`/memories/${first.id}/history`));
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
    ...{ agent_id: agent.id, user_id: null, superseded_by: null },
    corrections: [
      { agent_id: agent.id, reason: change.reason, valid: { from: "2026-06-01T00:00:00.000Z", until: null } },
    ],
  });
  // What was read changes nothing.
  const { valid_from, valid_until } = after;
  ok(await agent.patch(`/memories/${after.id}`, { valid_from, valid_until }));
  expect(ok(await agent.get(`/memories/${after.id}/history`)).versions[0].corrections).toHaveLength(1);
  const ended = ok(await agent.patch(`/memories/${after.id}`, { valid_until: "2026-09-01" }));
  expect(ended.valid_until).toBe("2026-09-01T00:00:00.000Z");
  expect(await cities({ as_of: "2026-10-01" })).toEqual([]);
  const cleared = ok(await agent.patch(`/memories/${after.id}`, { valid_from: null, valid_until: null }));
  expect([cleared.valid_from, cleared.valid_until]).toEqual([cleared.created_at, null]);
});

test("history shows only what the caller may read", async () => {
  const own = ok(
    await agent.post("/memories", { type: "semantic", scope: "agent", title: "t", content: "mine" }),
  );
  const shared = { ...FACT, title: "t", content: "ours", supersedes_id: own.id };
  const { id } = ok(await agent.post("/memories", shared));
  const contents = async (by: typeof agent) =>
    ok(await by.get(`/memories/${id}/history`)).versions.map(({ content }: { content: string }) => content);
  const other = await agentIn(server, cast.admin, { name: "other" }, ["memory:read"]);
  expect([await contents(agent), await contents(other)]).toEqual([["ours", "mine"], ["ours"]]);
  expect((await other.get(`/memories/${own.id}/history`)).status).toBe(404);
  const stranger = await makeWorld(server, "strangers");
  expect((await stranger.agent.get(`/memories/${id}/history`)).status).toBe(404);
});

/** Has words of a memory, and more that it lacks. */
const UNSURE = "Tromsø winter";

test("results say how well they match, and those that may not fit are left out on request", async () => {
  const { project_id } = await offices();
  const search = async (query: string, more: object = {}) =>
    ok(await agent.post("/memories/search", { query, project_id, ...more })).results;
  const [sure] = await search("The office is in Tromsø");
  expect(sure.match).toBe("likely");
  const unsure = await search(UNSURE);
  expect(unsure.map(({ match }: { match: string }) => match)).toContain("possible");
  for (const { score, match } of unsure) expect(match).toBe(score >= 0.36 ? "likely" : "possible");
  const shown = await search(UNSURE, { include_possible: false });
  expect(shown).toEqual(unsure.filter(({ match }: { match: string }) => match === "likely"));
});
