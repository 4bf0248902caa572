import { Fault, invalidValue } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { mapSuccessors } from "../templates/steps.ts";
import {
  type Attribution,
  assertCompletable,
  assertOpen,
  type Change,
  Draft,
  doneKeys,
  isDone,
  notReady,
  open,
  type RunState,
  successors,
  waitingOn,
} from "./run-state.ts";
import type { Snapshot, StepDef, StepProgress } from "./runs.model.ts";
import { MOST_CHANGES, MOST_NOTES, type Outcome, type RunStatus, type StepEvent } from "./shapes.contract.ts";
import { openDeadline, unreportedStale } from "./staleness.ts";

/** Details of a new attempt. */
export interface Start extends Attribution {
  record_id: string;
  handoff_id: string | null;
  bundle_id: string | null;
  notes: string | null;
}

/**
 * ready or in_progress → in_progress (spec: start step; several attempts may be open). Open attempts continue if a
 * dependency is reopened, but no new one begins before it is done again.
 */
export function start(run: RunState, step_key: string, fact: Start): Change {
  const { draft, index, step, progress } = open(run, step_key, fact);
  if (isDone(progress)) {
    const message = `The step "${step_key}" is ${progress.status}. Reopen it first.`;
    throw new Fault("step_not_ready", message, { step_key, waiting_on: [] });
  }
  if (waitingOn(step, doneKeys(run.steps, run.progress)).length > 0) throw notReady(run, step);
  draft.beginWork(index);
  draft.record("step_started", step_key, {
    record_id: fact.record_id,
    notes: fact.notes,
    inbound_handoff_id: fact.handoff_id,
    bundle_id: fact.bundle_id,
  });
  return draft;
}

/** Details of a completion, or of one attested criterion. */
export interface Complete extends Attribution {
  record_id: string;
  criterion_key: string | null;
  notes: string | null;
  snapshots: Snapshot[];
}

/** ready or in_progress → completed; or attests one more criterion (spec: complete with evidence). */
export function complete(run: RunState, step_key: string, fact: Complete): Change {
  const { draft, index, step, progress } = open(run, step_key, fact);
  const { criterion_key, record_id, notes, snapshots } = fact;
  const keys = step.completion_criteria.map(({ key }) => key);
  if (criterion_key !== null && !keys.includes(criterion_key)) {
    const message = `criterion_key: the step "${step_key}" has no criterion "${criterion_key}". Criteria: ${keys.join(", ") || "none"}.`;
    throw invalidValue("criterion_key", message, { value: criterion_key, allowed: keys });
  }
  assertCompletable(draft, step, progress);
  if (step.completion_mode === "handoff_accepted" && keys.length === 0) {
    const message = `The step "${step_key}" completes when a handoff offer is accepted. Offer a handoff instead.`;
    throw new Fault("step_not_completable", message, { step_key, completion_mode: step.completion_mode });
  }
  const attested = [...new Set([...progress.attested, ...(criterion_key === null ? keys : [criterion_key])])];
  const evidence = { record_id, notes, snapshots };
  const added = attested.slice(progress.attested.length);
  draft.set(index, { attested });
  if (attested.length === keys.length) {
    draft.finish(index, { ...fact.actor, ...evidence, attested: added, handoff_offer_id: null });
  } else {
    draft.beginWork(index);
    draft.record("criterion_attested", step_key, { ...evidence, criterion_key: criterion_key as string });
  }
  return draft;
}

/** An event that a step waits for. */
export interface Received {
  at: Date;
  wait_id: string;
  event: StepEvent;
}

/** Of the note on a received event, in characters. */
const MOST_TEXT = 1000;

/** A waiting step → completed. No change if it no longer waits, or the run can no longer change. */
export function receive(run: RunState, step_key: string, { at, wait_id, event }: Received): Change {
  const draft = new Draft(run, { actor: null, at });
  const index = run.steps.findIndex((step) => step.step_key === step_key);
  if (run.progress[index]?.waiting?.id !== wait_id || run.version >= MOST_CHANGES) return draft;
  const by = { actor_kind: "event", actor_id: event.id } as const;
  const isFull = draft.noted > MOST_NOTES - 2 * MOST_TEXT;
  const notes = isFull ? null : `Event ${event.type} from ${event.source}`.slice(0, MOST_TEXT);
  const evidence = { record_id: newUuid(wait_id), notes, snapshots: [], handoff_offer_id: null };
  draft.finish(index, { ...by, ...evidence, event });
  return draft;
}

type Reasoned = Attribution & { record_id: string; reason: string };

/** ready, in_progress or blocked → skipped. */
export function skip(run: RunState, step_key: string, fact: Reasoned): Change {
  const { draft, index, progress } = open(run, step_key, fact);
  if (isDone(progress)) {
    const message = `The step "${step_key}" is ${progress.status}. Only ready, blocked and in_progress steps can be skipped.`;
    throw new Fault("step_not_skippable", message, { step_key });
  }
  draft.skip(index, { record_id: fact.record_id, notes: fact.reason, actor: fact.actor });
  return draft;
}

/** completed or skipped → ready, or blocked; successors that were only ready or wait for an event become blocked. */
export function reopen(run: RunState, step_key: string, fact: Reasoned): Change {
  const { draft, index, step, progress } = open(run, step_key, fact);
  if (!isDone(progress)) {
    const message = `The step "${step_key}" is ${progress.status}. Only completed and skipped steps can be reopened.`;
    throw new Fault("step_not_reopenable", message, { step_key });
  }
  const ready = waitingOn(step, doneKeys(run.steps, run.progress)).length === 0;
  draft.undo(index);
  draft.set(index, { status: "blocked", ready_at: null });
  draft.record("step_reopened", step_key, { record_id: fact.record_id, notes: fact.reason });
  if (ready) draft.makeReady(index);
  for (const [at, successor] of successors(run, step_key)) {
    const { status, waiting } = draft.progress[at] as StepProgress;
    if (status !== "ready" && !waiting) continue;
    draft.endWork(at);
    draft.set(at, { status: "blocked", ready_at: null });
    draft.record("step_blocked", successor.step_key);
  }
  if (draft.status === "completed") {
    draft.status = "active";
    draft.record("reactivated", null);
  }
  return draft;
}

/** Assigns a step to another person, or to nobody. Its completion mode stays. */
export function assign(
  run: RunState,
  step_key: string,
  fact: Attribution & { record_id: string; assigned_user_id: string | null },
): Change {
  const { draft, index, step } = open(run, step_key, fact);
  const { record_id, assigned_user_id } = fact;
  if (step.assigned_user_id === assigned_user_id) return draft;
  draft.set(index, { assigned_user_id });
  draft.record("step_assigned", step_key, { record_id, assigned_user_id });
  return draft;
}

/** open → closed, once. */
export function close(run: RunState, fact: Attribution & { outcome: Outcome; note: string | null }): Change {
  assertOpen(run);
  const draft = new Draft(run, fact);
  draft.close({ actor: fact.actor, notes: fact.note, outcome: fact.outcome });
  return draft;
}

/** Acts on deadlines that have passed, and reports stale steps that were not reported. */
export function passTime(run: RunState, now: number): Change {
  const draft = new Draft(run, { actor: null, at: new Date(now) });
  if (run.status === "closed") return draft;
  for (const index of run.steps.keys()) passDeadline(draft, index, now);
  // TypeScript takes the status for the one from before.
  if ((draft.status as RunStatus) === "closed") return draft;
  for (const { index, since } of unreportedStale({ steps: run.steps, progress: draft.progress }, now)) {
    draft.set(index, { stale_told: since });
    draft.record("step_stale", (run.steps[index] as StepDef).step_key);
  }
  return draft;
}

/** At a limit of the run it only notifies, without words: what is done then must still be seen. */
function passDeadline(draft: Draft, index: number, now: number): void {
  const step = draft.run.steps[index] as StepDef;
  const progress = draft.progress[index] as StepProgress;
  const deadline = draft.status === "closed" ? null : openDeadline(step, progress);
  if (!deadline || deadline.getTime() > now) return;
  const { id, step_key, on_deadline, deadline_seconds } = step;
  const actor = { actor_kind: "deadline", actor_id: id } as const;
  draft.set(index, { deadline_of: progress.ready_at });
  draft.record("step_deadline_passed", step_key, { actor });
  const isFull = draft.noted > MOST_NOTES - 2 * MOST_TEXT;
  const notes = isFull ? null : `The deadline of ${deadline_seconds} seconds for "${step_key}" has passed.`;
  const record_id = newUuid(`${id} ${draft.run.version}`);
  if (on_deadline === "skip") draft.skip(index, { actor, notes, record_id });
  if (on_deadline === "abandon") draft.close({ actor, notes, outcome: "abandoned" });
}

const FRESH: StepProgress = {
  ...{ status: "blocked", ready_at: null, in_progress_since: null, last_activity_at: null, active_ms: 0 },
  ...{ attested: [], completion: null, skipped_at: null, stale_told: null },
};

/** Creates a run: its steps' progress and its first facts. */
export function begin(_id: string, steps: readonly StepDef[], by: Attribution): Change {
  const progress = steps.map(() => FRESH);
  const draft = new Draft({ _id, status: "active", steps, progress, offers: [], version: 0 }, by);
  draft.record("created", null);
  draft.follow(null);
  return draft;
}

type Unmoded = Omit<StepDef, "completion_mode"> & { completion_mode: StepDef["completion_mode"] | null };

/** Adds the default completion mode, which depends on the assignees of the successors (spec: step and run). */
export function withModes(steps: readonly Unmoded[]): StepDef[] {
  const after = mapSuccessors(steps);
  const people = new Map(steps.map(({ step_key, assigned_user_id }) => [step_key, assigned_user_id]));
  return steps.map((step) => {
    const others = (after.get(step.step_key) ?? []).map((key) => people.get(key));
    const own = step.assigned_user_id;
    const goesOn = own !== null && others.some((other) => other && other !== own);
    return {
      ...step,
      completion_mode:
        step.completion_mode ?? (goesOn && !step.wait_for ? "handoff_accepted" : "attestation"),
    };
  });
}
