import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isFault } from "../../lib/contract/faults.ts";
import { attemptsOn, openAttempts } from "../../services/work/runs/facts.ts";
import { accept, decline, offer } from "../../services/work/runs/offers.ts";
import { buildRetrospective } from "../../services/work/runs/read.ts";
import { type Change, isDone, type RunState, waitingOn } from "../../services/work/runs/run-state.ts";
import type { PlacedFact, Run, StepDef, StepProgress } from "../../services/work/runs/runs.model.ts";
import { MOST_CHANGES, MOST_NOTES, MOST_OFFERS } from "../../services/work/runs/shapes.contract.ts";
import {
  begin,
  close,
  complete,
  reopen,
  skip,
  start,
  withModes,
} from "../../services/work/runs/transitions.ts";
import { checkSteps } from "../../services/work/templates/steps.ts";

const actor = { actor_kind: "agent", actor_id: "ag_1" } as const;
const T0 = Date.UTC(2026, 0, 1);
const doing = (seconds = 0) => ({ actor, at: new Date(T0 + seconds * 1000) });

function step(step_key: string, depends_on: string[] = [], more: Partial<StepDef> = {}): StepDef {
  return {
    ...{ id: step_key, step_key, ordinal: 1, title: step_key, role: null, specialist_name: null },
    ...{ instructions: null, depends_on, completion_criteria: [], completion_mode: "attestation" },
    ...{ expected_artifact_kinds: [], assigned_user_id: null, reference_pointer: null, reference_note: null },
    ...{ due_in_seconds: null, wait_for: null, deadline_seconds: null, on_deadline: "notify" },
    ...more,
  };
}

function runOf(steps: StepDef[]): RunState {
  return { _id: "run", steps, version: 1, ...begin("run", steps, doing()) };
}

const apply = (run: RunState, { status, progress, offers, noted }: Change): RunState => ({
  ...run,
  ...{ status, progress, offers, noted, version: run.version + 1 },
});
const kinds = ({ facts }: Change) =>
  facts.map(({ kind, step_key }) => (step_key ? `${kind} ${step_key}` : kind));
const startIt = { ...doing(), record_id: "r", handoff_id: null, bundle_id: null, notes: null };
const doneNow = { ...doing(), record_id: "r", criterion_key: null, notes: null, snapshots: [] };
const because = { ...doing(), record_id: "r", reason: "so" };

/** The code of the fault that something throws. */
function faultOf(act: () => unknown): string {
  try {
    act();
  } catch (err) {
    if (isFault(err)) return err.type;
    throw err;
  }
  return "none";
}

test("what is reopened is told, with the ready successors that it blocks and the run that is active again", () => {
  let run = runOf([step("a"), step("b", ["a"]), step("c", ["a"]), step("d", ["b", "c"])]);
  run = apply(run, complete(run, "a", doneNow));
  run = apply(run, start(run, "b", startIt));
  expect(kinds(reopen(run, "a", because))).toEqual(["step_reopened a", "step_ready a", "step_blocked c"]);
  for (const key of ["b", "c", "d"]) run = apply(run, complete(run, key, doneNow));
  expect(kinds(reopen(run, "d", because))).toEqual(["step_reopened d", "step_ready d", "reactivated"]);
});

test.each<[string, (run: RunState) => unknown, string]>([
  ["start what is blocked", (run) => start(run, "b", startIt), "step_not_ready"],
  ["start what is completed", (run) => start(run, "done", startIt), "step_not_ready"],
  ["complete what is blocked", (run) => complete(run, "b", doneNow), "step_not_ready"],
  ["complete what is completed", (run) => complete(run, "done", doneNow), "step_not_completable"],
  ["complete what completes by handoff", (run) => complete(run, "offered", doneNow), "step_not_completable"],
  [
    "attest no criterion",
    (run) => complete(run, "a", { ...doneNow, criterion_key: "x" }),
    "validation_error",
  ],
  ["skip what is completed", (run) => skip(run, "done", because), "step_not_skippable"],
  ["reopen what is ready", (run) => reopen(run, "a", because), "step_not_reopenable"],
  ["any unknown step", (run) => start(run, "nowhere", startIt), "not_found"],
  [
    "offer what is blocked",
    (run) => offer(run, "b", { ...doing(), id: "o", handoff_id: null, note: null }),
    "step_not_ready",
  ],
  [
    "accept an unknown offer",
    (run) => accept(run, { ...doing(), offer_id: "o", record_ids: ["1", "2"], person: null }),
    "not_found",
  ],
])("refused: to %s", (_, act, code) => {
  const steps = [
    ...[step("a"), step("b", ["a"]), step("done")],
    step("offered", [], { completion_mode: "handoff_accepted" }),
  ];
  let run = runOf(steps);
  run = apply(run, complete(run, "done", doneNow));
  expect(faultOf(() => act(run))).toBe(code);
  expect(faultOf(() => act(apply(run, close(run, { ...doing(), outcome: "achieved", note: null }))))).toBe(
    code === "not_found" ? "not_found" : "conflict",
  );
});

test("criteria are attested one by one, and the last completes the step", () => {
  const criteria = ["x", "y"].map((key) => ({ key, description: key }));
  let run = runOf([step("a", [], { completion_criteria: criteria, completion_mode: "handoff_accepted" })]);
  const first = complete(run, "a", { ...doneNow, criterion_key: "x" });
  expect(kinds(first)).toEqual(["criterion_attested a"]);
  run = apply(run, first);
  expect(run.progress[0]).toMatchObject({ status: "in_progress", attested: ["x"] });
  expect(apply(run, complete(run, "a", { ...doneNow, criterion_key: "x" })).progress[0]?.attested).toEqual([
    "x",
  ]);
  expect(kinds(complete(run, "a", { ...doneNow, criterion_key: "y" }))).toEqual([
    "step_completed a",
    "completed",
  ]);
  expect(complete(run, "a", doneNow).progress[0]?.attested).toEqual(["x", "y"]);
});

test("what a step took is counted each time it is done, with attempts that overlap counted once", () => {
  let run = runOf([step("a")]);
  const at = (seconds: number) => ({ ...startIt, ...doneNow, ...because, ...doing(seconds) });
  const acts = [start, start, complete, reopen, start, skip, reopen, start, complete];
  const times = [10, 20, 40, 100, 101, 105, 200, 203, 210];
  for (const [i, act] of acts.entries()) run = apply(run, act(run, "a", at(times[i] as number)));
  const [item] = buildRetrospective(run as Run, []);
  expect(item).toMatchObject({ elapsed_seconds: 40 + 5 + 10, active_seconds: 30 + 4 + 7 });
});

test("a run has a limit of notes and evidence, and can still be closed", () => {
  const notes = "\u0001".repeat(MOST_NOTES / 6 - 2);
  const run = apply(runOf([step("a")]), start(runOf([step("a")]), "a", { ...startIt, notes }));
  const tooMuch = expect.objectContaining({ data: expect.objectContaining({ rule: "run_limit" }) });
  expect(() => start(run, "a", { ...startIt, notes: "more" })).toThrow(tooMuch);
  const snapshots = [{ artifact_id: "x", hash: "y", size: 1, mime_type: "text/plain" }];
  expect(() => complete(run, "a", { ...doneNow, snapshots })).toThrow(tooMuch);
  expect(complete(run, "a", doneNow).status).toBe("completed");
  expect(close(run, { ...doing(), outcome: "achieved", note: "It is." }).status).toBe("closed");
});

test("a run that was changed too often can only be closed", () => {
  const run = { ...runOf([step("a")]), version: MOST_CHANGES };
  for (const act of [
    () => start(run, "a", startIt),
    () => complete(run, "a", doneNow),
    () => offer(run, "a", { ...doing(), id: "o", handoff_id: null, note: null }),
  ])
    expect(act).toThrow(expect.objectContaining({ data: expect.objectContaining({ rule: "run_limit" }) }));
  expect(close(run, { ...doing(), outcome: "abandoned", note: null }).status).toBe("closed");
});

test("reports the maximum number of attempts at once, each with its end", () => {
  const told = (kind: PlacedFact["kind"], version: number) =>
    ({ ...doing(), kind, step_key: "a", record_id: `r${version}`, version }) as PlacedFact;
  const facts = Array.from({ length: MOST_CHANGES }, (_, version) => told("step_started", version));
  const [completed, last] = [told("step_completed", MOST_CHANGES), told("step_started", MOST_CHANGES + 1)];
  const attempts = attemptsOn(step("a"), [...facts, completed, last]);
  expect(openAttempts([...facts, completed, last]).get("a")).toEqual([last]);
  expect(openAttempts(facts).get("a")).toEqual(facts);
  expect(attempts.map(({ id }) => id)).toEqual([...facts, last].map(({ record_id }) => record_id));
  expect(attempts.filter(({ outcome }) => outcome === "completed")).toHaveLength(MOST_CHANGES);
  expect(attempts.at(-1)).toMatchObject({ outcome: null, ended_at: null });
});

describe("a handoff", () => {
  const handoff = () =>
    runOf([
      step("a", [], { completion_mode: "handoff_accepted" }),
      step("theirs", ["a"], { assigned_user_id: "usr_2" }),
      step("free", ["a"]),
    ]);
  const offered = (run: RunState) =>
    apply(run, offer(run, "a", { ...doing(), id: "o", handoff_id: "h", note: "take it" }));
  const taker = { ...doing(), offer_id: "o", record_ids: ["done", "begun"] as const };

  test("accepted: the step is completed and the taker's successor begun", () => {
    const change = accept(offered(handoff()), { ...taker, person: "usr_2" });
    expect(kinds(change)).toEqual([
      ...["handoff_accepted a", "step_completed a", "step_ready theirs", "step_ready free"],
      "step_started theirs",
    ]);
    expect(change.facts.at(-1)).toMatchObject({ inbound_handoff_id: "h", record_id: "begun" });
    expect(change.offers[0]).toMatchObject({ status: "accepted", decided_by: actor });
    expect(change.progress[0]?.completion).toMatchObject({ handoff_offer_id: "o", record_id: "done" });
    expect(kinds(accept(offered(handoff()), { ...taker, person: "usr_9" })).at(-1)).toBe("step_started free");
  });

  test("goes on with a successor that is not done", () => {
    const taking = (keys: string[], person: string) => {
      const run = keys.reduce((so, key) => apply(so, skip(so, key, because)), offered(handoff()));
      return kinds(accept(run, { ...taker, person })).at(-1);
    };
    expect(taking(["theirs"], "usr_2")).toBe("step_started free");
    expect(taking(["free"], "usr_2")).toBe("step_started theirs");
    expect(faultOf(() => taking(["free"], "usr_9"))).toBe("forbidden");
    expect(taking(["theirs", "free"], "usr_9")).toBe("completed");
  });

  test.each([
    ["offers", MOST_OFFERS, "short"],
    ["notes", 2, "x".repeat(MOST_NOTES / 2)],
    ["notes", 2, "\n".repeat(MOST_NOTES / 4)],
  ])("is not offered when the run has as many %s as it may", (_, most, note) => {
    const given = (id: number) => ({ ...doing(), id: `o${id}`, handoff_id: null, note });
    let run = handoff();
    for (let i = 0; i < most; i++) run = apply(run, offer(run, "a", given(i)));
    expect(run.offers).toHaveLength(most);
    expect(() => offer(run, "a", given(most))).toThrow(
      expect.objectContaining({ data: expect.objectContaining({ rule: "run_limit" }) }),
    );
  });

  test("is for nobody else, and accepted or declined once", () => {
    const closed = runOf([step("a"), step("theirs", ["a"], { assigned_user_id: "usr_2" })]);
    expect(faultOf(() => accept(offered(closed), { ...taker, person: "usr_9" }))).toBe("forbidden");
    const run = offered(handoff());
    const declined = apply(run, decline(run, { ...taker, note: null }));
    expect(faultOf(() => accept(declined, { ...taker, person: null }))).toBe("conflict");
    const done = apply(run, accept(run, { ...taker, person: null }));
    expect(faultOf(() => decline(done, { ...taker, note: null }))).toBe("conflict");
    const ended = apply(run, close(run, { ...doing(), outcome: "abandoned", note: null }));
    expect(ended.offers).toMatchObject([{ status: "declined" }]);
  });

  test("of a successor that waits for others too opens no attempt", () => {
    const withoutAttempt = ["handoff_accepted a", "step_completed a"];
    const waiting = runOf([step("a"), step("other"), step("next", ["a", "other"])]);
    expect(kinds(accept(offered(waiting), { ...taker, person: null }))).toEqual(withoutAttempt);
    // Nor of one that is in progress, when both it depends on were opened again.
    let run = waiting;
    for (const key of ["a", "other"]) run = apply(run, complete(run, key, doneNow));
    run = apply(run, start(run, "next", startIt));
    for (const key of ["a", "other"]) run = apply(run, reopen(run, key, because));
    expect(kinds(accept(offered(run), { ...taker, person: null }))).toEqual(withoutAttempt);
  });
});

test("a step that names no mode hands off when another person goes on", () => {
  const modes = (first: string | null, next: string | null) =>
    withModes([
      { ...step("a", [], { assigned_user_id: first }), completion_mode: null },
      { ...step("b", ["a"], { assigned_user_id: next }), completion_mode: null },
    ]).map(({ completion_mode }) => completion_mode);
  expect(modes("usr_1", "usr_2")).toEqual(["handoff_accepted", "attestation"]);
  for (const [a, b] of [
    ["usr_1", "usr_1"],
    ["usr_1", null],
    [null, "usr_2"],
    [null, null],
  ] as const)
    expect(modes(a, b)).toEqual(["attestation", "attestation"]);
});

const CRITERION = { key: "read", description: "Somebody has read it." };

test.each([
  ["a key that stands twice", [step("a"), step("a")], "steps.1.step_key"],
  [
    "a criterion that stands twice",
    [step("a", [], { completion_criteria: [CRITERION, { ...CRITERION, description: "Other" }] })],
    "steps.0.completion_criteria.1.key",
  ],
  ["an unknown dependency", [step("a", ["b"])], "steps.0.depends_on"],
  ["a step that waits for itself", [step("a", ["a"])], "steps.0.depends_on"],
  ["a circle", [step("x"), step("a", ["c", "x"]), step("b", ["a"]), step("c", ["b"])], "steps.1.depends_on"],
])("steps with %s are refused", (_, steps, field) =>
  expect(() => checkSteps(steps)).toThrow(
    expect.objectContaining({ type: "validation_error", data: expect.objectContaining({ field }) }),
  ),
);

/** Steps that only depend on earlier ones, some with criteria or by handoff. */
const graphs = fc
  .array(
    fc.record({
      ...{ on: fc.array(fc.nat(9), { maxLength: 3 }), criteria: fc.nat(2), handoff: fc.boolean() },
      person: fc.constantFrom(null, "usr_1", "usr_2"),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((given) =>
    given.map(({ on, criteria, handoff, person }, i) => {
      const depends_on = [...new Set(on.filter((at) => at < i).map(String))];
      const completion_criteria = ["x", "y"].slice(0, criteria).map((key) => ({ key, description: "" }));
      const completion_mode = handoff ? "handoff_accepted" : "attestation";
      return step(String(i), depends_on, { completion_criteria, completion_mode, assigned_user_id: person });
    }),
  );

const acts = fc.array(
  fc.tuple(
    fc.constantFrom("start", "complete", "attest", "skip", "reopen", "offer", "accept", "decline", "close"),
    fc.nat(7),
  ),
  { minLength: 20, maxLength: 60 },
);

test("no sequence of operations reaches a run that contradicts itself", () => {
  let carriedOut = 0;
  fc.assert(
    fc.property(graphs, acts, (steps, sequence) => {
      let run = runOf(steps);
      for (const [i, [act, at]] of sequence.entries()) {
        // Closing ends everything, so it is rarely drawn.
        if (act === "close" && at > 0) continue;
        const given = { ...doing(i + 1), record_id: `${i}`, reason: "so", note: null };
        const key = String(at % steps.length);
        const offer_id = run.offers[at % (run.offers.length || 1)]?.id ?? "none";
        const operations: Record<string, () => Change> = {
          start: () => start(run, key, { ...startIt, ...given }),
          complete: () => complete(run, key, { ...doneNow, ...given }),
          attest: () => complete(run, key, { ...doneNow, ...given, criterion_key: "x" }),
          skip: () => skip(run, key, given),
          reopen: () => reopen(run, key, given),
          offer: () => offer(run, key, { ...given, id: `o${i}`, handoff_id: null }),
          accept: () => accept(run, { ...given, offer_id, record_ids: [`${i}`, `${i}b`], person: "usr_1" }),
          decline: () => decline(run, { ...given, offer_id }),
          close: () => close(run, { ...given, outcome: "achieved" }),
        };
        const before = JSON.stringify(run);
        let change: Change | undefined;
        try {
          change = operations[act]?.();
        } catch (err) {
          if (!isFault(err)) throw err;
        }
        expect(JSON.stringify(run)).toBe(before);
        if (!change) continue;
        carriedOut++;
        expect(change.facts.length).toBeGreaterThan(0);
        expectReadyTold(run, change);
        run = apply(run, change);
        expectConsistent(run);
      }
    }),
    { numRuns: 100 },
  );
  expect(carriedOut).toBeGreaterThan(300);
});

/** Subscribers to ready steps are notified of each. */
function expectReadyTold({ steps, progress }: RunState, change: Change): void {
  const ready = steps.filter(
    (_, i) => progress[i]?.status !== "ready" && change.progress[i]?.status === "ready",
  );
  for (const { step_key } of ready) expect(kinds(change)).toContain(`step_ready ${step_key}`);
}

function expectConsistent(run: RunState): void {
  const done = new Set(
    run.steps.filter((_, i) => isDone(run.progress[i] as StepProgress)).map(({ step_key }) => step_key),
  );
  for (const [i, each] of run.steps.entries()) {
    const progress = run.progress[i] as StepProgress;
    const waits = waitingOn(each, done).length > 0;
    if (progress.status === "ready") expect(waits).toBe(false);
    if (progress.status === "blocked") expect(waits).toBe(true);
    const { completion, ready_at, active_ms, elapsed_ms = 0 } = progress;
    if (completion)
      expect(active_ms).toBeLessThanOrEqual(elapsed_ms + Number(completion.at) - Number(ready_at));
    expect(progress.completion !== null).toBe(progress.status === "completed");
    expect(progress.in_progress_since !== null).toBe(
      progress.status === "in_progress" && run.status !== "closed",
    );
    expect(progress.active_ms).toBeGreaterThanOrEqual(0);
    const openHere = run.offers.some(
      ({ step_key, status }) => step_key === each.step_key && status === "open",
    );
    if (isDone(progress)) expect(openHere).toBe(false);
  }
  if (run.status !== "closed")
    expect(run.status).toBe(done.size === run.steps.length ? "completed" : "active");
}
