import { afterAll, expect, test } from "@jest/globals";
import { act, at, keysOf, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";

const server = await startShared("local");
const world = await makeWorld(server, "runs-position");
const member = ok(await world.member.get("/auth/me")).user.id;
afterAll(() => server.stop());

test("says what is ready and why, what waits for what, and what is the caller's", async () => {
  const steps = [
    { step_key: "a" },
    { step_key: "mine", depends_on: ["a"], assigned_user_id: member },
    { step_key: "free", depends_on: ["a"] },
    { step_key: "end", depends_on: ["mine", "free"] },
  ];
  const run = await newRun(world.agent, { steps });
  ok(await act(world.agent, run, "complete", { step_key: "a" }));
  ok(await act(world.agent, run, "start", { step_key: "free" }));
  const position = ok(await world.member.get(at(run, "position")));
  expect(position.run.id).toBe(run.id);
  expect(position.my_next).toMatchObject({ step_key: "mine", why_ready: "Done: a.", open_attempts: [] });
  expect(keysOf(position.ready_steps)).toEqual(["mine", "free"]);
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
  expect(ok(await world.agent.get(at(run, "position"))).my_next).toBeNull();
});

test("says of a step in progress that it waits again, when what it depends on is opened again", async () => {
  const run = await newRun(world.agent);
  ok(await act(world.agent, run, "complete", { step_key: "a" }));
  ok(await act(world.agent, run, "start", { step_key: "b" }));
  ok(await act(world.agent, run, "reopen", { step_key: "a", reason: "wrong" }));
  const { ready_steps } = ok(await world.agent.get(at(run, "position")));
  expect(ready_steps).toMatchObject([
    { step_key: "a", waiting_on: [], why_ready: "No dependencies. Reopened: wrong" },
    { step_key: "b", status: "in_progress", waiting_on: ["a"], why_ready: null },
  ]);
  expect((await world.agent.get(at(run, "status-document"))).body).toContain("in progress; waiting for a");
  expect(await act(world.member, run, "start", { step_key: "b" })).toMatchObject(
    refusal(409, "step_not_ready", { waiting_on: ["a"] }),
  );
  expect(ok(await act(world.agent, run, "complete", { step_key: "b" })).completed_step_key).toBe("b");
});

test("for an agent begins with its owner's step", async () => {
  ok(await world.admin.patch(`/agents/${world.agentId}`, { owner_user_id: member }));
  const run = await newRun(world.agent, {
    steps: [{ step_key: "first" }, { step_key: "owned", assigned_user_id: member }],
  });
  expect(ok(await world.agent.get(at(run, "position"))).my_next).toMatchObject({ step_key: "owned" });
  expect(ok(await world.admin.get(at(run, "position"))).my_next).toMatchObject({ step_key: "first" });
});

test("shows a step past its deadline as stale, and publishes one event", async () => {
  ok(await world.agent.post(`/agents/${world.agentId}/interests`, { event_type: "service.run.step_stale" }));
  const run = await newRun(world.agent, { steps: [{ step_key: "late", due_in_seconds: 1 }] });
  const { stale_steps } = await settle(async () => {
    const position = ok(await world.agent.get(at(run, "position")));
    return position.stale_steps.length > 0 && position;
  });
  expect(stale_steps).toEqual([
    expect.objectContaining({ step_key: "late", stale_reason: expect.any(String) }),
  ]);
  const told = await settle(async () => {
    const { deliveries } = ok(await world.agent.get("/delivery/poll?wait=10"));
    return deliveries.length > 0 && deliveries;
  });
  expect(told[0].payload).toMatchObject({
    type: "service.run.step_stale",
    data: { run_id: run.id, step_key: "late" },
  });
});

test("the assignee of the next step accepts a handoff offer", async () => {
  const steps = [
    { step_key: "draft", completion_mode: "handoff_accepted" },
    { step_key: "review", depends_on: ["draft"], assigned_user_id: member },
  ];
  const run = await newRun(world.agent, { steps });
  const made = await world.agent.post(at(run, "handoff-offers"), { step_key: "draft", note: "please" });
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
  const { offers, total } = ok(await world.agent.get(at(run, "handoff-offers")));
  expect([offers.length, total]).toEqual([1, 1]);
  const [item] = ok(await world.agent.get(at(run, "history"))).items;
  expect(item).toMatchObject({ step_key: "draft", handoff_offer_id: made.body.id });
});

test("people cannot accept their own offer, but can withdraw it", async () => {
  const run = await newRun(world.agent, { steps: [{ step_key: "a" }, { step_key: "b", depends_on: ["a"] }] });
  const first = ok(await world.member.post(at(run, "handoff-offers"), { step_key: "a" })).id;
  const own = await world.member.post(at(run, `handoff-offers/${first}/accept`), {});
  expect(own).toMatchObject(refusal(403, "forbidden", { step_key: "a", offer_id: first }));
  expect(ok(await world.agent.get(`/runs/${run.id}`)).steps[0].status).toBe("ready");
  expect(ok(await world.member.post(at(run, `handoff-offers/${first}/decline`), {})).status).toBe("declined");
});

test("another person accepts a person's offer", async () => {
  const run = await newRun(world.agent, { steps: [{ step_key: "a" }, { step_key: "b", depends_on: ["a"] }] });
  const offer = ok(await world.member.post(at(run, "handoff-offers"), { step_key: "a" })).id;
  expect(ok(await world.admin.post(at(run, `handoff-offers/${offer}/accept`), {}))).toMatchObject({
    ...{ completed_step: { step_key: "a", status: "completed" }, attempt: { actor_kind: "user" } },
  });
});

test("closing the run ends open attempts and offers", async () => {
  const run = await newRun(world.agent);
  ok(await act(world.agent, run, "start", { step_key: "a" }));
  const { id } = ok(await world.agent.post(at(run, "handoff-offers"), { step_key: "a" }));
  const { closed_at } = ok(await world.agent.post(at(run, "close"), { outcome: "abandoned" }));
  expect(ok(await world.agent.get(`/runs/${run.id}`)).steps[0]).toMatchObject({
    status: "in_progress",
    attempts: [{ outcome: "closed", ended_at: closed_at }],
  });
  expect(ok(await world.agent.get(at(run, "handoff-offers"))).offers).toEqual([
    expect.objectContaining({ id, status: "declined", decided_at: closed_at, decided_by: null }),
  ]);
});

test("a step is assigned to another person, and unassigned again", async () => {
  const event_type = "service.run.step_assigned";
  ok(await world.agent.post(`/agents/${world.agentId}/interests`, { event_type }));
  const steps = [
    { step_key: "a", completion_mode: "handoff_accepted" },
    { step_key: "b", depends_on: ["a"] },
  ];
  const run = await newRun(world.agent, { steps });
  const assign = (step_key: string, assigned_user_id: string | null) =>
    act(world.agent, run, "assign", { step_key, assigned_user_id });
  const mine = { step_key: "a", assigned_user_id: member, completion_mode: "handoff_accepted" };
  expect(ok(await assign("a", member))).toMatchObject({ run_id: run.id, assigned_step: mine });
  expect(ok(await world.member.get(at(run, "position"))).my_next).toMatchObject(mine);
  expect(ok(await world.admin.get(at(run, "position"))).my_next).toBeNull();
  // The same again is no change.
  const { updated_at } = ok(await world.agent.get(`/runs/${run.id}`));
  ok(await assign("a", member));
  expect(ok(await world.agent.get(`/runs/${run.id}`)).updated_at).toBe(updated_at);
  ok(await act(world.agent, run, "start", { step_key: "a" }));
  expect(ok(await assign("a", null)).assigned_step).toMatchObject({
    ...{ assigned_user_id: null, status: "in_progress" },
  });
  const told = await settle(async () => {
    const { deliveries } = ok(await world.agent.get("/delivery/poll?wait=10"));
    const payloads = deliveries.map(({ payload }: { payload: object }) => payload);
    return payloads.find(
      ({ type, data }: { type: string; data: { assigned_user_id?: string } }) =>
        type === event_type && data.assigned_user_id,
    );
  });
  expect(told.data).toMatchObject({ run_id: run.id, step_key: "a", assigned_user_id: member });

  expect(await assign("z", member)).toMatchObject(refusal(404, "not_found"));
  const stranger = await assign("b", `usr_${"0".repeat(20)}`);
  expect(stranger).toMatchObject(refusal(400, "validation_error", { field: "assigned_user_id" }));
  ok(await world.agent.post(at(run, "close"), { outcome: "abandoned" }));
  expect(await assign("b", member)).toMatchObject(refusal(409, "conflict"));
});
