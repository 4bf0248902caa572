import { afterAll, expect, test } from "@jest/globals";
import { startShared } from "../support/shared.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";

const server = await startShared("local");
const world = await makeWorld(server, "runs-contract");
const agent = world.agent;
afterAll(() => server.stop());

const newRun = async (steps: object[]) => ok(await agent.post("/runs", { goal: "Get it done", steps }));
const post = (run: { id: string }, what: string, body: object, by = agent) =>
  by.post(`/runs/${run.id}/${what}`, body);
const base64 = (text: string) => Buffer.from(text).toString("base64");

test("an artifact's content is available when its step is completed, and appears in the history", async () => {
  const run = await newRun([{ step_key: "a" }, { step_key: "b" }]);
  const attempt = ok(await post(run, "steps/start", { step_key: "a" }));
  const register = async (display_name: string, more: object = {}) =>
    ok(await post(run, "artifacts", { kind: "document", pointer: { display_name }, ...more }));
  await register("Begun with", { step_record_id: attempt.id });
  await register("Of no step");
  const evidence = await register("Evidence");
  const held = {
    artifact_id: evidence.id.toUpperCase(),
    content_base64: base64("hello"),
    mime_type: "text/plain",
  };
  ok(await post(run, "steps/complete", { step_key: "a", artifact_contents: [held] }));
  const { artifacts } = ok(await agent.get(`/runs/${run.id}/artifacts`));
  expect(artifacts[2]).toMatchObject({
    ...{ id: evidence.id, byte_size: 5, mime_type: "text/plain", snapshotted_at: expect.any(String) },
    content_hash: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  });
  const { items } = ok(await agent.get(`/runs/${run.id}/history`));
  expect(items[0].artifacts).toEqual([{ display_name: "Begun with" }, { display_name: "Evidence" }]);
});

test("who accepts an offer gets the successor's specialist with the attempt", async () => {
  ok(await world.admin.put("/specialists/closer", { system_prompt: "You close." }));
  const run = await newRun([
    { step_key: "a", completion_mode: "handoff_accepted" },
    { step_key: "b", depends_on: ["a"], specialist_name: "closer" },
  ]);
  const offer = ok(await post(run, "handoff-offers", { step_key: "a" }));
  const { attempt } = ok(await post(run, `handoff-offers/${offer.id}/accept`, {}));
  expect(attempt.specialist).toMatchObject({ name: "closer", system_prompt: "You close." });
});

test("every run of the tenant is listed, and with a limit so many", async () => {
  const { length: before } = ok(await agent.get("/runs"));
  const made = await Promise.all(Array.from({ length: 205 }, () => newRun([])));
  const answer = await agent.get("/runs");
  const ids = answer.body.map(({ id }: { id: string }) => id);
  expect(new Set(ids).size).toBe(before + made.length);
  expect(ids).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
  expect(ids).toHaveLength(before + made.length);
  expect(answer.headers.get("x-total-count")).toBe(String(ids.length));
  expect(ok(await agent.get("/runs?offset=3")).map(({ id }: { id: string }) => id)).toEqual(ids.slice(3));
  expect(ok(await agent.get("/runs?limit=2&offset=1")).map(({ id }: { id: string }) => id)).toEqual(
    ids.slice(1, 3),
  );
  ok(await world.admin.post("/projects", { key: "filed" }));
  const filed = ok(await agent.post("/runs", { goal: "g", project_id: "filed" }));
  const listed = async (query: string) =>
    ok(await agent.get(`/runs?${query}`)).map(({ id }: { id: string }) => id);
  expect(await listed("project_id=filed")).toEqual([filed.id]);
  expect(await listed("project_id=")).toEqual(ids);
  expect(await agent.get("/runs?limit=201")).toMatchObject(refusal(400, "validation_failed"));
});

test("finds runs by a part of their goal, and by template in any version", async () => {
  const version = async (name: string) => {
    const steps = [{ step_key: "a", title: "A", completion_mode: "attestation" }];
    return ok(await agent.post("/process-templates", { name, slug: "found-by-template", steps })).id;
  };
  const begin = async (goal: string, template_id: string | null = null) =>
    ok(await agent.post("/runs", { goal, template_id })).id;
  const first = await begin("Ship 1.0 (beta)", await version("One"));
  const second = await begin("Ship 2.0", await version("Two"));
  const other = await begin("SHIP the rest");
  ok(await agent.post(`/runs/${second}/close`, { outcome: "abandoned" }));
  const listed = async (query: string) =>
    ok(await agent.get(`/runs?${query}`)).map(({ id }: { id: string }) => id);
  expect(await listed("search=ship")).toEqual([other, second, first]);
  expect(await listed(`search=${encodeURIComponent("1.0 (B")}`)).toEqual([first]);
  // No pattern: a dot is a dot.
  expect(await listed("search=1x0")).toEqual([]);
  expect(await listed("template_slug=found-by-template")).toEqual([second, first]);
  expect(await listed("template_slug=found-by-template&search=ship&status=closed")).toEqual([second]);
  expect(await listed("template_slug=none-of-this-name")).toEqual([]);
  const page = await agent.get("/runs?search=ship&limit=1&offset=1");
  expect([page.body.length, page.headers.get("x-total-count")]).toEqual([1, "3"]);
});

test.each<[string, string, object, string, string]>([
  ["a handoff's id that is none", "steps/start", { handoff_id: "x" }, "validation_error", "handoff_id"],
  ["a bundle's id that is none", "steps/start", { bundle_id: "x" }, "validation_error", "bundle_id"],
  [
    "an offer with an id that is none",
    "handoff-offers",
    { handoff_id: "x" },
    "validation_error",
    "handoff_id",
  ],
])("refuses %s", async (_, what, body, code, field) => {
  const run = await newRun([{ step_key: "a" }]);
  expect(await post(run, what, { step_key: "a", ...body })).toMatchObject(refusal(400, code, { field }));
});

test("refuses contents that are no base64, and completes nothing", async () => {
  const run = await newRun([{ step_key: "a" }]);
  const { id } = ok(await post(run, "artifacts", { kind: "document", pointer: {} }));
  const artifact_contents = [{ artifact_id: id, content_base64: "abc", mime_type: "text/plain" }];
  expect(await post(run, "steps/complete", { step_key: "a", artifact_contents })).toMatchObject(
    refusal(400, "validation_failed", { field: "artifact_contents.0.content_base64" }),
  );
  expect(ok(await agent.get(`/runs/${run.id}`)).steps[0].status).toBe("ready");
});

test("refuses a step that is assigned twice", async () => {
  const steps = [{ step_key: "a", completion_mode: "attestation" }];
  const template = ok(await agent.post("/process-templates", { name: "t", slug: "assigned", steps }));
  const assigned_user_id = ok(await world.member.get("/auth/me")).user.id;
  const step_assignments = ["a", "a"].map((step_key) => ({ step_key, assigned_user_id }));
  expect(await agent.post("/runs", { goal: "g", template_id: template.id, step_assignments })).toMatchObject(
    refusal(400, "validation_error", { field: "step_assignments.1.step_key" }),
  );
});
