import { expect, test } from "@jest/globals";
import { act, at, keysOf, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "deadlines");

const SHIP = { step_key: "ship", depends_on: ["pay"] };
const late = (on_deadline: string) => [{ step_key: "pay", deadline_seconds: 1, on_deadline }, SHIP];
const DEADLINE = { actor_kind: "deadline", actor_id: expect.any(String) };

/** Returns what was done in a run once something of this kind was. */
const actionsUntil = (run: { id: string }, kind: string) =>
  settle(async () => {
    const { actions } = ok(await world.agent.get(at(run, "history?include=actions")));
    return kindsOf(actions).includes(kind) && actions;
  });

const kindsOf = (actions: { kind: string }[]) => actions.map(({ kind }) => kind);

test("a deadline only notifies by default: the event is published, and the step goes on", async () => {
  ok(
    await world.agent.post(`/agents/${world.agentId}/interests`, {
      event_type: "service.run.step_deadline_passed",
    }),
  );
  const run = await newRun(world.agent, { steps: [{ step_key: "pay", deadline_seconds: 1 }, SHIP] });
  expect(run.steps).toMatchObject([
    { deadline_seconds: 1, on_deadline: "notify", deadline_at: expect.any(String) },
    { deadline_seconds: null, on_deadline: "notify", deadline_at: null },
  ]);
  const told = await settle(async () => {
    const { deliveries } = ok(await world.agent.get("/delivery/poll?wait=5"));
    return deliveries.find(({ payload }: { payload: { subject: string } }) => payload.subject === run.id);
  });
  expect(told.payload.data).toMatchObject({ run_id: run.id, step_key: "pay", ...DEADLINE });
  const { ready_steps } = ok(await world.agent.get(at(run, "position")));
  expect(ready_steps).toMatchObject([
    { step_key: "pay", status: "ready", deadline_at: run.steps[0].deadline_at },
  ]);
  ok(await act(world.agent, run, "complete", { step_key: "pay" }));
  expect(kindsOf(await actionsUntil(run, "step_completed"))).toEqual([
    ...["created", "step_deadline_passed", "step_completed"],
  ]);
});

test("a deadline skips a step that waits for an event, which then completes nothing", async () => {
  const [pay, ship] = late("skip");
  const steps = [{ ...pay, wait_for: { event_type: "com.example.late" } }, ship];
  const run = await newRun(world.agent, { steps });
  const actions = await actionsUntil(run, "step_skipped");
  expect(kindsOf(actions)).toEqual(["created", "step_deadline_passed", "step_skipped"]);
  expect(actions.slice(1)).toMatchObject([
    { ...DEADLINE, step_key: "pay" },
    { ...DEADLINE, notes: 'The deadline of 1 seconds for "pay" has passed.' },
  ]);
  const event = { specversion: "1.0", type: "com.example.late", source: "/shop", id: "late" };
  const { event_id } = ok(await world.agent.post("/events", event));
  await settle(async () => ok(await world.admin.get(`/events/${event_id}`)).matched_at);
  const now = ok(await world.agent.get(`/runs/${run.id}`));
  expect(now.steps).toMatchObject([
    { status: "skipped", waiting_since: null, deadline_at: null },
    { status: "ready" },
  ]);
});

test("a deadline abandons the run", async () => {
  const run = await newRun(world.agent, { steps: late("abandon") });
  expect((await actionsUntil(run, "closed")).at(-1)).toMatchObject(DEADLINE);
  expect(ok(await world.agent.get(`/runs/${run.id}`))).toMatchObject({
    ...{ status: "closed", outcome: "abandoned", closed_by_user_id: null },
    ...{ close_note: expect.stringContaining('"pay"'), closed_at: expect.any(String) },
  });
  await refused(act(world.agent, run, "complete", { step_key: "pay" }), "conflict");
});

test("a deadline counts from ready, and again after the step is reopened", async () => {
  const steps = [{ step_key: "order" }, { ...late("skip")[0], depends_on: ["order"] }];
  const run = await newRun(world.agent, { steps });
  expect(run.steps[1].deadline_at).toBeNull();
  ok(await act(world.agent, run, "complete", { step_key: "order" }));
  await actionsUntil(run, "step_skipped");
  ok(await act(world.agent, run, "reopen", { step_key: "pay", reason: "Once more" }));
  await settle(async () => {
    const { actions } = ok(await world.agent.get(at(run, "history?include=actions")));
    return kindsOf(actions).filter((kind) => kind === "step_skipped").length === 2;
  });
});

test("of a deadline and an event at once, one decides", async () => {
  const steps = [{ ...late("skip")[0], wait_for: { event_type: "com.example.race.*" } }, SHIP];
  const runs = await Promise.all(Array.from({ length: 6 }, () => newRun(world.agent, { steps })));
  // Events come until the deadlines have passed.
  await settle(async () => {
    const event = {
      ...{ specversion: "1.0", type: "com.example.race.paid", source: "/shop", id: String(Math.random()) },
    };
    const deadlines = runs.map((run) => Date.parse(run.steps[0].deadline_at));
    if (Date.now() >= Math.min(...deadlines) - 50) ok(await world.agent.post("/events", event));
    const now = await Promise.all(runs.map(async (run) => ok(await world.agent.get(`/runs/${run.id}`))));
    return now.every((run) => run.steps[1].status === "ready");
  });
  for (const run of runs) {
    const { actions } = ok(await world.agent.get(at(run, "history?include=actions")));
    const done = kindsOf(actions).filter((kind) => kind === "step_completed" || kind === "step_skipped");
    expect(done).toHaveLength(1);
  }
});

test("deadlines are checked with the steps", async () => {
  for (const step of [{ deadline_seconds: 0 }, { on_deadline: "explode" }]) {
    const answer = await world.agent.post("/runs", { goal: "g", steps: [{ step_key: "pay", ...step }] });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.field).toMatch(/^steps.0/);
  }
  expect(keysOf(ok(await world.agent.get("/runs"))[0].steps)).not.toEqual([]);
});
