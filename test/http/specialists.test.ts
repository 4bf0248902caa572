import { expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const world = await makeWorld(server, "specialists");
const reader = api(server, await world.tokenWith(["memory:read"]));

const write = (name: string, body: object) => world.admin.put(`/specialists/${name}`, body);

test("each writing is a version, the latest is loaded and all are kept", async () => {
  const first = ok(await write("reviewer", { system_prompt: "You review." }));
  expect(first).toEqual({
    ...{ name: "reviewer", version_num: 1, system_prompt: "You review." },
    ...{ memory_search_directives: null, output_format_rules: null, description: null },
  });
  const body = {
    ...{ system_prompt: "You review well.", description: "Reviews", output_format_rules: "Short." },
    memory_search_directives: "Look.",
  };
  const second = ok(await write("reviewer", body));
  expect(second).toEqual({ name: "reviewer", version_num: 2, ...body });
  expect(await reader.post("/specialists/reviewer/load")).toMatchObject({ status: 200, body: second });
  const { versions, total } = ok(await reader.get("/specialists/reviewer/versions"));
  expect(versions).toEqual([second, first].map((each) => ({ ...each, created_at: expect.any(String) })));
  expect(total).toBe(2);
  expect(ok(await reader.get("/specialists/reviewer/versions?offset=1&limit=1"))).toEqual({
    versions: versions.slice(1),
    total,
  });
});

test("they are listed by name, with what the caller has loaded", async () => {
  ok(await write("analyst", { system_prompt: "You analyse.", description: "Analyses" }));
  ok(await reader.post("/specialists/analyst/load"));
  const listed = async () => ok(await reader.get("/specialists")).specialists;
  expect(await listed()).toEqual([
    {
      ...{ name: "analyst", version_num: 1, description: "Analyses", updated_at: expect.any(String) },
      loaded: true,
    },
    expect.objectContaining({ name: "reviewer", version_num: 2, loaded: true }),
  ]);
  for (let i = 0; i < 2; i++)
    expect(ok(await reader.post("/specialists/analyst/unload"))).toEqual({ unloaded: true, name: "analyst" });
  expect((await listed())[0].loaded).toBe(false);
  expect(ok(await world.agent.get("/specialists")).specialists[1].loaded).toBe(false);
});

test.each(["nobody", "Nobody", "no body", "\u00e4\u00f6"])(
  "unknown name %j is a result, not an error",
  async (name) => {
    const path = `/specialists/${encodeURIComponent(name)}`;
    expect(await reader.post(`${path}/load`)).toMatchObject({
      status: 200,
      body: { error: { code: "not_found" } },
    });
    expect(ok(await reader.post(`${path}/unload`))).toEqual({ unloaded: true, name });
  },
);

test("an unknown specialist has no versions", () =>
  refused(reader.get("/specialists/nobody/versions"), "not_found"));

test("of long versions a page has as many as one message between nodes takes", async () => {
  const long = "x".repeat(100_000);
  const body = { system_prompt: long, memory_search_directives: long, output_format_rules: long };
  for (let n = 0; n < 9; n++) ok(await write("wordy", body));
  const numbers: number[] = [];
  for (let total = Number.POSITIVE_INFINITY; numbers.length < total; ) {
    const page = ok(await reader.get(`/specialists/wordy/versions?offset=${numbers.length}`));
    expect(page.versions.length).toBeGreaterThan(0);
    expect(JSON.stringify(page.versions).length).toBeLessThan(2_600_000);
    numbers.push(...page.versions.map(({ version_num }: { version_num: number }) => version_num));
    total = page.total;
  }
  expect(numbers).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test("authors at once get a version each", async () => {
  const made = await Promise.all(Array.from({ length: 6 }, () => write("raced", { system_prompt: "p" })));
  expect(made.map(({ body }) => body.version_num).sort()).toEqual([1, 2, 3, 4, 5, 6]);
});

test("an attempt on a step comes with its specialist, or says why not", async () => {
  const steps = ["reviewer", "nobody"].map((name) => ({ step_key: name, specialist_name: name }));
  const run = ok(await world.agent.post("/runs", { goal: "g", steps }));
  const begin = async (step_key: string) =>
    ok(await world.agent.post(`/runs/${run.id}/steps/start`, { step_key })).specialist;
  expect(await begin("reviewer")).toMatchObject({ name: "reviewer", version_num: 2 });
  expect(await begin("nobody")).toEqual({ code: "not_found", message: expect.stringContaining("nobody") });
});

test.each<[string, string, object]>([
  ["a name that is no slug", "Not%20A%20Slug", { system_prompt: "p" }],
  ["no prompt", "fine", {}],
])("refused with %s", async (_, name, body) => {
  expect(await write(name, body)).toMatchObject({ status: 400 });
  expect(
    ok(await reader.get("/specialists")).specialists.map((each: { name: string }) => each.name),
  ).not.toContain("fine");
});
