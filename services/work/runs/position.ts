import { presentAs } from "../../../lib/contract/present-as.ts";
import { openAttempts, wordsOn } from "./facts.ts";
import { iso } from "./run-document.ts";
import { doneKeys, isDone, listCompletions, waitingOn } from "./run-state.ts";
import type { Actor, PlacedFact, Run, StepDef, StepProgress } from "./runs.model.ts";
import { PositionStep } from "./shapes.contract.ts";
import { deadlineOf, stalenessAt } from "./staleness.ts";

interface At {
  run: Pick<Run, "steps" | "progress" | "status">;
  done: ReadonlySet<string>;
  openAttempts: ReadonlyMap<string, PlacedFact[]>;
  words: ReturnType<typeof wordsOn>;
  now: number;
}

/** Prepares what is needed to show a run's steps. @param facts of the run, in the order they happened */
export function standing(run: At["run"], facts: readonly PlacedFact[], now: number): At {
  const done = doneKeys(run.steps, run.progress);
  return { run, done, openAttempts: openAttempts(facts), words: wordsOn(facts), now };
}

export function positionStep(at: At, index: number) {
  const step = at.run.steps[index] as StepDef;
  const progress = at.run.progress[index] as StepProgress;
  const stale = at.run.status === "closed" ? null : stalenessAt(step, progress, at.now);
  const open = at.openAttempts.get(step.step_key) ?? [];
  // A step in progress waits again if a dependency is reopened.
  const waiting_on = isDone(progress) ? [] : waitingOn(step, at.done);
  const isReady = !isDone(progress) && waiting_on.length === 0;
  return presentAs(
    PositionStep,
    { ...progress, ...step },
    {
      why_ready: isReady ? whyReady(step, at.words.get(step.step_key)?.reopened) : null,
      waiting_on,
      waiting_since: iso(progress.waiting?.since),
      deadline_at: iso(deadlineOf(step, progress)),
      stale_since: iso(stale?.since),
      stale_reason: stale?.reason ?? null,
      open_attempts: open.map(({ actor, at: started }) => ({
        ...(actor as Actor),
        started_at: started.toISOString(),
      })),
    },
  );
}

function whyReady({ depends_on }: StepDef, reopened: string | null = null): string {
  const before = depends_on.length === 0 ? "No dependencies." : `Done: ${depends_on.join(", ")}.`;
  return reopened === null ? before : `${before} Reopened: ${reopened}`;
}

/** Returns the run's position (spec: Position surface). `person`: the caller, or the owner of the calling agent. */
export function computePosition(at: At, person: string | null) {
  const steps = at.run.steps.map((_, index) => positionStep(at, index));
  const workable = steps.filter(({ status }) => status === "ready" || status === "in_progress");
  const ready = steps.filter(({ status }) => status === "ready");
  const mine = person === null ? undefined : ready.find((step) => step.assigned_user_id === person);
  const closed = at.run.status === "closed";
  return {
    my_next: closed ? null : (mine ?? ready.find((step) => step.assigned_user_id === null) ?? null),
    ready_steps: closed ? [] : workable,
    blocked_steps: closed ? [] : steps.filter(({ status }) => status === "blocked"),
    last_completed: lastCompleted(at.run),
    stale_steps: steps.filter(({ stale_since }) => stale_since !== null),
  };
}

function lastCompleted({ steps, progress }: At["run"]) {
  const last = listCompletions({ steps, progress }).at(-1);
  if (!last) return null;
  const { actor_kind, actor_id, at, handoff_offer_id } = last.completion;
  return { step_key: last.step.step_key, actor_kind, actor_id, at: iso(at), handoff_offer_id };
}
