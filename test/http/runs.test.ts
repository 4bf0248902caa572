import { expect, test } from "@jest/globals";
import { receive } from "../support/agents.ts";
import { act, at, DIAMOND, keysOf, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import { words } from "../support/words.ts";

const server = await useShared();
const world = await makeWorld(server, "runs");
const member = ok(await world.member.get("/auth/me")).user.id;

test("a run goes from its first step to its retrospective", async () => {
  const made = await world.agent.post("/runs", {
    ...{ goal: "Ship it", steps: DIAMOND, success_criteria: ["It is out"], ambiguity_score: 0.4 },
  });
  expect(made.status).toBe(201);
  const run = made.body;
  expect(run).toMatchObject({
    ...{ goal: "Ship it", status: "active", project_id: null, success_criteria: ["It is out"] },
    ambiguity_score: 0.4,
    initiated_by: { id: world.agentId, display_name: expect.any(String) },
  });
  expect(run.steps.map((step: { status: string; ordinal: number }) => [step.ordinal, step.status])).toEqual([
    [1, "ready"],
    [2, "blocked"],
    [3, "blocked"],
    [4, "blocked"],
  ]);

  const attempt = await act(world.agent, run, "start", { step_key: "a", notes: "here we go" });
  expect(attempt).toMatchObject({
    status: 201,
    body: {
      ...{ run_step_id: run.steps[0].id, actor_kind: "agent", actor_id: world.agentId, notes: "here we go" },
      ...{ ended_at: null, outcome: null, inbound_handoff_id: null, warning: null, specialist: null },
    },
  });
  expect(ok(await act(world.member, run, "start", { step_key: "a" }))).toMatchObject({
    ...{ actor_kind: "user", actor_id: member, warning: expect.stringContaining(world.agentId) },
  });

  const artifact = ok(
    await world.agent.post(at(run, "artifacts"), {
      kind: "document",
      pointer: { uri: "file:///notes.md", display_name: "Notes" },
      step_record_id: attempt.body.id,
    }),
  );
  const content = Buffer.from("# Notes\n");
  const completed = ok(
    await act(world.agent, run, "complete", {
      step_key: "a",
      what_makes_this_done: "The notes are written.",
      artifact_contents: [
        { artifact_id: artifact.id, content_base64: content.toString("base64"), mime_type: "text/markdown" },
      ],
    }),
  );
  expect(completed).toMatchObject({ run_id: run.id, completed_step_key: "a", run_completed: false });
  expect(completed.completed_step.status).toBe("completed");
  expect(keysOf(completed.newly_ready_steps)).toEqual(["b", "c"]);
  const [kept] = await settle(async () => {
    const { artifacts } = ok(await world.agent.get(at(run, "artifacts")));
    return artifacts[0].content_hash && artifacts;
  });
  expect(kept).toMatchObject({ id: artifact.id, byte_size: content.length, mime_type: "text/markdown" });

  expect(ok(await act(world.agent, run, "skip", { step_key: "b", reason: "not needed" }))).toMatchObject({
    ...{ run_id: run.id, run_goal: "Ship it", reason: "not needed", newly_ready_steps: [] },
    run_completed: false,
    skipped_step: { step_key: "b", status: "skipped" },
  });
  ok(await act(world.agent, run, "complete", { step_key: "c" }));
  expect(ok(await act(world.agent, run, "complete", { step_key: "d" }))).toMatchObject({
    run_completed: true,
  });
  expect(ok(await world.agent.get(`/runs/${run.id}`)).status).toBe("completed");

  const history = ok(await world.agent.get(at(run, "history"))).items;
  expect(keysOf(history)).toEqual(["a", "c", "d"]);
  expect(history[0]).toMatchObject({
    ...{ title: "Begin", ordinal: 1, actor_id: world.agentId, artifacts: [{ display_name: "Notes" }] },
  });

  await refused(world.agent.get(at(run, "retrospective")), "conflict");
  const closed = ok(await world.member.post(at(run, "close"), { outcome: "achieved", note: "Well done" }));
  expect(closed).toMatchObject({
    ...{ status: "closed", outcome: "achieved", close_note: "Well done", closed_by_user_id: member },
  });
  await refused(world.agent.post(at(run, "close"), { outcome: "abandoned" }), "conflict");
  const { items } = ok(await world.agent.get(at(run, "retrospective")));
  expect(items.map((item: { status: string }) => item.status)).toEqual([
    ...["completed", "skipped", "completed", "completed"],
  ]);
  expect(items[0]).toMatchObject({ what_makes_this_done: "The notes are written." });
  expect(items[0].elapsed_seconds).toBeGreaterThanOrEqual(items[0].active_seconds);
  expect(items[1]).toMatchObject({ elapsed_seconds: null, active_seconds: null });
});

test("a reopened step blocks its ready successors and reactivates the run", async () => {
  const run = await newRun(world.agent);
  ok(await act(world.agent, run, "complete", { step_key: "a" }));
  ok(await act(world.agent, run, "start", { step_key: "b" }));
  const reopened = ok(await act(world.agent, run, "reopen", { step_key: "a", reason: "wrong" }));
  expect(reopened).toMatchObject({
    run_reactivated: false,
    reopened_step: { step_key: "a", status: "ready" },
  });
  expect(keysOf(reopened.demoted_successors)).toEqual(["c"]);
  expect(reopened.notify_only_successors).toMatchObject([
    { step_key: "b", open_attempts: [{ actor_id: world.agentId }] },
  ]);
  for (const step_key of ["b", "a", "c", "d"]) ok(await act(world.agent, run, "complete", { step_key }));
  expect(ok(await act(world.agent, run, "reopen", { step_key: "d", reason: "again" }))).toMatchObject({
    run_reactivated: true,
  });
  const whole = ok(await world.agent.get(`/runs/${run.id}`));
  expect(whole.status).toBe("active");
  expect(whole.steps[1].attempts).toEqual([
    expect.objectContaining({ outcome: "completed", ended_at: expect.any(String) }),
  ]);
});

test("history keeps the criteria that a completion attested when the step is reopened", async () => {
  const completion_criteria = ["facts", "tone", "links"].map((key) => ({ key, description: key }));
  const run = await newRun(world.agent, { steps: [{ step_key: "a", completion_criteria }] });
  const complete = async (more = {}) =>
    ok(await act(world.agent, run, "complete", { step_key: "a", ...more })).attested_criteria;
  expect(await complete({ criterion_key: "tone" })).toEqual(["tone"]);
  expect(await complete()).toEqual(["facts", "links"]);
  const history = async () => ok(await world.agent.get(at(run, "history"))).items;
  expect(await history()).toMatchObject([
    { step_key: "a", attested_criteria: ["tone", "facts", "links"], reopened_at: null },
  ]);
  ok(await act(world.agent, run, "reopen", { step_key: "a", reason: "wrong" }));
  expect(await complete({ what_makes_this_done: "All is right." })).toEqual(["facts", "tone", "links"]);
  expect(await history()).toMatchObject([
    { attested_criteria: ["tone", "facts", "links"], reopened_at: expect.any(String) },
    { attested_criteria: ["facts", "tone", "links"], reopened_at: null },
  ]);
});

test("history shows on request all that was done, with its words and artifacts", async () => {
  const run = await newRun(world.agent, {
    steps: ["a", "b"].map((step_key) => ({ step_key, title: step_key })),
  });
  const pointer = { display_name: "Scan" };
  const artifact = ok(await world.agent.post(at(run, "artifacts"), { kind: "file", pointer }));
  ok(await act(world.agent, run, "start", { step_key: "a", notes: "begins" }));
  const content = { artifact_id: artifact.id, content_base64: "aGk=", mime_type: "text/plain" };
  const evidence = { what_makes_this_done: "It is in the folder.", artifact_contents: [content] };
  ok(await act(world.agent, run, "complete", { step_key: "a", ...evidence }));
  ok(await act(world.agent, run, "reopen", { step_key: "a", reason: "a page is missing" }));
  ok(await act(world.agent, run, "skip", { step_key: "b", reason: "not this month" }));
  expect(ok(await world.agent.get(at(run, "history")))).not.toHaveProperty("actions");
  const { actions } = ok(await world.agent.get(`${at(run, "history")}?include=actions`));
  const by = { actor_kind: "agent", actor_id: world.agentId };
  expect(actions).toMatchObject([
    { kind: "created", step_key: null, ...by },
    { kind: "step_started", title: "a", notes: "begins", artifacts: [], ...by },
    { kind: "step_completed", step_key: "a", notes: "It is in the folder.", artifacts: [pointer] },
    { kind: "step_reopened", notes: "a page is missing" },
    { kind: "step_skipped", step_key: "b", notes: "not this month" },
  ]);
});

test("publishes changes of a run as events, in order, without content", async () => {
  ok(
    await world.agent.post(`/agents/${world.agentId}/interests`, {
      event_type: "service.run.*",
      filter_expression: 'step_key != "late"',
    }),
  );
  const run = await newRun(world.agent, {
    goal: "Secret plans",
    steps: [{ step_key: "only", instructions: "hush" }],
  });
  ok(await act(world.agent, run, "start", { step_key: "only" }));
  ok(await act(world.agent, run, "complete", { step_key: "only" }));
  ok(await world.agent.post(at(run, "close"), { outcome: "achieved" }));
  const seen: { type: string; data: { run_id: string; run_status: string; outcome?: string } }[] = [];
  await settle(async () => {
    const payloads = (await receive(world.agent, 0)).map(({ payload }) => payload);
    seen.push(...payloads.filter(({ data }) => data.run_id === run.id));
    // Several are on their way at once: the last need not be the last to come.
    return seen.length >= 6;
  });
  expect(seen.map(({ type }) => type.slice("service.run.".length)).sort()).toEqual(words`
    closed completed created step_completed step_ready step_started`);
  // As the run was then: by now it is closed.
  const told = Object.fromEntries(seen.map(({ type, data }) => [type.slice("service.run.".length), data]));
  expect(told.created?.run_status).toBe("active");
  expect(told.step_completed?.run_status).toBe("completed");
  expect(told.closed).toMatchObject({ run_status: "closed", outcome: "achieved" });
  expect(JSON.stringify(seen)).not.toMatch(/Secret|hush/);
});

test("the status document is the same as long as nothing happens, and its text starts no heading", async () => {
  const run = await newRun(world.agent, {
    goal: "One\n# Two",
    steps: [{ step_key: "a", completion_criteria: [{ key: "k", description: "Checked" }] }],
  });
  const first = await world.agent.get(at(run, "status-document"));
  expect(first.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(first.body).toContain("# One # Two\n");
  expect((await world.agent.get(at(run, "status-document"))).body).toBe(first.body);
  ok(await act(world.agent, run, "complete", { step_key: "a", criterion_key: "k" }));
  const second = await world.agent.get(at(run, "status-document"));
  expect(second.body).toContain("[x] Checked");
  expect(second.body).not.toBe(first.body);
});

test("returns the notes on a step: why it is done, was skipped or reopened", async () => {
  const criteria = [
    { key: "facts", description: "Checked" },
    { key: "tone", description: "" },
  ];
  const run = await newRun(world.agent, {
    steps: [{ step_key: "a", completion_criteria: criteria }, { step_key: "b" }],
  });
  const attest = (criterion_key: string, what_makes_this_done?: string) =>
    act(world.agent, run, "complete", { step_key: "a", criterion_key, what_makes_this_done });
  const shown = async () => (await world.agent.get(at(run, "status-document"))).body;
  ok(await attest("facts", "As it was"));
  ok(await attest("tone"));
  ok(await act(world.agent, run, "reopen", { step_key: "a", reason: "Two facts\nwere wrong" }));
  expect(await shown()).toContain("\n   > Reopened: Two facts were wrong\n");
  expect(ok(await world.agent.get(at(run, "position"))).my_next).toMatchObject({
    why_ready: "No dependencies. Reopened: Two facts\nwere wrong",
  });
  ok(await attest("facts", "Both are right now"));
  ok(await attest("tone"));
  ok(await act(world.agent, run, "skip", { step_key: "b", reason: "English only" }));
  const document = await shown();
  expect(document).toMatch(/\n {3}> Both are right now\n.*\n {3}> English only\n/);
  expect(document).not.toMatch(/As it was|Reopened/);
  ok(await world.agent.post(at(run, "close"), { outcome: "achieved" }));
  const { items } = ok(await world.agent.get(at(run, "retrospective")));
  expect(items.map((item: { what_makes_this_done: string }) => item.what_makes_this_done)).toEqual([
    "Both are right now",
    "English only",
  ]);
});

test("hundreds of steps become ready, and blocked again, at once", async () => {
  const waiting = Array.from({ length: 499 }, (_, i) => ({ step_key: `s${i}`, depends_on: ["first"] }));
  const run = await newRun(world.agent, { steps: [{ step_key: "first" }, ...waiting] });
  const done = ok(await act(world.agent, run, "complete", { step_key: "first" }));
  expect(done.newly_ready_steps).toHaveLength(499);
  const again = ok(await act(world.agent, run, "reopen", { step_key: "first", reason: "wrong" }));
  expect(again.demoted_successors).toHaveLength(499);
});

test("long runs are listed all, or as many as the limit, however many pages they take", async () => {
  const project_id = "long-runs";
  ok(await world.admin.post("/projects", { key: project_id }));
  const steps = Array.from({ length: 28 }, (_, i) => ({
    step_key: `s${i}`,
    instructions: "x".repeat(32_000),
  }));
  const made: string[] = [];
  for (let i = 0; i < 6; i++) made.unshift((await newRun(world.agent, { project_id, steps })).id);
  const listed = (query: string) => world.agent.get(`/runs?project_id=${project_id}${query}`);
  const page = await listed("&limit=2");
  expect(page.headers.get("x-total-count")).toBe("6");
  const ids = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);
  expect([...ids(page), ...ids(await listed("&limit=1&offset=2"))]).toEqual(made.slice(0, 3));
  expect(ids(await listed(""))).toEqual(made);
  expect(ids(await listed("&offset=5"))).toEqual(made.slice(5));
});

test("a hundred callers race on one step: one completes it, the others are told so", async () => {
  const run = await newRun(world.agent);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => act(world.agent, run, "complete", { step_key: "a" })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 200))
    await refused(answer, "step_not_completable");
  expect(keysOf(ok(await world.agent.get(at(run, "history"))).items)).toEqual(["a"]);
});

test("a run records each change of a hundred concurrent callers on one step", async () => {
  const run = await newRun(world.agent);
  const ways = ["complete", "skip", "reopen", "start"];
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const way = ways[i % ways.length] as string;
      const reason = { complete: {}, start: {} }[way] ?? { reason: "because" };
      return { way, ...(await act(world.agent, run, way, { step_key: "a", ...reason })) };
    }),
  );
  const times = (...those: string[]) =>
    answers.filter(({ way, status }) => those.includes(way) && status < 300).length;
  for (const { status } of answers) expect([200, 201, 409]).toContain(status);
  const { steps } = ok(await world.agent.get(`/runs/${run.id}`));
  const isDone = ["completed", "skipped"].includes(steps[0].status);
  expect(times("complete", "skip") - times("reopen")).toBe(isDone ? 1 : 0);
  expect(steps[0].attempts).toHaveLength(times("start"));
  const open = steps[0].attempts.filter((attempt: { ended_at: string | null }) => attempt.ended_at === null);
  if (isDone || steps[0].status === "ready") expect(open).toEqual([]);
});

test("different steps of one run are all done", async () => {
  const steps = Array.from({ length: 40 }, (_, i) => ({ step_key: `s${i}` }));
  const run = await newRun(world.agent, { steps });
  const answers = await Promise.all(
    steps.map(({ step_key }) => act(world.agent, run, "complete", { step_key })),
  );
  expect(answers.filter(({ body }) => body.run_completed)).toHaveLength(1);
  expect(ok(await world.agent.get(at(run, "history"))).items).toHaveLength(40);
});

test("a concurrent transition does not lose attachments of a run", async () => {
  const run = await newRun(world.agent);
  ok(await act(world.agent, run, "start", { step_key: "a" }));
  const exemplar = { display_name: "A model", filename: "model.md", content: "# Model" };
  const { id } = ok(await world.agent.post("/exemplars", exemplar));
  ok(await world.agent.post(at(run, "exemplars"), { exemplar_id: id }));
  const closed = ok(await world.agent.post(at(run, "close"), { outcome: "abandoned" }));
  expect(closed.exemplar_ids).toEqual([id]);
});

test("an exemplar that is attached again while somebody tries to delete it stays attached", async () => {
  const run = await newRun(world.agent);
  const { id } = ok(
    await world.agent.post("/exemplars", { display_name: "Kept", filename: "kept.md", content: "# Kept" }),
  );
  const attach = () => world.agent.post(at(run, "exemplars"), { exemplar_id: id });
  ok(await attach());
  const tries = Array.from({ length: 40 }, (_, i) =>
    i % 2 ? attach() : world.agent.del(`/exemplars/${id}`),
  );
  expect(new Set((await Promise.all(tries)).map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect(ok(await world.agent.get(`/runs/${run.id}`)).exemplar_ids).toEqual([id]);
});
