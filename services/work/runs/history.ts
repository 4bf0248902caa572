import { wordsOn } from "./facts.ts";
import { completionsOf, isDone } from "./run-state.ts";
import type { PlacedFact, Run, RunArtifactDoc, StepProgress } from "./runs.model.ts";

/** Maximum length of an address shown in place of a name, same as a name's. */
const LONGEST_NAME = 500;

/** Returns completed steps in order of completion, each with its artifacts (spec: History item). */
export function historyOf(run: Run, facts: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]) {
  const recordsOf = Map.groupBy(facts, ({ step_key }) => step_key);
  const broughtBy = (step_key: string) => {
    const own = recordsOf.get(step_key) ?? [];
    const records = new Set(own.map(({ record_id }) => record_id));
    const evidence = new Set(own.flatMap(({ snapshots = [] }) => snapshots.map((each) => each.artifact_id)));
    return artifacts.filter(({ _id, step_record_id }) => {
      return evidence.has(_id) || (step_record_id !== null && records.has(step_record_id));
    });
  };
  return completionsOf(run).map(({ step, completion }) => ({
    ...{ step_key: step.step_key, title: step.title, role: step.role, ordinal: step.ordinal },
    ...{ actor_kind: completion.actor_kind, actor_id: completion.actor_id, at: completion.at.toISOString() },
    handoff_offer_id: completion.handoff_offer_id,
    artifacts: broughtBy(step.step_key).map(({ pointer }) => ({
      display_name: pointer.display_name ?? pointer.uri?.slice(0, LONGEST_NAME).toWellFormed() ?? null,
    })),
  }));
}

/** Returns the durations of a closed run's steps (spec: Retrospective item), in seconds with millisecond precision. */
export function retrospectiveOf({ steps, progress }: Run, facts: readonly PlacedFact[]) {
  const words = wordsOn(facts);
  return steps.map(({ step_key, title, role }, i) => {
    const at = progress[i] as StepProgress;
    const { status, completion, active_ms, elapsed_ms = 0, ready_at, last_activity_at } = at;
    const worked = last_activity_at !== null;
    const elapsed = completion && ready_at ? elapsed_ms + completion.at.getTime() - ready_at.getTime() : null;
    return {
      ...{ step_key, title, role, status },
      what_makes_this_done: (isDone(at) && words.get(step_key)?.done.join("\n")) || null,
      elapsed_seconds: elapsed === null ? null : elapsed / 1000,
      active_seconds: worked ? active_ms / 1000 : null,
    };
  });
}
