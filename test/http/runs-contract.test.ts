import { expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { act, at, DIAMOND, keysOf, newRun } from "../support/runs.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, FAILED, INVALID, MISSING, makeWorld, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const world = await makeWorld(server, "runs-contract");
const agent = world.agent;

const runOf = async (steps: object[]) => ok(await agent.post("/runs", { goal: "Get it done", steps }));
const post = (run: { id: string }, what: string, body: object, by = agent) =>
  by.post(`/runs/${run.id}/${what}`, body);
const base64 = (text: string) => Buffer.from(text).toString("base64");

test("an artifact's content is available when its step is completed, and appears in the history", async () => {
  const run = await runOf([{ step_key: "a" }, { step_key: "b" }]);
  const attempt = ok(await post(run, "steps/start", { step_key: "a" }));
  const register = async (display_name: string, more: object = {}) =>
    ok(await post(run, "artifacts", { kind: "document", pointer: { display_name }, ...more }));
  await register("Begun with", { step_record_id: attempt.id });
  await register("Of no step");
  const evidence = await register("Evidence");
  const held = {
    ...{ artifact_id: evidence.id.toUpperCase(), content_base64: base64("hello"), mime_type: "text/plain" },
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
  const run = await runOf([
    { step_key: "a", completion_mode: "handoff_accepted" },
    { step_key: "b", depends_on: ["a"], specialist_name: "closer" },
  ]);
  const offer = ok(await post(run, "handoff-offers", { step_key: "a" }));
  const { attempt } = ok(await post(run, `handoff-offers/${offer.id}/accept`, {}));
  expect(attempt.specialist).toMatchObject({ name: "closer", system_prompt: "You close." });
});

test("every run of the tenant is listed, and with a limit so many", async () => {
  const { length: before } = ok(await agent.get("/runs"));
  const made = await Promise.all(Array.from({ length: 205 }, () => runOf([])));
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
  await refused(agent.get("/runs?limit=201"), "validation_failed");
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
  ["an offer whose id is none", "handoff-offers", { handoff_id: "x" }, "validation_error", "handoff_id"],
])("refuses %s", async (_, what, body, code, field) => {
  const run = await runOf([{ step_key: "a" }]);
  expect(await post(run, what, { step_key: "a", ...body })).toMatchObject(refusal(400, code, { field }));
});

test("refuses contents that are no base64, and completes nothing", async () => {
  const run = await runOf([{ step_key: "a" }]);
  const { id } = ok(await post(run, "artifacts", { kind: "document", pointer: {} }));
  const artifact_contents = [{ artifact_id: id, content_base64: "abc", mime_type: "text/plain" }];
  await refused(
    post(run, "steps/complete", { step_key: "a", artifact_contents }),
    "validation_failed",
    "artifact_contents.0.content_base64",
  );
  expect(ok(await agent.get(`/runs/${run.id}`)).steps[0].status).toBe("ready");
});

test("refuses a step that is assigned twice", async () => {
  const steps = [{ step_key: "a", completion_mode: "attestation" }];
  const template = ok(await agent.post("/process-templates", { name: "t", slug: "assigned", steps }));
  const assigned_user_id = ok(await world.member.get("/auth/me")).user.id;
  const step_assignments = ["a", "a"].map((step_key) => ({ step_key, assigned_user_id }));
  await refused(
    agent.post("/runs", { goal: "g", template_id: template.id, step_assignments }),
    "validation_error",
    "step_assignments.1.step_key",
  );
});

const member = ok(await world.member.get("/auth/me")).user.id;

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
    ...{ step_key: "a", actor_id: world.agentId, handoff_offer_id: null },
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
  await refused(act(world.member, run, "start", { step_key: "b" }), "step_not_ready", { waiting_on: ["a"] });
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
  await refused(world.admin.post(at(run, `${offer}/accept`), {}), "forbidden");
  const accepted = ok(await world.member.post(at(run, `${offer}/accept`), {}));
  expect(accepted).toMatchObject({
    offer: { status: "accepted", decided_by: { actor_kind: "user", actor_id: member } },
    run_completed: false,
    ...{ completed_step: { step_key: "draft", status: "completed" }, attempt: { actor_id: member } },
  });
  await refused(world.member.post(at(run, `${offer}/decline`), {}), "conflict");
  const { offers, total } = ok(await world.agent.get(at(run, "handoff-offers")));
  expect([offers.length, total]).toEqual([1, 1]);
  const [item] = ok(await world.agent.get(at(run, "history"))).items;
  expect(item).toMatchObject({ step_key: "draft", handoff_offer_id: made.body.id });
});

test("people cannot accept their own offer, but can withdraw it", async () => {
  const run = await newRun(world.agent, { steps: [{ step_key: "a" }, { step_key: "b", depends_on: ["a"] }] });
  const first = ok(await world.member.post(at(run, "handoff-offers"), { step_key: "a" })).id;
  const own = await world.member.post(at(run, `handoff-offers/${first}/accept`), {});
  await refused(own, "forbidden", { step_key: "a", offer_id: first });
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

  await refused(assign("z", member), "not_found");
  const stranger = await assign("b", `usr_${"0".repeat(20)}`);
  await refused(stranger, "validation_error", "assigned_user_id");
  ok(await world.agent.post(at(run, "close"), { outcome: "abandoned" }));
  await refused(assign("b", member), "conflict");
});

test.each<[string, object, number, string, object]>([
  ["no goal", { goal: " " }, ...FAILED, { field: "goal" }],
  ["twin keys", { steps: [{ step_key: "a" }, { step_key: "a" }] }, ...INVALID, { field: "steps.1.step_key" }],
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
])("refused, and nothing is changed: a run with %s", async (_, body, status, code, details) => {
  const before = ok(await world.agent.get("/runs")).length;
  expect(await world.agent.post("/runs", { goal: "g", steps: DIAMOND, ...body })).toMatchObject(
    refusal(status, code, details),
  );
  expect(ok(await world.agent.get("/runs")).length).toBe(before);
});

const kept = (content_base64: string) => ({
  step_key: "a",
  artifact_contents: [{ artifact_id: ABSENT, content_base64, mime_type: "text/plain" }],
});
test.each<[string, string, object, number, string]>([
  ["start what is blocked", "start", { step_key: "b" }, 409, "step_not_ready"],
  ["start an unknown step", "start", { step_key: "z" }, 404, "not_found"],
  ["keep what is no artifact", "complete", kept("aGk="), ...INVALID],
  ["keep what is no base64", "complete", kept("?"), ...FAILED],
  ["skip without a reason", "skip", { step_key: "a" }, 400, "validation_failed"],
])("refused, and nothing is changed: to %s", async (_, what, body, status, code) => {
  const run = await newRun(world.agent);
  const before = ok(await world.agent.get(`/runs/${run.id}`));
  expect(await act(world.agent, run, what, body)).toMatchObject(refusal(status, code));
  expect(ok(await world.agent.get(`/runs/${run.id}`))).toEqual(before);
});

test("refused, and nothing is changed: a handoff or a bundle that is not the caller's, unless it was offered in the run", async () => {
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

test("refused, and nothing is changed: refusals name the allowed values", async () => {
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

test("refused, and nothing is changed: an artifact whose pointer has other keys, or that belongs to no record", async () => {
  const run = await newRun(world.agent);
  const pointer = { uri: "file:///x", secret: "y" };
  await refused(world.agent.post(at(run, "artifacts"), { kind: "k", pointer }), "validation_failed");
  for (const uri of ["javascript:alert(1)", "data:text/html,x", " vbscript:x"]) {
    await refused(
      world.agent.post(at(run, "artifacts"), { kind: "k", pointer: { uri } }),
      "validation_failed",
      "pointer.uri",
    );
    const steps = [{ step_key: "a", reference_pointer: { uri } }];
    await refused(
      world.agent.post("/runs", { goal: "g", steps }),
      "validation_failed",
      "steps.0.reference_pointer.uri",
    );
  }
  const body = { kind: "k", pointer: {}, step_record_id: ABSENT };
  await refused(world.agent.post(at(run, "artifacts"), body), "validation_error", "step_record_id");
  expect(ok(await world.agent.get(at(run, "artifacts")))).toEqual({ artifacts: [], total: 0 });
});

test("refused, and nothing is changed: an artifact more than a run may have, which another run takes", async () => {
  const [run, other] = [await newRun(world.agent), await newRun(world.agent)];
  const body = { kind: "k", pointer: {} };
  for (let taken = 0; taken < 1000; taken += 50) {
    const taking = Array.from({ length: 50 }, () => world.agent.post(at(run, "artifacts"), body));
    for (const { status } of await Promise.all(taking)) expect(status).toBe(201);
  }
  await refused(world.agent.post(at(run, "artifacts"), body), "business_rule_violation", {
    rule: "run_limit",
  });
  expect(ok(await world.agent.get(at(run, "artifacts")))).toMatchObject({ total: 1000 });
  expect(await world.agent.post(at(other, "artifacts"), body)).toMatchObject({ status: 201 });
});
