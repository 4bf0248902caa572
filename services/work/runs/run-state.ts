import { conflict, Fault, ruleBroken } from "../../../lib/contract/faults.ts";
import { waitId } from "../../sense/interests/waits.ts";
import type { Actor, Doer, Fact, Offer, Run, StepDef, StepProgress } from "./runs.model.ts";
import { MOST_CHANGES, MOST_NOTES, type Outcome, type RunStatus } from "./shapes.contract.ts";

/** A run as transitions see it. They never modify their input. */
export interface RunState {
  _id: string;
  status: RunStatus;
  steps: readonly StepDef[];
  progress: readonly StepProgress[];
  offers: readonly Offer[];
  /** Number of changes so far. */
  version: number;
  /** Bytes of its notes and evidence, as JSON. */
  noted?: number | undefined;
}

/** The actor of a transition, and its time. */
export interface Attribution {
  actor: Actor;
  at: Date;
}

/** The result of a transition. */
export interface Change {
  status: RunStatus;
  progress: StepProgress[];
  offers: readonly Offer[];
  facts: Fact[];
  noted?: number | undefined;
  /** Further fields of the run that it sets. */
  also?: Partial<Pick<Run, "outcome" | "close_note" | "closed_by_user_id" | "closed_at">>;
}

/** A copy of a run that a transition changes. */
export class Draft implements Change {
  status: RunStatus;
  progress: StepProgress[];
  offers: readonly Offer[];
  facts: Fact[] = [];
  noted: number;
  also: NonNullable<Change["also"]> = {};
  readonly run: RunState;
  readonly attribution: { actor: Actor | null; at: Date };

  constructor(run: RunState, attribution: { actor: Actor | null; at: Date }) {
    this.run = run;
    this.attribution = attribution;
    this.status = run.status;
    this.progress = [...run.progress];
    this.offers = run.offers;
    this.noted = run.noted ?? 0;
  }

  set(index: number, changes: Partial<StepProgress>): void {
    this.progress[index] = { ...(this.progress[index] as StepProgress), ...changes };
  }

  /** @throws Fault business_rule_violation (run_limit): notes and evidence are read as a whole */
  record(kind: Fact["kind"], step_key: string | null, more: Partial<Fact> = {}): void {
    if (more.notes || more.snapshots?.length) {
      const { notes, snapshots } = more;
      this.noted += Buffer.byteLength(JSON.stringify([notes, snapshots]));
      if (this.noted > MOST_NOTES && kind !== "closed") throw tooManyNotes(this.noted);
    }
    this.facts.push({ kind, step_key, ...this.attribution, ...more });
  }

  /** All dependencies are done: a step that waits for an event starts by itself. */
  makeReady(index: number): void {
    const { at } = this.attribution;
    const { step_key, wait_for } = this.run.steps[index] as StepDef;
    this.set(index, { status: "ready", ready_at: at });
    this.record("step_ready", step_key, { actor: null });
    if (!wait_for) return;
    this.beginWork(index);
    const id = waitId(this.run._id, step_key, String(this.run.version + 1));
    this.set(index, { waiting: { id, since: at } });
    this.record("step_waiting", step_key, { actor: null });
  }

  /** Records activity; the first one puts the step in progress. */
  beginWork(index: number): void {
    const { at } = this.attribution;
    const in_progress_since = this.progress[index]?.in_progress_since ?? at;
    this.set(index, { status: "in_progress", in_progress_since, last_activity_at: at });
  }

  endWork(index: number): void {
    const { in_progress_since, active_ms, waiting } = this.progress[index] as StepProgress;
    if (!in_progress_since) return;
    if (waiting) this.set(index, { waiting: null });
    const spent = Math.max(0, this.attribution.at.getTime() - in_progress_since.getTime());
    this.set(index, { in_progress_since: null, active_ms: active_ms + spent });
  }

  /** Reopens a step; the time it took so far still counts. */
  undo(index: number): void {
    const { completion, skipped_at, ready_at, elapsed_ms = 0 } = this.progress[index] as StepProgress;
    const done_at = completion?.at ?? skipped_at;
    const took = done_at && ready_at ? done_at.getTime() - ready_at.getTime() : 0;
    this.set(index, { attested: [], completion: null, skipped_at: null, elapsed_ms: elapsed_ms + took });
  }

  /** Completes the step, with all consequences. */
  finish(index: number, { actor_kind, actor_id, ...evidence }: Finish): void {
    const { step_key } = this.run.steps[index] as StepDef;
    const { record_id, handoff_offer_id } = evidence;
    const { at } = this.attribution;
    this.endWork(index);
    const order =
      this.progress.reduce((last, { completion }) => Math.max(last, completion?.order ?? 0), 0) + 1;
    const completion = { order, record_id, at, actor_kind, actor_id, handoff_offer_id };
    this.set(index, { status: "completed", last_activity_at: at, completion });
    this.record("step_completed", step_key, { ...evidence, actor: { actor_kind, actor_id } });
    this.follow(step_key);
  }

  /** Skips the step, with all consequences. */
  skip(index: number, evidence: Pick<Fact, "record_id" | "notes" | "actor">): void {
    const { step_key } = this.run.steps[index] as StepDef;
    this.endWork(index);
    this.set(index, { status: "skipped", skipped_at: this.attribution.at, attested: [] });
    this.record("step_skipped", step_key, evidence);
    this.follow(step_key);
  }

  /** Closes the run: nothing in it goes on. */
  close({ outcome, ...given }: Pick<Fact, "notes" | "actor"> & { outcome: Outcome }): void {
    for (const [index, { step_key }] of this.run.steps.entries()) {
      this.endWork(index);
      this.withdrawOffers(step_key);
    }
    this.status = "closed";
    this.record("closed", null, { ...given, outcome });
    const { actor } = given;
    const closed_by_user_id = actor?.actor_kind === "user" ? actor.actor_id : null;
    const close_note = given.notes ?? null;
    this.also = { outcome, close_note, closed_by_user_id, closed_at: this.attribution.at };
  }

  /** Offers of a step can no longer be accepted. */
  withdrawOffers(of: string | null): void {
    const isLeft = ({ step_key, status }: Offer) => step_key === of && status === "open";
    if (!this.offers.some(isLeft)) return;
    this.offers = this.offers.map((each) =>
      isLeft(each) ? { ...each, status: "declined", decided_at: this.attribution.at } : each,
    );
  }

  /**
   * Applies the consequences of a done step: withdraws its offers, makes others ready and, after the last one,
   * completes the run.
   */
  follow(step_key: string | null): void {
    const { run } = this;
    this.withdrawOffers(step_key);
    const done = doneKeys(run.steps, this.progress);
    for (const [index, step] of run.steps.entries()) {
      if (this.progress[index]?.status !== "blocked" || waitingOn(step, done).length > 0) continue;
      this.makeReady(index);
    }
    if (run.steps.length === 0 || this.status !== "active" || done.size < run.steps.length) return;
    this.status = "completed";
    this.record("completed", null);
  }
}

type Evidence = "record_id" | "notes" | "snapshots" | "handoff_offer_id";
type Finish = Doer & Required<Pick<Fact, Evidence>> & Pick<Fact, "event" | "attested">;

/**
 * Copies a run to change one of its steps.
 * @throws Fault not_found, conflict (closed), business_rule_violation (run_limit)
 */
export function open(run: RunState, step_key: string, attribution: Attribution) {
  const index = run.steps.findIndex((each) => each.step_key === step_key);
  if (index < 0) throw noStep(run, step_key);
  assertOpen(run);
  assertChangeable(run.version);
  const [step, progress] = [run.steps[index] as StepDef, run.progress[index] as StepProgress];
  return { draft: new Draft(run, attribution), index, step, progress };
}

const NAMED = 20;

function noStep({ steps }: RunState, step_key: string): Fault {
  const keys = steps.slice(0, NAMED).map((step) => `"${step.step_key}"`);
  const has = steps.length > 0 ? [...keys, ...(steps.length > NAMED ? ["…"] : [])].join(", ") : "none";
  return new Fault("not_found", `There is no step "${step_key}". Steps of the run: ${has}.`, {
    resource_type: "step",
    resource_id: step_key,
  });
}

function tooManyNotes(noted: number): Fault {
  const most = `The notes of a run, with its evidence, can have at most ${MOST_NOTES} bytes as JSON`;
  const message = `${most}; with these it would have ${noted}. Shorten them, or close the run and continue in a new one.`;
  return ruleBroken("run_limit", message);
}

/** @throws Fault business_rule_violation (run_limit) */
export function assertChangeable(version: number): void {
  if (version < MOST_CHANGES) return;
  const message = `The run has reached its limit of ${MOST_CHANGES} changes. Close it, and continue in a new run.`;
  throw ruleBroken("run_limit", message);
}

export function assertOpen({ _id, status }: RunState): void {
  if (status === "closed")
    throw conflict("The run is closed and cannot be changed. Continue in a new run.", {
      existing_resource_id: _id,
    });
}

/** @throws Fault step_not_ready, step_not_completable */
export function assertCompletable({ run }: Draft, step: StepDef, progress: StepProgress): void {
  if (progress.status === "blocked") throw notReady(run, step);
  if (!isDone(progress)) return;
  const { step_key } = step;
  const message = `The step "${step_key}" is already ${progress.status}. Reopen it to complete it again.`;
  throw new Fault("step_not_completable", message, { step_key });
}

export function notReady({ steps, progress }: RunState, step: StepDef): Fault {
  const { step_key } = step;
  const waiting_on = waitingOn(step, doneKeys(steps, progress));
  const names = waiting_on.map((key) => `"${key}"`).join(", ");
  const message = `The step "${step_key}" depends on ${names}. Complete or skip these first.`;
  return new Fault("step_not_ready", message, { step_key, waiting_on });
}

/** Returns the keys of a step's unfinished dependencies. */
export function waitingOn({ depends_on }: StepDef, done: ReadonlySet<string>): string[] {
  return depends_on.filter((key) => !done.has(key));
}

export function doneKeys(steps: readonly StepDef[], progress: readonly StepProgress[]): Set<string> {
  return new Set(steps.filter((_, i) => isDone(progress[i] as StepProgress)).map(({ step_key }) => step_key));
}

/** A skipped step satisfies its dependents too (api: Small print). */
export function isDone({ status }: StepProgress): boolean {
  return status === "completed" || status === "skipped";
}

/** Returns a step's direct successors, each with its index. */
export function successors({ steps }: Pick<RunState, "steps">, step_key: string): [number, StepDef][] {
  return [...steps.entries()].filter(([, { depends_on }]) => depends_on.includes(step_key));
}

/** Returns the completed steps in order of completion. */
export function listCompletions({ steps, progress }: Pick<RunState, "steps" | "progress">) {
  return steps
    .flatMap((step, i) => {
      const completion = progress[i]?.completion;
      return completion ? [{ step, completion }] : [];
    })
    .sort((a, b) => a.completion.order - b.completion.order);
}
