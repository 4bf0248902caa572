import type { Actor, Fact, PlacedFact, StepDef } from "./runs.model.ts";

/** Facts that end open attempts, and how: those of their step, or with the run all of them. */
const ENDS = {
  ...{ step_completed: "completed", step_skipped: "skipped", step_reopened: "reopened" },
  closed: "closed",
} as const;

const isEnd = (kind: Fact["kind"]): kind is keyof typeof ENDS => Object.hasOwn(ENDS, kind);

/** Returns each step's open attempts, in the order they began. @param facts in the order they happened */
export function openAttempts(facts: readonly PlacedFact[]): Map<string, PlacedFact[]> {
  const open = new Map<string, PlacedFact[]>();
  for (const fact of facts) {
    const { kind, step_key } = fact;
    if (kind === "closed") open.clear();
    if (step_key === null) continue;
    if (isEnd(kind)) open.delete(step_key);
    if (kind !== "step_started") continue;
    const own = open.get(step_key);
    if (own) own.push(fact);
    else open.set(step_key, [fact]);
  }
  return open;
}

/** Returns all attempts on a step for callers. @param facts of the run, in the order they happened */
export function attemptsOn(step: StepDef, facts: readonly PlacedFact[]) {
  const own = facts.filter(({ kind, step_key }) => step_key === step.step_key || kind === "closed");
  let end: PlacedFact | undefined;
  const latestFirst = own.reverse().flatMap((fact) => {
    if (isEnd(fact.kind)) end = fact;
    return fact.kind === "step_started" ? [presentAttempt(step, fact, end)] : [];
  });
  return latestFirst.reverse();
}

/** Formats an attempt for callers; `end` is the fact that ended it. */
export function presentAttempt(step: StepDef, fact: Fact, end?: Fact) {
  const { actor_kind, actor_id } = fact.actor as Actor;
  const started_at = fact.at.toISOString();
  return {
    ...{ id: fact.record_id as string, run_step_id: step.id, actor_kind, actor_id, started_at },
    ended_at: end?.at.toISOString() ?? null,
    outcome: end && isEnd(end.kind) ? ENDS[end.kind] : null,
    inbound_handoff_id: fact.inbound_handoff_id ?? null,
    bundle_id: fact.bundle_id ?? null,
    notes: fact.notes ?? null,
    created_at: started_at,
    warning: null as string | null,
  };
}

/** Notes and reasons on a step in its current state. */
interface Words {
  /** Why it was opened again. */
  reopened: string | null;
  /** Evidence by criterion; or why it was skipped. */
  done: string[];
}

/** Returns each step's notes and reasons. @param facts in the order they happened */
export function wordsOn(facts: readonly PlacedFact[]): Map<string, Words> {
  const words = new Map<string, Words>();
  for (const { kind, step_key, notes } of facts) {
    if (step_key === null || !notes) continue;
    const { reopened, done } = words.get(step_key) ?? { reopened: null, done: [] };
    if (kind === "step_reopened") words.set(step_key, { reopened: notes, done: [] });
    else if (kind === "step_skipped") words.set(step_key, { reopened, done: [notes] });
    else if (kind === "criterion_attested" || kind === "step_completed")
      words.set(step_key, { reopened, done: [...done, notes] });
  }
  return words;
}
