import { upToSize } from "../../../lib/broker/message-size.ts";
import { isFault, notFound } from "../../../lib/contract/faults.ts";
import { Actors, Actor as Mailbox } from "../../../mixins/actor.ts";
import { guardedWrite } from "../../../mixins/guarded-write.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Change } from "./draft.ts";
import type { KeptRuns } from "./kept-runs.ts";
import { factsAfter, placed, slotOf, transitionsIn } from "./outbox.ts";
import { changedRun, updateOf, withPeople } from "./run-write.ts";
import type { PlacedFact, Run, RunDoc, RunFactsDoc } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";

const READ_FIRST = 5;

interface Parts {
  runs: TenantCollection<RunDoc>;
  facts: TenantCollection<RunFactsDoc>;
  kept: KeptRuns;
}

type Transition = (run: Run) => Change;

interface Options {
  /** What the run is set to besides, in the same write. */
  also?: Partial<Run>;
  /**
   * The record that the transition makes, when its id follows from an Idempotency-Key: where it is made already, a
   * retry finds what the first try did.
   */
  once?: string | false;
}

/** A run before and after a transition, and the facts of it. Neither tells what is in the outbox. */
export interface Changed {
  before: Run;
  run: Run;
  facts: PlacedFact[];
}

/**
 * The runs, each changed by one guarded write at a time that carries its facts. Changes of one run wait for each other
 * here, which saves races, and the runs that were changed last are kept, which saves reading them again; what decides
 * is the version in the filter.
 */
export class RunStore {
  readonly #runs: TenantCollection<RunDoc>;
  readonly #facts: TenantCollection<RunFactsDoc>;
  readonly #mailboxes = new Actors(() => new Mailbox());
  readonly #kept: KeptRuns;

  constructor({ runs, facts, kept }: Parts) {
    this.#runs = runs;
    this.#facts = facts;
    this.#kept = kept;
  }

  /** A run as the store has it now. @throws Fault not_found */
  async get(tenant_id: string, run_id: string): Promise<Run> {
    const doc = await this.#runs.findOne(tenant_id, { _id: run_id });
    if (!doc) throw notFound("run", run_id);
    return opened(doc);
  }

  /** A page of runs, the newest first: fewer than asked for where one message between nodes takes no more. */
  async list(
    tenant_id: string,
    filter: Partial<Pick<RunDoc, "status" | "project_id">>,
    { skip, limit }: { skip: number; limit: number },
  ): Promise<Run[]> {
    const options = { sort: { created_at: -1, _id: -1 }, projection: { outbox: 0 } } as const;
    // By their ids: one that is made meanwhile moves the others on, and the last of them come again.
    const page = new Map<string, RunDoc>();
    let at = skip;
    // A few at first: of long ones most would be read for nothing.
    for (let next = READ_FIRST; page.size < limit; next *= 8) {
      const most = Math.min(next, limit - page.size);
      const found = await this.#runs.find(tenant_id, filter, { ...options, skip: at, limit: most });
      at += found.length;
      for (const doc of found) page.set(doc._id, doc);
      const fit = upToSize([...page.values()], charactersOf);
      if (fit.length < page.size || found.length < most) return fit.map(opened);
    }
    return [...page.values()].map(opened);
  }

  /** All that happened in a run, in order; also what is not relayed yet. Read the run first: facts move out of it. */
  async factsOf(run: Run): Promise<PlacedFact[]> {
    const filter = { run_id: run._id };
    const stored = await this.#facts.find(run.tenant_id, filter, { sort: { version: 1 } });
    const last = stored.at(-1)?.version ?? 0;
    const newer = transitionsIn(run.outbox).filter(({ version }) => version > last);
    return [...stored, ...newer].flatMap(placed);
  }

  async insert({ steps, ...run }: Omit<Run, "plan">): Promise<Run> {
    const doc = { ...run, plan: JSON.stringify(steps) };
    const stored = await this.#runs.insertOnce(doc);
    if (stored !== doc) return opened(stored);
    this.#kept.keep({ ...doc, steps });
    return { ...doc, steps };
  }

  /** Names an exemplar in a run, or does so no more. Null when there is no such run. */
  async attach(
    tenant_id: string,
    run_id: string,
    exemplar_id: string,
    attached: boolean,
  ): Promise<Run | null> {
    const exemplar_ids = exemplar_id;
    const doc = await this.#runs.update(
      tenant_id,
      { _id: run_id },
      // A transition from a state that does not know of it must not hold.
      { ...(attached ? { $addToSet: { exemplar_ids } } : { $pull: { exemplar_ids } }), $inc: { version: 1 } },
    );
    return doc && opened(doc);
  }

  /** Notes when to look next for stale steps of a run that has none to tell of now. */
  async checkLater(tenant_id: string, run_id: string): Promise<void> {
    const run = await this.get(tenant_id, run_id);
    const stale_check_at = nextStaleCheck(run);
    const version = run.version + 1;
    await this.#runs.updateMany(
      tenant_id,
      { _id: run_id, version: run.version },
      stale_check_at
        ? { $set: { version, stale_check_at } }
        : { $set: { version }, $unset: { stale_check_at: 1 } },
    );
  }

  /**
   * Applies a transition: to the run as it was after its last change here, then, if that is not how it is any more or
   * no reason to refuse, to the newest state, again when another writer came between.
   *
   * @param transition state in, state and facts out; its faults go to the caller. No facts: nothing is written
   * @throws Fault not_found, conflict (too many others at once)
   */
  change(tenant_id: string, run_id: string, transition: Transition, options: Options = {}): Promise<Changed> {
    return this.#mailboxes.with(run_id, (mailbox) =>
      mailbox.run(() => this.#change(tenant_id, run_id, transition, options)),
    );
  }

  async #change(
    tenant_id: string,
    run_id: string,
    transition: Transition,
    { also = {}, once }: Options,
  ): Promise<Changed> {
    const kept = once ? undefined : this.#kept.get(run_id);
    const quick = kept?.tenant_id === tenant_id ? provisional(kept, transition) : null;
    const done = kept && quick && (await this.#apply(kept, quick, also));
    if (done) return done;
    const attempt = async () => {
      const run = await this.get(tenant_id, run_id);
      const made = once && (await this.#madeBy(run, once));
      return made ? { before: run, run, facts: made } : this.#apply(run, transition(run), also);
    };
    return guardedWrite(attempt, "Too much happens in this run at once: try again.", run_id);
  }

  /** The facts that came with a record, or null when there is none with this id. */
  async #madeBy(run: Run, record_id: string): Promise<PlacedFact[] | null> {
    const facts = await this.factsOf(run);
    const first = facts.find((fact) => fact.record_id === record_id);
    return first ? facts.filter(({ version }) => version === first.version) : null;
  }

  /** The guarded write; null when the run is not any more as it was. */
  async #apply(run: Run, change: Change, also: Partial<Run>): Promise<Changed | null> {
    if (change.facts.length === 0) return { before: run, run, facts: [] };
    const { _id, tenant_id, version } = run;
    const after = changedRun(run, change, also);
    const facts = factsAfter(change);
    const update = updateOf(run, after, also, facts);
    const written = await this.#runs.updateMany(tenant_id, { _id, version }, update);
    const kept = this.#kept.get(_id);
    this.#kept.forget(_id);
    if (written === 0) return null;
    // Of this very state facts may have been relayed meanwhile.
    const known = kept?.version === version ? kept.outbox : run.outbox;
    this.#kept.keep({ ...after, outbox: { ...known, [slotOf(after.version)]: facts } });
    return { before: run, run: after, facts: placed({ version: after.version, facts }) };
  }
}

/** Of a run as it is shown, about. */
function charactersOf({
  plan,
  progress,
  goal,
  success_criteria,
  ambiguity_notes,
  close_note,
}: RunDoc): number {
  const told = JSON.stringify([goal, success_criteria, ambiguity_notes, close_note]);
  return plan.length + progress.length * 100 + told.length;
}

function opened(doc: RunDoc): Run {
  return { ...doc, steps: withPeople(JSON.parse(doc.plan), doc.progress) };
}

/** What a transition makes of a run that may be behind; null where only the newest state can tell. */
function provisional(run: Run, transition: Transition): Change | null {
  try {
    const change = transition(run);
    return change.facts.length ? change : null;
  } catch (err) {
    if (isFault(err)) return null;
    throw err;
  }
}
