import { describe, expect, test } from "@jest/globals";
import { type Api, agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

async function newAgent(name: string, team_id?: string): Promise<Api> {
  const { admin } = world;
  const made = ok(await admin.post("/agents", { name, delivery_mode: "poll", ...(team_id && { team_id }) }));
  const { key } = ok(
    await admin.post(`/agents/${made.id}/keys`, { scopes: ["memory:read", "memory:write"] }),
  );
  return api(server, await agentToken(server, key));
}

const server = await useShared("local");
const world = await makeWorld(server, "shelf");
const team = ok(await world.admin.post("/teams", { name: "writers" })).id;
/** Two agents of a team, and one without a team. */
const [ann, bob, cyd] = await Promise.all([newAgent("ann", team), newAgent("bob", team), newAgent("cyd")]);

const find = async (by: Api, query: string, more = {}) =>
  ok(await by.post("/outputs/search", { query, ...more }));
const titles = ({ results }: { results: { output: { title: string } }[] }) =>
  results.map(({ output }) => output.title);
const save = async (by: Api, title: string, body: string, more = {}) =>
  ok(await by.post("/outputs", { title, body, ...more }));

test("who may read an agent's own, its team's, the tenant's", async () => {
  const own = await save(ann, "Own", "walrus census");
  const shared = await save(ann, "Shared", "walrus census", { scope: "team" });
  const all = await save(ann, "All", "walrus census", { scope: "institutional" });
  expect(shared.team_id).toBe(team);
  const seen: [Api, { id: string }[]][] = [
    [ann, [own, shared, all]],
    [bob, [shared, all]],
    [cyd, [all]],
    // Whose agents they are.
    [world.admin, [own, shared, all]],
    [world.member, [all]],
  ];
  for (const [caller, expected] of seen) {
    const ids = expected.map(({ id }) => id).sort();
    const listed = ok(await caller.get("/outputs")).outputs as { id: string; body: null }[];
    expect(listed.map(({ id }) => id).sort()).toEqual(ids);
    expect(listed.every(({ body }) => body === null)).toBe(true);
    const { results } = await find(caller, "walrus census");
    expect(results.map((each: { output: { id: string } }) => each.output.id).sort()).toEqual(ids);
    for (const { id } of [own, shared, all].filter((each) => !expected.includes(each))) {
      for (const path of ["", "/versions", "/versions/1"])
        await refused(caller.get(`/outputs/${id}${path}`), "not_found");
      await refused(caller.del(`/outputs/${id}`), "not_found");
      await refused(caller.post("/outputs", { output_id: id, body: "mine now" }), "not_found");
    }
  }
  await refused(bob.del(`/outputs/${shared.id}`), "forbidden");
  expect((await bob.post("/outputs", { output_id: shared.id, body: "walrus by bob" })).status).toBe(201);
  expect((await world.admin.del(`/outputs/${shared.id}`)).status).toBe(204);
});

test("who may read a person's own is the person's alone", async () => {
  const { id, user_id } = await save(world.member, "Private", "wombat ledger");
  expect(user_id).toMatch(/^usr_/);
  expect(titles(await find(world.member, "wombat ledger"))[0]).toBe("Private");
  expect(titles(await find(world.admin, "wombat ledger"))).not.toContain("Private");
  expect((await world.member.del(`/outputs/${id}`)).status).toBe(204);
  expect(titles(await find(world.member, "wombat ledger"))).not.toContain("Private");
});

test("who may read the scope stays as it was first", async () => {
  const { id } = await save(ann, "Fixed", "scope");
  const wider = await ann.post("/outputs", { output_id: id, body: "scope", scope: "institutional" });
  await refused(wider, "validation_error", "scope");
});

describe("search", () => {
  test("finds each output once, by its best passage, and what a new version says", async () => {
    const filler = "The committee met and adjourned without a decision on the matter. ".repeat(30);
    const body = `# Minutes\n\n${filler}\n\nThe narwhal budget was doubled.\n\n${filler}\n\nNarwhal thanks.`;
    const { id } = await save(cyd, "Minutes", body);
    const { results, total_candidates } = await find(cyd, "narwhal budget");
    expect(results).toMatchObject([{ kind: "output", superseded: false, output: { id, body: null } }]);
    expect(results[0].passage).toContain("narwhal budget was doubled");
    expect(total_candidates).toBe(1);
    ok(await cyd.post("/outputs", { output_id: id, body: "# Minutes\n\nOnly the puffin is left." }));
    expect(titles(await find(cyd, "puffin"))).toEqual(["Minutes"]);
    expect(await find(cyd, "narwhal budget", { min_score: 0.5 })).toMatchObject({
      results: [],
      no_match: true,
    });
  });

  test("a long text that has all the places leaves room for others", async () => {
    const many = Array.from({ length: 200 }, (_, i) => `Paragraph ${i}: ${"ocelot ".repeat(80)}`).join(
      "\n\n",
    );
    await save(cyd, "Much of ocelots", many);
    await save(cyd, "A word on ocelots", "An ocelot was seen once, among a great many other animals.");
    await settle(async () => titles(await find(cyd, "ocelot")).length === 2);
  });

  test("superseded outputs rank below their successors, and only on request", async () => {
    const old = await save(cyd, "Heron guide", "heron guide heron guide");
    await save(cyd, "Heron guide, new", "About the bird", { supersedes_ids: [old.slug] });
    expect(titles(await find(cyd, "heron guide"))).toEqual(["Heron guide, new"]);
    const both = await find(cyd, "heron guide", { include_superseded: true });
    expect(titles(both)).toEqual(["Heron guide, new", "Heron guide"]);
    expect(both.results.map(({ superseded }: { superseded: boolean }) => superseded)).toEqual([false, true]);
    expect(both.results[0].score).toBeGreaterThanOrEqual(both.results[1].score);
    ok(await cyd.del(`/outputs/${both.results[0].output.id}`));
    await settle(async () => titles(await find(cyd, "heron guide")).includes("Heron guide"));
  });

  test("an output is found again when its successor no longer supersedes it", async () => {
    const old = await save(cyd, "Egret list", "egret list egret list");
    const kept = await save(cyd, "Egret note", "egret note egret note");
    const { id } = await save(cyd, "Egrets, new", "About egrets", { supersedes_ids: [old.id, kept.id] });
    expect(titles(await find(cyd, "egret"))).toEqual(["Egrets, new"]);
    ok(await cyd.post("/outputs", { output_id: id, body: "About egrets again", supersedes_ids: [kept.id] }));
    await settle(async () => titles(await find(cyd, "egret")).includes("Egret list"));
    expect(ok(await cyd.get(`/outputs/${old.id}`)).superseded_by).toBeNull();
    expect(ok(await cyd.get(`/outputs/${kept.id}`)).superseded_by).toBe(id);
  });

  test("an output that supersedes its successor is found, directly or indirectly", async () => {
    const first = await save(cyd, "Stork one", "stork stork");
    const second = await save(cyd, "Stork two", "stork stork", { supersedes_ids: [first.id] });
    const third = await save(cyd, "Stork three", "stork stork", { supersedes_ids: [second.id] });
    await settle(async () => ok(await cyd.get(`/outputs/${second.id}`)).superseded_by === third.id);
    const back = { title: "Stork one again", body: "stork stork", output_id: first.id };
    ok(await cyd.post("/outputs", { ...back, supersedes_ids: [third.id] }));
    await settle(async () => titles(await find(cyd, "stork")).join() === "Stork one again");
    ok(
      await cyd.post("/outputs", {
        ...{ title: "Stork three again", body: "stork", output_id: third.id, supersedes_ids: [first.id] },
      }),
    );
    // The second is superseded no longer.
    await settle(
      async () =>
        titles(await find(cyd, "stork"))
          .sort()
          .join() === "Stork three again,Stork two",
    );
    expect(ok(await cyd.get(`/outputs/${first.id}`))).toMatchObject({
      supersedes_ids: [],
      superseded_by: third.id,
    });
  });

  test("of a project, and not of archived ones", async () => {
    for (const key of ["open", "shut"]) {
      ok(await world.admin.post("/projects", { key }));
      await save(cyd, `In ${key}`, "lemur logistics", { project_id: key });
    }
    await save(cyd, "Unfiled", "lemur logistics");
    expect(titles(await find(cyd, "lemur logistics", { project_id: "shut" }))).toEqual(["In shut"]);
    ok(await world.admin.patch("/projects/shut", { status: "archived" }));
    expect(titles(await find(cyd, "lemur logistics")).sort()).toEqual(["In open", "Unfiled"]);
    const all = await find(cyd, "lemur logistics", { include_archived: true });
    expect(titles(all).sort()).toEqual(["In open", "In shut", "Unfiled"]);
    await refused(cyd.post("/outputs/search", { query: "lemur", project_id: "nowhere" }), "validation_error");
  });
});

test("lists by project, run, scope and tags; by time or title, a page at a time", async () => {
  const lister = await newAgent("lister");
  ok(await world.admin.post("/projects", { key: "listed" }));
  const run = ok(await lister.post("/runs", { goal: "g" })).id;
  const b = await save(lister, "beta", "b", { project_id: "listed" });
  const a = await save(lister, "Alpha", "a", { process_run_id: run });
  const c = await save(lister, "Gamma", "c", { project_id: "listed" });
  const mine = async (query: string) => {
    const { outputs, total, next_cursor } = ok(await lister.get(`/outputs?scope=agent&${query}`));
    return { titles: outputs.map(({ title }: { title: string }) => title), total, next_cursor };
  };
  expect(await mine("")).toMatchObject({ titles: ["Gamma", "Alpha", "beta"], total: 3 });
  expect((await mine("order=asc&sort=nonsense")).titles).toEqual(["beta", "Alpha", "Gamma"]);
  expect((await mine("sort=title")).titles).toEqual(["Alpha", "beta", "Gamma"]);
  expect((await mine("sort=title&order=desc")).titles).toEqual(["Gamma", "beta", "Alpha"]);
  expect((await mine("project_id=listed")).titles).toEqual(["Gamma", "beta"]);
  expect((await mine("project_id=")).titles).toEqual(["Alpha"]);
  expect((await mine(`process_run_id=${run}`)).titles).toEqual(["Alpha"]);
  expect((await mine("process_run_id=")).total).toBe(3);
  for (const sort of ["title", "created_at"]) {
    const whole = (await mine(`sort=${sort}`)).titles;
    const first = await mine(`sort=${sort}&limit=2`);
    const rest = await mine(`sort=${sort}&limit=2&cursor=${first.next_cursor}`);
    expect([...first.titles, ...rest.titles]).toEqual(whole);
    expect(rest.next_cursor).toBeNull();
    expect((await mine(`sort=${sort}&offset=1`)).titles).toEqual(whole.slice(1));
  }
  const misfit = `/outputs?sort=title&cursor=${(await mine("limit=1")).next_cursor}`;
  await refused(lister.get(misfit), "validation_failed", "cursor");
  await refused(lister.get("/outputs?limit=201"), "validation_failed");

  const filed = await lister.patch(`/outputs/${a.slug}`, { project_id: "listed" });
  expect(filed).toMatchObject({ status: 200, body: { id: a.id, project_id: "listed", tags: [] } });
  expect(ok(await lister.patch(`/outputs/${c.id}`, { project_id: null })).project_id).toBeNull();
  expect((await mine("project_id=listed")).titles).toEqual(["Alpha", "beta"]);
  const unknown = await lister.patch(`/outputs/${a.id}`, { project_id: b.id });
  await refused(unknown, "validation_error", "project_id");
  const tagging = await lister.patch(`/outputs/${a.id}`, { tags: ["q3"] });
  await refused(tagging, "forbidden");
});

test("lists people tag", async () => {
  const { id } = await save(world.agent, "Tagged", "t", { scope: "institutional" });
  const tagged = await world.member.patch(`/outputs/${id}`, { tags: ["Q3 Review", "q3_review", "Billing"] });
  expect(tagged.body).toEqual({ id, project_id: null, tags: ["q3-review", "billing"] });
  for (const query of ["tags=q3-review", "tags=nothing,BILLING", "tags=x&tags=billing"])
    expect(ok(await world.agent.get(`/outputs?${query}`)).outputs).toMatchObject([{ id }]);
  expect(ok(await world.agent.get("/outputs?tags=nothing")).total).toBe(0);
});
