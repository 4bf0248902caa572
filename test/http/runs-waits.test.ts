import { expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { type Api, api } from "../support/http.ts";
import { act, at, keysOf, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

let nth = 0;

const server = await useShared();
const world = await makeWorld(server, "waits");

const PAID = "com.example.order.paid";
const PAYMENT = {
  step_key: "payment",
  wait_for: { event_type: PAID, filter_expression: "data.order_id == run.values.order_id" },
};
const SHIP = { step_key: "ship", depends_on: ["payment"] };

async function publish(by: Api, data: object, type = PAID): Promise<string> {
  const sent = ok(
    await by.post("/events", { specversion: "1.0", type, source: "/shop", id: `waits-${nth++}`, data }),
  );
  return sent.event_id;
}

/** Reads a run once its step is completed. */
const completed = (run: { id: string }, step_key: string) =>
  settle(async () => {
    const now = ok(await world.agent.get(`/runs/${run.id}`));
    return statusOf(now, step_key) === "completed" && now;
  });

const statusOf = ({ steps }: { steps: { step_key: string; status: string }[] }, step_key: string) =>
  steps.find((step) => step.step_key === step_key)?.status;

test("a step that waits starts by itself, and the event with the run's value completes it", async () => {
  const values = { order_id: 'a"7', express: true };
  const run = await newRun(world.agent, { steps: [PAYMENT, SHIP], values });
  expect(run).toMatchObject({ values, status: "active" });
  expect(run.steps[0]).toMatchObject({
    ...{ status: "in_progress", completion_mode: "attestation", wait_for: PAYMENT.wait_for },
    waiting_since: expect.stringMatching(/^20/),
  });
  expect(run.steps[1]).toMatchObject({ wait_for: null, waiting_since: null });
  await publish(world.agent, { order_id: "another" });
  const event_id = await publish(world.agent, { order_id: 'a"7' });
  const after = await completed(run, "payment");
  expect(after.steps[0]).toMatchObject({ waiting_since: null });
  expect(statusOf(after, "ship")).toBe("ready");
  const event = { id: event_id, type: PAID, source: "/shop", subject: null };
  const { items, actions } = ok(await world.agent.get(at(run, "history?include=actions")));
  expect(items).toEqual([
    expect.objectContaining({ step_key: "payment", actor_kind: "event", actor_id: event_id, event }),
  ]);
  expect(actions.at(-1)).toMatchObject({ kind: "step_completed", event, notes: `Event ${PAID} from /shop` });
});

test("an event before the step is ready does not count, one at the moment after does", async () => {
  const steps = [{ step_key: "order" }, { ...PAYMENT, depends_on: ["order"] }];
  const run = await newRun(world.agent, { steps, values: { order_id: "early" } });
  expect(statusOf(run, "payment")).toBe("blocked");
  await publish(world.agent, { order_id: "early" });
  const done = ok(await act(world.agent, run, "complete", { step_key: "order" }));
  expect(done.run_completed).toBe(false);
  expect(ok(await world.agent.get(at(run, "position")))).toMatchObject({
    my_next: null,
    ready_steps: [{ step_key: "payment", status: "in_progress", waiting_since: expect.any(String) }],
  });
  const event_id = await publish(world.agent, { order_id: "early" });
  const after = await completed(run, "payment");
  expect(after.status).toBe("completed");
  const { items } = ok(await world.agent.get(at(run, "history")));
  expect(items.at(-1).actor_id).toBe(event_id);
});

test("of many events at once, one completes the step, once", async () => {
  const run = await newRun(world.agent, { steps: [PAYMENT, SHIP], values: { order_id: "often" } });
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => publish(world.agent, { order_id: "often" })),
  );
  await completed(run, "payment");
  await allFannedOut(ids);
  const { items } = ok(await world.agent.get(at(run, "history")));
  expect(items).toHaveLength(1);
  expect(ids).toContain(items[0].event.id);
});

test("one event completes the steps of all runs that wait for it", async () => {
  const steps = [{ step_key: "payment", wait_for: { event_type: "com.example.batch.*" } }];
  const runs = await Promise.all(Array.from({ length: 5 }, () => newRun(world.agent, { steps })));
  await publish(world.agent, {}, "com.example.batch.done");
  for (const run of runs) expect((await completed(run, "payment")).status).toBe("completed");
});

test("a wait ends with its step and its run, and begins again when the step is reopened", async () => {
  const order = async (order_id: string) =>
    newRun(world.agent, { steps: [PAYMENT, SHIP], values: { order_id } });
  const [skipped, closed, reopened] = [await order("skip"), await order("close"), await order("again")];
  ok(await act(world.agent, skipped, "skip", { step_key: "payment", reason: "Paid in cash" }));
  ok(await world.agent.post(at(closed, "close"), { outcome: "abandoned" }));
  ok(await act(world.agent, reopened, "complete", { step_key: "payment", what_makes_this_done: "Seen" }));
  const ids = [
    await publish(world.agent, { order_id: "skip" }),
    await publish(world.agent, { order_id: "close" }),
  ];
  ids.push(await publish(world.agent, { order_id: "again" }));
  await allFannedOut(ids);
  for (const run of [skipped, closed, reopened]) {
    const { items } = ok(await world.agent.get(at(run, "history")));
    expect(items.filter((item: { event: object | null }) => item.event)).toEqual([]);
  }
  const again = ok(await act(world.agent, reopened, "reopen", { step_key: "payment", reason: "Bounced" }));
  expect(again.reopened_step).toMatchObject({ status: "in_progress", waiting_since: expect.any(String) });
  const event_id = await publish(world.agent, { order_id: "again" });
  await completed(reopened, "payment");
  const { items } = ok(await world.agent.get(at(reopened, "history")));
  expect(items.map(({ actor_kind }: { actor_kind: string }) => actor_kind)).toEqual(["agent", "event"]);
  expect(items[1].event.id).toBe(event_id);
});

test("a step that waits becomes blocked when its dependency is reopened, and waits again after it", async () => {
  const steps = [{ step_key: "order" }, { ...PAYMENT, depends_on: ["order"] }];
  const run = await newRun(world.agent, { steps, values: { order_id: "back" } });
  ok(await act(world.agent, run, "complete", { step_key: "order" }));
  const reopened = ok(await act(world.agent, run, "reopen", { step_key: "order", reason: "Wrong" }));
  expect(reopened.demoted_successors).toMatchObject([{ step_key: "payment", status: "blocked" }]);
  await allFannedOut([await publish(world.agent, { order_id: "back" })]);
  expect(statusOf(ok(await world.agent.get(`/runs/${run.id}`)), "payment")).toBe("blocked");
  ok(await act(world.agent, run, "complete", { step_key: "order" }));
  await publish(world.agent, { order_id: "back" });
  await completed(run, "payment");
});

test("events of another organisation complete nothing", async () => {
  const other = await makeWorld(server, "waits-other");
  const run = await newRun(world.agent, { steps: [PAYMENT], values: { order_id: "ours" } });
  const foreign = await publish(other.agent, { order_id: "ours" });
  await allFannedOut([foreign], other);
  expect(statusOf(ok(await world.agent.get(`/runs/${run.id}`)), "payment")).toBe("in_progress");
  await publish(world.agent, { order_id: "ours" });
  await completed(run, "payment");
});

test("an event with an audience completes only the runs of those who may see it", async () => {
  const wait_for = { event_type: "service.memory.created", filter_expression: "event.subject != ''" };
  const steps = [{ step_key: "told", wait_for }];
  const token = await world.tokenWith(["memory:read", "memory:write", "receive"]);
  const stranger = api(server, token);
  const [own, others, person] = await Promise.all(
    [world.agent, stranger, world.member].map((by) => newRun(by, { steps })),
  );
  ok(
    await world.agent.post("/memories", {
      ...{ type: "semantic", title: "Mine", content: "Only mine", scope: "agent" },
    }),
  );
  const private_id = (await completed(own, "told")) && (await eventOf(own));
  ok(
    await world.agent.post("/memories", {
      ...{ type: "semantic", title: "All", content: "For everybody", scope: "institutional" },
    }),
  );
  for (const run of [others, person]) {
    await completed(run, "told");
    expect(await eventOf(run)).not.toBe(private_id);
  }
});

test("templates keep what their steps wait for, and refuse what cannot be", async () => {
  const author = (step: object) =>
    world.agent.post("/process-templates", { name: "Orders", slug: "waits-orders", steps: [step] });
  const attested = { ...PAYMENT, completion_mode: "attestation" };
  const template = ok(await author(attested));
  expect(template.steps[0].wait_for).toEqual(PAYMENT.wait_for);
  const missing = await world.agent.post("/runs", { goal: "Ship", template_id: template.id });
  expect(missing).toMatchObject(refusal(400, "validation_error"));
  expect(missing.body.error).toMatchObject({
    details: { field: "values" },
    message: expect.stringContaining("`run.values.order_id` has no value"),
  });
  const values = { order_id: "of a template" };
  const run = ok(await world.agent.post("/runs", { goal: "Ship", template_id: template.id, values }));
  await publish(world.agent, { order_id: "of a template" });
  await completed(run, "payment");
  const refused = [
    { ...attested, completion_mode: "handoff_accepted" },
    { ...attested, completion_criteria: [{ key: "seen", description: "It was seen." }] },
    { ...attested, wait_for: { event_type: "com.[" } },
    { ...attested, wait_for: { event_type: PAID, filter_expression: "data.order_id ==" } },
  ];
  for (const step of refused) {
    const answer = await author(step);
    expect(answer).toMatchObject(refusal(400, "validation_error"));
    expect(answer.body.error.details.field).toMatch(/^steps.0.wait_for/);
  }
});

/** Returns the id of the event that completed a run's only step. */
const eventOf = async (run: { id: string }): Promise<string> =>
  ok(await world.agent.get(at(run, "history"))).items[0].event.id;

/** Resolves when fan-out is done with events: what they end has ended. */
async function allFannedOut(ids: string[], { admin } = world): Promise<void> {
  for (const id of ids) await settle(async () => ok(await admin.get(`/events/${id}`)).matched_at);
}

test("an agent that may not receive events cannot wait for them", async () => {
  const deaf = await newAgent(server, world.admin, ["memory:read", "memory:write"]);
  const answer = await deaf.post("/runs", { goal: "g", steps: [PAYMENT], values: { order_id: "1" } });
  await refused(answer, "insufficient_scope", { required_scope: "receive" });
});

const AFTER_PAY = { step_key: "ship", depends_on: ["pay"] };
const late = (on_deadline: string) => [{ step_key: "pay", deadline_seconds: 1, on_deadline }, AFTER_PAY];
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
  const run = await newRun(world.agent, { steps: [{ step_key: "pay", deadline_seconds: 1 }, AFTER_PAY] });
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
  const steps = [{ ...late("skip")[0], wait_for: { event_type: "com.example.race.*" } }, AFTER_PAY];
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
