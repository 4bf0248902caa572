import { expect, test } from "@jest/globals";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "templates");

const steps = [
  {
    ...{ step_key: "draft", title: "Draft", completion_mode: "attestation", instructions: "Write." },
    due_in_seconds: 3600,
  },
  {
    ...{ step_key: "review", title: "Review", completion_mode: "handoff_accepted" },
    depends_on: ["draft"],
    role: "editor",
    completion_criteria: [{ key: "read", description: "It was read." }],
    reference_pointer: { uri: "https://example.com", provider: "web", native_id: "1", display_name: "Guide" },
  },
];
const author = (slug: string, body: object = {}) =>
  world.agent.post("/process-templates", { name: "Notes", slug, steps, ...body });

test("a slug gets the next version, and earlier ones stay as they are", async () => {
  const first = await author("release-notes", { goal_template: "Release {{version}}" });
  expect(first).toMatchObject({
    status: 201,
    body: { slug: "release-notes", version_num: 1, description: null },
  });
  const second = ok(await author("release-notes", { name: "Better notes", steps: steps.slice(0, 1) }));
  expect(second).toMatchObject({ version_num: 2, name: "Better notes" });
  expect(ok(await world.agent.get("/process-templates/release-notes"))).toEqual(second);
  expect(ok(await world.agent.get("/process-templates/release-notes?version_num=1"))).toEqual(first.body);
  const third = await world.agent.get("/process-templates/release-notes?version_num=3");
  await refused(third, "not_found");
  expect(third.body.error.message).toContain(
    "no version 3 of the process template release-notes. The latest is 2",
  );
  await refused(world.agent.get("/process-templates/nowhere"), "not_found");
  const list = ok(await world.agent.get("/process-templates"));
  expect(list).toEqual([
    {
      ...{ id: second.id, name: "Better notes", slug: "release-notes", description: null },
      ...{ goal_template: null, version_num: 2, step_count: 1 },
    },
  ]);
});

test("authors at once get a version each", async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => author("raced")));
  expect(made.map(({ body }) => body.version_num).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("a run copies the steps as they are, and keeps them when the template goes on", async () => {
  const template = ok(await author("copied"));
  const { id: person } = ok(await world.admin.post("/users", { email: "p@templates.example" }));
  const step_assignments = [{ step_key: "review", assigned_user_id: person }];
  const run = ok(await world.agent.post("/runs", { goal: "g", template_id: template.id, step_assignments }));
  ok(await author("copied", { steps: steps.slice(0, 1) }));
  const kept = ok(await world.agent.get(`/runs/${run.id}`));
  expect(kept.template_id).toBe(template.id);
  expect(kept.steps).toEqual(
    template.steps.map((step: { step_key: string }) => ({
      ...step,
      ...{ id: expect.any(String), attempts: [], attested_criteria: [], waiting_since: null },
      deadline_at: null,
      status: step.step_key === "draft" ? "ready" : "blocked",
      assigned_user_id: step.step_key === "review" ? person : null,
    })),
  );
  const unknown = {
    goal: "g",
    template_id: template.id,
    step_assignments: [{ step_key: "z", assigned_user_id: person }],
  };
  await refused(world.agent.post("/runs", unknown), "validation_error", "step_assignments.0.step_key");
});

test.each<[string, object, string, string]>([
  ["no steps", { steps: [] }, "validation_failed", "steps"],
  ["no completion_mode", { steps: [{ step_key: "a" }] }, "validation_failed", "steps.0.completion_mode"],
  ["a slug that is none", { slug: "Not Kebab" }, "validation_failed", "slug"],
  ["a cycle", { steps: [{ ...steps[0], depends_on: ["draft"] }] }, "validation_error", "steps.0.depends_on"],
])("a template with %s is refused", async (_, body, code, field) => {
  expect(await author("refused", body)).toMatchObject(refusal(400, code, { field }));
  expect(await world.agent.get("/process-templates/refused")).toMatchObject({ status: 404 });
});
