import { afterAll, expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { act, at, DIAMOND, newRun } from "../support/runs.ts";
import { startShared } from "../support/shared.ts";
import { ABSENT, FAILED, INVALID, MISSING, makeWorld, ok, refusal } from "../support/tenancy.ts";

const server = await startShared("local");
const world = await makeWorld(server, "runs-refusals");
afterAll(() => server.stop());

test.each<[string, object, number, string, object]>([
  ["no goal", { goal: " " }, ...FAILED, { field: "goal" }],
  [
    "a cycle",
    {
      steps: [
        { step_key: "a", depends_on: ["b"] },
        { step_key: "b", depends_on: ["a"] },
      ],
    },
    ...INVALID,
    { field: "steps.0.depends_on" },
  ],
  [
    "a key twice",
    { steps: [{ step_key: "a" }, { step_key: "a" }] },
    ...INVALID,
    { field: "steps.1.step_key" },
  ],
  [
    "an unknown dependency",
    { steps: [{ step_key: "a", depends_on: ["z"] }] },
    ...INVALID,
    { field: "steps.0.depends_on" },
  ],
  ["a template and steps", { template_id: ABSENT }, ...INVALID, { field: "steps" }],
  ["an unknown template", { template_id: ABSENT, steps: undefined }, ...MISSING, { resource_id: ABSENT }],
  [
    "assignments without a template",
    { step_assignments: [{ step_key: "a", assigned_user_id: "usr_x" }] },
    ...INVALID,
    { field: "step_assignments" },
  ],
  [
    "an unknown person",
    { steps: [{ step_key: "a", assigned_user_id: "usr_x" }] },
    ...INVALID,
    { field: "steps.0.assigned_user_id" },
  ],
  ["an unknown project", { project_id: "nowhere" }, ...INVALID, { field: "project_id" }],
  ["a project's id", { project_id: ABSENT }, ...INVALID, { field: "project_id" }],
])("refused, and nothing is changed a run with %s", async (_, body, status, code, details) => {
  const before = ok(await world.agent.get("/runs")).length;
  expect(await world.agent.post("/runs", { goal: "g", steps: DIAMOND, ...body })).toMatchObject(
    refusal(status, code, details),
  );
  expect(ok(await world.agent.get("/runs")).length).toBe(before);
});

test.each<[string, string, object, number, string]>([
  ["start what is blocked", "start", { step_key: "b" }, 409, "step_not_ready"],
  ["start an unknown step", "start", { step_key: "z" }, 404, "not_found"],
  ["complete what is blocked", "complete", { step_key: "d" }, 409, "step_not_ready"],
  ["complete what only a handoff completes", "complete", { step_key: "handed" }, 409, "step_not_completable"],
  ["attest what is no criterion", "complete", { step_key: "a", criterion_key: "z" }, 400, "validation_error"],
  [
    "keep what is no artifact",
    "complete",
    {
      step_key: "a",
      artifact_contents: [{ artifact_id: ABSENT, content_base64: "aGk=", mime_type: "text/plain" }],
    },
    400,
    "validation_error",
  ],
  [
    "keep what is no base64",
    "complete",
    {
      step_key: "a",
      artifact_contents: [{ artifact_id: ABSENT, content_base64: "?", mime_type: "text/plain" }],
    },
    400,
    "validation_failed",
  ],
  ["skip without a reason", "skip", { step_key: "a" }, 400, "validation_failed"],
  ["reopen what is ready", "reopen", { step_key: "a", reason: "r" }, 409, "step_not_reopenable"],
])("refused, and nothing is changed to %s", async (_, what, body, status, code) => {
  const run = await newRun(world.agent, {
    steps: [...DIAMOND, { step_key: "handed", completion_mode: "handoff_accepted" }],
  });
  const before = ok(await world.agent.get(`/runs/${run.id}`));
  expect(await act(world.agent, run, what, body)).toMatchObject(refusal(status, code));
  expect(ok(await world.agent.get(`/runs/${run.id}`))).toEqual(before);
});

test("refused, and nothing is changed a handoff or a bundle that is not the caller's, unless it was offered in the run", async () => {
  const run = await newRun(world.agent);
  const other = await newAgent(server, world.admin, ["memory:read", "memory:write"]);
  const handoff_id = ok(await world.agent.post("/handoffs", { name: "begun" })).id;
  const bundle_id = ok(await world.agent.post("/bundles", {})).id;
  const start = (by: Api, body: object) => act(by, run, "start", { step_key: "a", ...body });
  const offer = (by: Api, body: object) => by.post(at(run, "handoff-offers"), { step_key: "a", ...body });
  for (const by of [other, world.member]) {
    for (const [field, value] of Object.entries({ handoff_id, bundle_id })) {
      const refused = refusal(400, "validation_error", { field, value });
      expect(await start(by, { [field]: value })).toMatchObject(refused);
      expect(await start(world.agent, { [field]: ABSENT })).toMatchObject(
        refusal(400, "validation_error", { field, value: ABSENT }),
      );
    }
    expect(await offer(by, { handoff_id })).toMatchObject(
      refusal(400, "validation_error", { field: "handoff_id" }),
    );
  }
  expect(ok(await world.agent.get(`/runs/${run.id}`))).toMatchObject({
    steps: [{ attempts: [] }, {}, {}, {}],
  });
  expect(ok(await world.agent.get(at(run, "handoff-offers"))).total).toBe(0);
  expect(ok(await start(world.agent, { handoff_id, bundle_id }))).toMatchObject({
    inbound_handoff_id: handoff_id,
    bundle_id,
  });
  ok(await offer(world.agent, { handoff_id }));
  expect(ok(await start(other, { handoff_id }))).toMatchObject({ inbound_handoff_id: handoff_id });
});

test("refused, and nothing is changed refusals name the allowed values", async () => {
  const run = await newRun(world.agent);
  const said = async (what: string, body: object) => {
    const { code, message } = (await act(world.agent, run, what, body)).body.error;
    return `${code}: ${message}`;
  };
  expect(await said("start", { step_key: "z" })).toBe(
    'not_found: There is no step "z". Steps of the run: "a", "b", "c", "d".',
  );
  ok(await act(world.agent, run, "complete", { step_key: "a" }));
  expect(await said("skip", { step_key: "a", reason: "r" })).toBe(
    'step_not_skippable: The step "a" is completed. Only ready, blocked and in_progress steps can be skipped.',
  );
  expect(await said("reopen", { step_key: "b", reason: "r" })).toBe(
    'step_not_reopenable: The step "b" is ready. Only completed and skipped steps can be reopened.',
  );
});

test("refused, and nothing is changed an artifact whose pointer has other keys, or that belongs to no record", async () => {
  const run = await newRun(world.agent);
  const pointer = { uri: "file:///x", secret: "y" };
  expect(await world.agent.post(at(run, "artifacts"), { kind: "k", pointer })).toMatchObject(
    refusal(400, "validation_failed"),
  );
  for (const uri of ["javascript:alert(1)", "data:text/html,x", " vbscript:x"]) {
    expect(await world.agent.post(at(run, "artifacts"), { kind: "k", pointer: { uri } })).toMatchObject(
      refusal(400, "validation_failed", { field: "pointer.uri" }),
    );
    const steps = [{ step_key: "a", reference_pointer: { uri } }];
    expect(await world.agent.post("/runs", { goal: "g", steps })).toMatchObject(
      refusal(400, "validation_failed", { field: "steps.0.reference_pointer.uri" }),
    );
  }
  const body = { kind: "k", pointer: {}, step_record_id: ABSENT };
  expect(await world.agent.post(at(run, "artifacts"), body)).toMatchObject(
    refusal(400, "validation_error", { field: "step_record_id" }),
  );
  expect(ok(await world.agent.get(at(run, "artifacts")))).toEqual({ artifacts: [], total: 0 });
});

test("refused, and nothing is changed an artifact more than a run may have, which another run takes", async () => {
  const [run, other] = [await newRun(world.agent), await newRun(world.agent)];
  const body = { kind: "k", pointer: {} };
  for (let taken = 0; taken < 1000; taken += 50) {
    const taking = Array.from({ length: 50 }, () => world.agent.post(at(run, "artifacts"), body));
    for (const { status } of await Promise.all(taking)) expect(status).toBe(201);
  }
  expect(await world.agent.post(at(run, "artifacts"), body)).toMatchObject(
    refusal(422, "business_rule_violation", { rule: "run_limit" }),
  );
  expect(ok(await world.agent.get(at(run, "artifacts")))).toMatchObject({ total: 1000 });
  expect(await world.agent.post(at(other, "artifacts"), body)).toMatchObject({ status: 201 });
});
