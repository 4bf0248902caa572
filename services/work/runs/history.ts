import { wordsOn } from "./facts.ts";
import { isDone } from "./run-state.ts";
import { ACTIONS } from "./runs.contract.ts";
import type { Doer, PlacedFact, Run, RunArtifactDoc, StepDef, StepProgress } from "./runs.model.ts";

/** Maximum length of an address shown in place of a name, same as a name's. */
const LONGEST_NAME = 500;

/**
 * Returns the completions in order, each with its artifacts, also those of steps that were reopened since (spec: History
 * item).
 */
export function buildHistory(run: Run, facts: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]) {
  const stepOf = new Map(run.steps.map((step) => [step.step_key, step]));
  return [...Map.groupBy(facts, ({ step_key }) => step_key)]
    .flatMap(([step_key, own]) => completionsOn(own, stepOf.get(step_key as string), artifacts))
    .sort((a, b) => a.version - b.version)
    .map(({ item }) => item);
}

/** @param own the facts of one step, in the order they happened */
function completionsOn(
  own: readonly PlacedFact[],
  step: StepDef | undefined,
  artifacts: readonly RunArtifactDoc[],
) {
  if (!step) return [];
  let attested: string[] = [];
  let since = 0;
  return own.flatMap((fact, i) => {
    if (fact.kind === "criterion_attested") attested.push(fact.criterion_key as string);
    if (fact.kind === "step_reopened") {
      attested = [];
      since = i;
    }
    if (fact.kind !== "step_completed") return [];
    const reopened = own.slice(i).find(({ kind }) => kind === "step_reopened");
    const { actor_kind, actor_id } = fact.actor as Doer;
    const item = {
      ...{ step_key: step.step_key, title: step.title, role: step.role, ordinal: step.ordinal },
      ...{ actor_kind, actor_id, at: fact.at.toISOString() },
      handoff_offer_id: fact.handoff_offer_id ?? null,
      event: fact.event ?? null,
      attested_criteria: [...attested, ...(fact.attested ?? [])],
      reopened_at: reopened?.at.toISOString() ?? null,
      artifacts: artifactNames(own.slice(since, i + 1), artifacts),
    };
    return [{ version: fact.version, item }];
  });
}

/** Returns what was done in the run, in order, with the words and artifacts that came with it. */
export function buildActions(run: Run, facts: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]) {
  const titles = new Map(run.steps.map(({ step_key, title }) => [step_key, title]));
  return facts.flatMap((fact) => {
    const { kind, step_key, actor, at, notes = null, assigned_user_id = null } = fact;
    if (!actor || !ACTIONS.some((each) => each === kind)) return [];
    return {
      ...{ kind, step_key, title: titles.get(step_key ?? "") ?? null, ...actor, at: at.toISOString() },
      ...{ notes, criterion_key: fact.criterion_key ?? null, event: fact.event ?? null, assigned_user_id },
      artifacts: artifactNames([fact], artifacts),
    };
  });
}

const artifactNames = (facts: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]) =>
  broughtBy(facts, artifacts).map(({ pointer }) => ({
    display_name: pointer.display_name ?? pointer.uri?.slice(0, LONGEST_NAME).toWellFormed() ?? null,
  }));

/** Returns the artifacts that these facts of a step name. */
function broughtBy(own: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]): RunArtifactDoc[] {
  const records = new Set(own.map(({ record_id }) => record_id));
  const evidence = new Set(own.flatMap(({ snapshots = [] }) => snapshots.map((each) => each.artifact_id)));
  return artifacts.filter(
    ({ _id, step_record_id }) =>
      evidence.has(_id) || (step_record_id !== null && records.has(step_record_id)),
  );
}

/** Returns the durations of a closed run's steps (spec: Retrospective item), in seconds with millisecond precision. */
export function buildRetrospective({ steps, progress }: Run, facts: readonly PlacedFact[]) {
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
