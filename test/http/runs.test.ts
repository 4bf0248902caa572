import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, type World } from "../support/tenancy.ts";

const ABSENT = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";

let server: TestServer;
let world: World;
let agent: Api;
let member: string;

beforeAll(async () => {
  server = await startServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" } });
  world = await makeWorld(server, "runs");
  agent = world.agent;
  member = ok(await world.member.get("/auth/me")).user.id;
});
afterAll(() => server?.stop());

const DIAMOND = [
  { step_key: "a", title: "Begin" },
  { step_key: "b", depends_on: ["a"] },
  { step_key: "c", depends_on: ["a"] },
  { step_key: "d", depends_on: ["b", "c"] },
];

const newRun = async (body: object = {}, by = agent) =>
  ok(await by.post("/runs", { goal: "Get it done", steps: DIAMOND, ...body }));
const at = (run: { id: string }, what: string) => `/runs/${run.id}/${what}`;
const act = (run: { id: string }, what: string, body: object, by = agent) =>
  by.post(at(run, `steps/${what}`), body);
const keys = (steps: { step_key: string }[]) => steps.map(({ step_key }) => step_key);

test("a run goes from its first step to its retrospective", async () => {
  const made = await agent.post("/runs", {
    goal: "Ship it",
    steps: DIAMOND,
    success_criteria: ["It is out"],
    ambiguity_score: 0.4,
  });
  expect(made.status).toBe(201);
  const run = made.body;
  expect(run).toMatchObject({
    ...{
      goal: "Ship it",
      status: "active",
      project_id: null,
      success_criteria: ["It is out"],
      ambiguity_score: 0.4,
    },
    initiated_by: { id: world.agentId, display_name: expect.any(String) },
  });
  expect(run.steps.map((step: { status: string; ordinal: number }) => [step.ordinal, step.status])).toEqual([
    [1, "ready"],
    [2, "blocked"],
    [3, "blocked"],
    [4, "blocked"],
  ]);

  const attempt = await act(run, "start", { step_key: "a", notes: "here we go" });
  expect(attempt).toMatchObject({
    status: 201,
    body: {
      ...{ run_step_id: run.steps[0].id, actor_kind: "agent", actor_id: world.agentId, notes: "here we go" },
      ...{ ended_at: null, outcome: null, inbound_handoff_id: null, warning: null, specialist: null },
    },
  });
  const second = ok(await act(run, "start", { step_key: "a" }, world.member));
  expect(second).toMatchObject({
    actor_kind: "user",
    actor_id: member,
    warning: expect.stringContaining(world.agentId),
  });

  const artifact = ok(
    await agent.post(at(run, "artifacts"), {
      kind: "document",
      pointer: { uri: "file:///notes.md", display_name: "Notes" },
      step_record_id: attempt.body.id,
    }),
  );
  const content = Buffer.from("# Notes\n");
  const completed = ok(
    await act(run, "complete", {
      step_key: "a",
      what_makes_this_done: "The notes are written.",
      artifact_contents: [
        { artifact_id: artifact.id, content_base64: content.toString("base64"), mime_type: "text/markdown" },
      ],
    }),
  );
  expect(completed).toMatchObject({ run_id: run.id, completed_step_key: "a", run_completed: false });
  expect(completed.completed_step.status).toBe("completed");
  expect(keys(completed.newly_ready_steps)).toEqual(["b", "c"]);
  const [kept] = await settle(async () => {
    const { artifacts } = ok(await agent.get(at(run, "artifacts")));
    return artifacts[0].content_hash && artifacts;
  });
  expect(kept).toMatchObject({ id: artifact.id, byte_size: content.length, mime_type: "text/markdown" });

  expect(ok(await act(run, "skip", { step_key: "b", reason: "not needed" }))).toMatchObject({
    ...{
      run_id: run.id,
      run_goal: "Ship it",
      reason: "not needed",
      newly_ready_steps: [],
      run_completed: false,
    },
    skipped_step: { step_key: "b", status: "skipped" },
  });
  ok(await act(run, "complete", { step_key: "c" }));
  expect(ok(await act(run, "complete", { step_key: "d" }))).toMatchObject({ run_completed: true });
  expect(ok(await agent.get(`/runs/${run.id}`)).status).toBe("completed");

  const history = ok(await agent.get(at(run, "history"))).items;
  expect(keys(history)).toEqual(["a", "c", "d"]);
  expect(history[0]).toMatchObject({
    title: "Begin",
    ordinal: 1,
    actor_id: world.agentId,
    artifacts: [{ display_name: "Notes" }],
  });

  expect(await agent.get(at(run, "retrospective"))).toMatchObject(refusal(409, "conflict"));
  const closed = ok(await world.member.post(at(run, "close"), { outcome: "achieved", note: "Well done" }));
  expect(closed).toMatchObject({
    status: "closed",
    outcome: "achieved",
    close_note: "Well done",
    closed_by_user_id: member,
  });
  expect(await agent.post(at(run, "close"), { outcome: "abandoned" })).toMatchObject(
    refusal(409, "conflict"),
  );
  const { items } = ok(await agent.get(at(run, "retrospective")));
  expect(items.map((item: { status: string }) => item.status)).toEqual([
    "completed",
    "skipped",
    "completed",
    "completed",
  ]);
  expect(items[0]).toMatchObject({ what_makes_this_done: "The notes are written." });
  expect(items[0].elapsed_seconds).toBeGreaterThanOrEqual(items[0].active_seconds);
  expect(items[1]).toMatchObject({ elapsed_seconds: null, active_seconds: null });
});

test("a reopened step blocks its ready successors and reactivates the run", async () => {
  const run = await newRun();
  ok(await act(run, "complete", { step_key: "a" }));
  ok(await act(run, "start", { step_key: "b" }));
  const reopened = ok(await act(run, "reopen", { step_key: "a", reason: "wrong" }));
  expect(reopened).toMatchObject({
    run_reactivated: false,
    reopened_step: { step_key: "a", status: "ready" },
  });
  expect(keys(reopened.demoted_successors)).toEqual(["c"]);
  expect(keys(reopened.notify_only_successors)).toEqual(["b"]);
  for (const step_key of ["b", "a", "c", "d"]) ok(await act(run, "complete", { step_key }));
  expect(ok(await act(run, "reopen", { step_key: "d", reason: "again" }))).toMatchObject({
    run_reactivated: true,
  });
  const whole = ok(await agent.get(`/runs/${run.id}`));
  expect(whole.status).toBe("active");
  expect(whole.steps[1].attempts).toEqual([
    expect.objectContaining({ outcome: "completed", ended_at: expect.any(String) }),
  ]);
});

describe("the position", () => {
  test("says what is ready and why, what waits for what, and what is the caller's", async () => {
    const steps = [
      { step_key: "a" },
      { step_key: "mine", depends_on: ["a"], assigned_user_id: member },
      { step_key: "free", depends_on: ["a"] },
      { step_key: "end", depends_on: ["mine", "free"] },
    ];
    const run = await newRun({ steps });
    ok(await act(run, "complete", { step_key: "a" }));
    ok(await act(run, "start", { step_key: "free" }));
    const position = ok(await world.member.get(at(run, "position")));
    expect(position.run.id).toBe(run.id);
    expect(position.my_next).toMatchObject({ step_key: "mine", why_ready: "Done: a.", open_attempts: [] });
    expect(keys(position.ready_steps)).toEqual(["mine", "free"]);
    expect(position.ready_steps[1]).toMatchObject({
      ...{ status: "in_progress", in_progress_since: expect.any(String) },
      open_attempts: [{ actor_kind: "agent", actor_id: world.agentId, started_at: expect.any(String) }],
    });
    expect(position.blocked_steps).toEqual([
      expect.objectContaining({ step_key: "end", waiting_on: ["mine", "free"] }),
    ]);
    expect(position.last_completed).toMatchObject({
      step_key: "a",
      actor_id: world.agentId,
      handoff_offer_id: null,
    });
    expect(position.stale_steps).toEqual([]);
    // The agent's owner has nothing here, and what is unassigned is in progress.
    expect(ok(await agent.get(at(run, "position"))).my_next).toBeNull();
  });

  test("for an agent begins with its owner's step", async () => {
    ok(await world.admin.patch(`/agents/${world.agentId}`, { owner_user_id: member }));
    const run = await newRun({
      steps: [{ step_key: "first" }, { step_key: "owned", assigned_user_id: member }],
    });
    expect(ok(await agent.get(at(run, "position"))).my_next).toMatchObject({ step_key: "owned" });
    expect(ok(await world.admin.get(at(run, "position"))).my_next).toMatchObject({ step_key: "first" });
  });

  test("shows a step past its deadline as stale, and an event tells of it once", async () => {
    ok(await agent.post(`/agents/${world.agentId}/interests`, { event_type: "service.run.step_stale" }));
    const run = await newRun({ steps: [{ step_key: "late", due_in_seconds: 1 }] });
    const { stale_steps } = await settle(async () => {
      const position = ok(await agent.get(at(run, "position")));
      return position.stale_steps.length > 0 && position;
    });
    expect(stale_steps).toEqual([
      expect.objectContaining({ step_key: "late", stale_reason: expect.any(String) }),
    ]);
    const told = await settle(async () => {
      const { deliveries } = ok(await agent.get("/delivery/poll?wait=10"));
      return deliveries.length > 0 && deliveries;
    });
    expect(told[0].payload).toMatchObject({
      type: "service.run.step_stale",
      data: { run_id: run.id, step_key: "late" },
    });
  });
});

describe("refused, and nothing is changed", () => {
  test.each<[string, object, number, string, object]>([
    ["no goal", { goal: " " }, 400, "validation_failed", { field: "goal" }],
    [
      "a cycle",
      {
        steps: [
          { step_key: "a", depends_on: ["b"] },
          { step_key: "b", depends_on: ["a"] },
        ],
      },
      400,
      "validation_error",
      { field: "steps.0.depends_on" },
    ],
    [
      "a key twice",
      { steps: [{ step_key: "a" }, { step_key: "a" }] },
      400,
      "validation_error",
      { field: "steps.1.step_key" },
    ],
    [
      "an unknown dependency",
      { steps: [{ step_key: "a", depends_on: ["z"] }] },
      400,
      "validation_error",
      { field: "steps.0.depends_on" },
    ],
    ["a template and steps", { template_id: ABSENT }, 400, "validation_error", { field: "steps" }],
    [
      "an unknown template",
      { template_id: ABSENT, steps: undefined },
      404,
      "not_found",
      { resource_id: ABSENT },
    ],
    [
      "assignments without a template",
      { step_assignments: [{ step_key: "a", assigned_user_id: "usr_x" }] },
      400,
      "validation_error",
      { field: "step_assignments" },
    ],
    [
      "an unknown person",
      { steps: [{ step_key: "a", assigned_user_id: "usr_x" }] },
      400,
      "validation_error",
      { field: "steps.0.assigned_user_id" },
    ],
    ["an unknown project", { project_id: "nowhere" }, 400, "validation_error", { field: "project_id" }],
    ["a project's id", { project_id: ABSENT }, 400, "validation_error", { field: "project_id" }],
  ])("a run with %s", async (_, body, status, code, details) => {
    const before = ok(await agent.get("/runs")).length;
    expect(await agent.post("/runs", { goal: "g", steps: DIAMOND, ...body })).toMatchObject(
      refusal(status, code, details),
    );
    expect(ok(await agent.get("/runs")).length).toBe(before);
  });

  test.each<[string, string, object, number, string]>([
    ["start what is blocked", "start", { step_key: "b" }, 409, "step_not_ready"],
    ["start an unknown step", "start", { step_key: "z" }, 404, "not_found"],
    ["complete what is blocked", "complete", { step_key: "d" }, 409, "step_not_ready"],
    [
      "complete what only a hand-off completes",
      "complete",
      { step_key: "handed" },
      409,
      "step_not_completable",
    ],
    [
      "attest what is no criterion",
      "complete",
      { step_key: "a", criterion_key: "z" },
      400,
      "validation_error",
    ],
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
  ])("to %s", async (_, what, body, status, code) => {
    const run = await newRun({
      steps: [...DIAMOND, { step_key: "handed", completion_mode: "handoff_accepted" }],
    });
    const before = ok(await agent.get(`/runs/${run.id}`));
    expect(await act(run, what, body)).toMatchObject(refusal(status, code));
    expect(ok(await agent.get(`/runs/${run.id}`))).toEqual(before);
  });

  test("an artifact whose pointer has other keys, or that belongs to no record", async () => {
    const run = await newRun();
    const pointer = { uri: "file:///x", secret: "y" };
    expect(await agent.post(at(run, "artifacts"), { kind: "k", pointer })).toMatchObject(
      refusal(400, "validation_failed"),
    );
    const body = { kind: "k", pointer: {}, step_record_id: ABSENT };
    expect(await agent.post(at(run, "artifacts"), body)).toMatchObject(
      refusal(400, "validation_error", { field: "step_record_id" }),
    );
    expect(ok(await agent.get(at(run, "artifacts")))).toEqual({ artifacts: [], total: 0 });
  });
});

describe("at once", () => {
  test("a hundred callers race on one step: one completes it, the others are told so", async () => {
    const run = await newRun();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => act(run, "complete", { step_key: "a" })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer).toMatchObject(refusal(409, "step_not_completable"));
    }
    expect(keys(ok(await agent.get(at(run, "history"))).items)).toEqual(["a"]);
  });

  test("different steps of one run are all done", async () => {
    const steps = Array.from({ length: 40 }, (_, i) => ({ step_key: `s${i}` }));
    const run = await newRun({ steps });
    const answers = await Promise.all(steps.map(({ step_key }) => act(run, "complete", { step_key })));
    expect(answers.filter(({ body }) => body.run_completed)).toHaveLength(1);
    expect(ok(await agent.get(at(run, "history"))).items).toHaveLength(40);
  });

  test("a retry with the same key finds what the first try did", async () => {
    const run = await newRun();
    const key = { "idempotency-key": "start-a" };
    const first = await agent.post(at(run, "steps/start"), { step_key: "a" }, key);
    const again = await agent.post(at(run, "steps/start"), { step_key: "a" }, key);
    expect(again.body).toEqual(first.body);
    expect(ok(await agent.get(`/runs/${run.id}`)).steps[0].attempts).toHaveLength(1);
  });
});

test("what happens in a run is told as events, in order, without content", async () => {
  ok(
    await agent.post(`/agents/${world.agentId}/interests`, {
      event_type: "service.run.*",
      filter_expression: 'step_key != "late"',
    }),
  );
  const run = await newRun({ goal: "Secret plans", steps: [{ step_key: "only", instructions: "hush" }] });
  ok(await act(run, "start", { step_key: "only" }));
  ok(await act(run, "complete", { step_key: "only" }));
  ok(await agent.post(at(run, "close"), { outcome: "achieved" }));
  const seen: { type: string; data: { run_id: string } }[] = [];
  await settle(async () => {
    const { deliveries } = ok(await agent.get("/delivery/poll?wait=5"));
    ok(await agent.post("/delivery/ack", { delivery_ids: deliveries.map(({ id }: { id: string }) => id) }));
    seen.push(
      ...deliveries
        .map(({ payload }: { payload: never }) => payload)
        .filter(({ data }: { data: { run_id: string } }) => data.run_id === run.id),
    );
    return seen.some(({ type }) => type === "service.run.closed");
  });
  expect(seen.map(({ type }) => type.slice("service.run.".length)).sort()).toEqual([
    "closed",
    "completed",
    "created",
    "step_completed",
    "step_ready",
    "step_started",
  ]);
  expect(JSON.stringify(seen)).not.toMatch(/Secret|hush/);
});

test("the status document is the same as long as nothing happens, and its text starts no heading", async () => {
  const run = await newRun({
    goal: "One\n# Two",
    steps: [{ step_key: "a", completion_criteria: [{ key: "k", description: "Checked" }] }],
  });
  const first = await agent.get(at(run, "status-document"));
  expect(first.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(first.body).toContain("# One # Two\n");
  expect((await agent.get(at(run, "status-document"))).body).toBe(first.body);
  ok(await act(run, "complete", { step_key: "a", criterion_key: "k" }));
  const second = await agent.get(at(run, "status-document"));
  expect(second.body).toContain("[x] Checked");
  expect(second.body).not.toBe(first.body);
});

describe("hand-off offers", () => {
  test("are accepted by whoever goes on", async () => {
    const steps = [
      { step_key: "draft", completion_mode: "handoff_accepted" },
      { step_key: "review", depends_on: ["draft"], assigned_user_id: member },
    ];
    const run = await newRun({ steps });
    const made = await agent.post(at(run, "handoff-offers"), { step_key: "draft", note: "please" });
    expect(made).toMatchObject({
      status: 201,
      body: { status: "open", offered_by: { actor_id: world.agentId }, note: "please" },
    });
    const offer = `handoff-offers/${made.body.id}`;
    expect(await world.admin.post(at(run, `${offer}/accept`), {})).toMatchObject(refusal(403, "forbidden"));
    const accepted = ok(await world.member.post(at(run, `${offer}/accept`), {}));
    expect(accepted).toMatchObject({
      ...{
        offer: { status: "accepted", decided_by: { actor_kind: "user", actor_id: member } },
        run_completed: false,
      },
      ...{ completed_step: { step_key: "draft", status: "completed" }, attempt: { actor_id: member } },
    });
    expect(await world.member.post(at(run, `${offer}/decline`), {})).toMatchObject(refusal(409, "conflict"));
    const { offers, total } = ok(await agent.get(at(run, "handoff-offers")));
    expect([offers.length, total]).toEqual([1, 1]);
    const [item] = ok(await agent.get(at(run, "history"))).items;
    expect(item).toMatchObject({ step_key: "draft", handoff_offer_id: made.body.id });
  });
});
