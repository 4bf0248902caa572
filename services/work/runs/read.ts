import type { Call } from "../../../lib/access/caller.ts";
import { conflict } from "../../../lib/contract/faults.ts";
import { MOST_LISTED } from "../../../lib/contract/schema.ts";
import { containing } from "../../../lib/text/containing.ts";
import { oneLine } from "../../../lib/text/quoted.ts";
import type { CallOf } from "../../runtime.ts";
import { attemptsOn, wordsOn } from "./facts.ts";
import { findPerson } from "./participants.ts";
import { computePosition, standing } from "./position.ts";
import { presentRun, stepAt } from "./run-document.ts";
import { doneKeys, isDone, waitingOn } from "./run-state.ts";
import type { RunStore } from "./run-store.ts";
import { ACTIONS, type getRunHistory, type listRuns as operation } from "./runs.contract.ts";
import type { Doer, PlacedFact, Run, RunArtifactDoc, StepDef, StepProgress } from "./runs.model.ts";

type RunCall = Call<{ run_id: string }>;

export async function listRuns(store: RunStore, ctx: CallOf<typeof operation>) {
  const { params, meta } = ctx;
  const { status, project_id, template_slug, search, offset = 0, limit = MOST_LISTED } = params;
  const { tenant_id } = meta.caller;
  const versions =
    template_slug &&
    (await ctx.call<string[], object>("templates.version_ids", { tenant_id, slug: template_slug }));
  const filter = {
    ...(status && { status }),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(versions && { template_id: { $in: versions } }),
    ...(search && { goal: containing(search) }),
  };
  const [page, total] = await Promise.all([
    store.list(tenant_id, filter, { skip: offset, limit }),
    store.runs.count(tenant_id, filter),
  ]);
  meta.$responseHeaders = { "X-Total-Count": String(total) };
  return page.map(presentRun);
}

export async function getRun(store: RunStore, ctx: RunCall) {
  const { run, facts } = await load(store, ctx);
  const steps = run.steps.map((step, i) => ({ ...stepAt(run, i), attempts: attemptsOn(step, facts) }));
  return { ...presentRun(run), steps };
}

export async function getPosition(store: RunStore, ctx: RunCall) {
  const [{ run, facts }, person] = await Promise.all([load(store, ctx), findPerson(ctx)]);
  return { run: presentRun(run), ...computePosition(standing(run, facts, store.now()), person) };
}

export async function getRetrospective(store: RunStore, ctx: RunCall) {
  const { run, facts } = await load(store, ctx);
  if (run.status === "closed") return { items: buildRetrospective(run, facts) };
  const message = "The retrospective is available only after the run is closed. Close it first.";
  throw conflict(message, { existing_resource_id: run._id });
}

export async function getHistory(store: RunStore, { params, meta }: CallOf<typeof getRunHistory>) {
  const { run_id, include } = params;
  const { tenant_id } = meta.caller;
  const run = await store.get(tenant_id, run_id);
  const [facts, artifacts] = await Promise.all([
    store.factsOf(run),
    store.artifacts.find(
      tenant_id,
      { run_id },
      { sort: { created_at: 1, _id: 1 }, bounded: "MOST_ARTIFACTS of a run" },
    ),
  ]);
  const items = buildHistory(run, facts, artifacts);
  return include === "actions" ? { items, actions: buildActions(run, facts, artifacts) } : { items };
}

export async function getStatusDocument(store: RunStore, ctx: RunCall) {
  const { run, facts } = await load(store, ctx);
  return renderStatusDocument(run, facts);
}

async function load(store: RunStore, { params, meta }: RunCall) {
  const run = await store.get(meta.caller.tenant_id, params.run_id);
  return { run, facts: await store.factsOf(run) };
}

const SHOWN = 300;
const MARKS = { completed: "x", skipped: "-", in_progress: "~", ready: " ", blocked: " " } as const;

/** Renders a run as Markdown. Depends only on the run and its facts, so the same run always gives the same bytes. */
function renderStatusDocument(run: Run, facts: readonly PlacedFact[]): string {
  const done = doneKeys(run.steps, run.progress);
  const words = wordsOn(facts);
  const lines = [
    `# ${oneLine(run.goal)}`,
    "",
    `- Run: ${run._id}`,
    `- Status: ${run.status}${run.outcome ? ` (${run.outcome})` : ""}`,
    ...(run.project_id ? [`- Project: ${run.project_id}`] : []),
    `- Started by ${oneLine(run.initiated_by.display_name)} at ${run.created_at.toISOString()}`,
    `- Steps done: ${done.size} of ${run.steps.length}`,
    ...section(
      "Success criteria",
      run.success_criteria.map((each) => `- ${oneLine(each)}`),
    ),
    ...section(
      "Steps",
      run.steps.flatMap((step, i) => {
        const { reopened = null, done: said = [] } = words.get(step.step_key) ?? {};
        const progress = run.progress[i] as StepProgress;
        const why = reopened === null || isDone(progress) ? [] : [`Reopened: ${reopened}`];
        return [...stepLines(step, progress, done), ...[...why, ...said].map((each) => `   > ${clip(each)}`)];
      }),
    ),
    ...(run.closed_at ? ["", "## Closed", "", `At ${run.closed_at.toISOString()}.`] : []),
    ...(run.close_note ? ["", quote(run.close_note)] : []),
  ];
  return `${lines.join("\n")}\n`;
}

function stepLines(step: StepDef, progress: StepProgress, done: ReadonlySet<string>): string[] {
  const { status, completion, skipped_at, attested } = progress;
  const waiting = isDone(progress) ? [] : waitingOn(step, done);
  const more = [
    status.replace("_", " "),
    ...(step.role ? [oneLine(step.role)] : []),
    ...(waiting.length ? [`waiting for ${waiting.join(", ")}`] : []),
    ...(completion ? [`by ${completion.actor_id} at ${completion.at.toISOString()}`] : []),
    ...(skipped_at ? [`at ${skipped_at.toISOString()}`] : []),
  ];
  return [
    `${step.ordinal}. [${MARKS[status]}] **${oneLine(step.title)}** (\`${step.step_key}\`): ${more.join("; ")}`,
    ...step.completion_criteria.map(
      ({ key, description }) => `   - [${attested.includes(key) ? "x" : " "}] ${oneLine(description || key)}`,
    ),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length ? ["", `## ${title}`, "", ...lines] : [];
}

/** Shortens text: the retrospective has the full length. */
function clip(text: string): string {
  const short = oneLine(text);
  return short.length > SHOWN ? `${short.slice(0, SHOWN - 1)}…` : short;
}

function quote(text: string): string {
  return text
    .split(/\r\n|[\n\r]/)
    .map((each) => `> ${each}`)
    .join("\n");
}

/** Maximum length of an address shown in place of a name, same as a name's. */
const LONGEST_NAME = 500;

/**
 * Returns the completions in order, each with its artifacts, also those of steps that were reopened since (spec: History
 * item).
 */
function buildHistory(run: Run, facts: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]) {
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
function buildActions(run: Run, facts: readonly PlacedFact[], artifacts: readonly RunArtifactDoc[]) {
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
