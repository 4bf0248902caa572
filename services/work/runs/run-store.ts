import { requireFound } from "../../../lib/contract/faults.ts";
import { Actors, Actor as Mailbox } from "../../../mixins/actor.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Where } from "../../../storage/query.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import type { NewWait } from "../../sense/interests/waits.ts";
import { buildUpdate, factsAfter, opened, placed, transitionsIn, withPeople } from "./run-document.ts";
import type { Change } from "./run-state.ts";
import {
  type PlacedFact,
  type Run,
  RunArtifactModel,
  type RunDoc,
  RunFactsModel,
  RunModel,
  type StepProgress,
} from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";
import { begunWaits, waitsOf } from "./waits.ts";

/** How long facts are gathered before they are relayed. */
const GATHER_MS = 50;

type Transition = (run: Run) => Change;

type Begin = (tenant_id: string, waits: NewWait[]) => Promise<void>;

/** A run before and after a transition, and its facts. Neither includes the outbox. */
export interface Changed {
  before: Run;
  run: Run;
  facts: PlacedFact[];
}

/**
 * Stores runs. Each is changed by one guarded write at a time that includes its facts. Changes of one run queue here to
 * avoid conflicts; the version in the filter guarantees consistency.
 */
export class RunStore {
  readonly runs;
  readonly facts;
  readonly artifacts;
  readonly now;
  readonly #mailboxes = new Actors(() => new Mailbox());

  readonly #past: () => number;
  readonly #relay: () => void;
  readonly #begin: Begin;
  #gathering: NodeJS.Timeout | undefined;

  /**
   * @param relay called soon after changes, which have facts to relay
   * @param begin called before a change is written that begins waits
   */
  constructor(store: Store, relay: () => void, begin: Begin) {
    this.#past = store.past;
    this.#relay = relay;
    this.#begin = begin;
    this.runs = store.collection(RunModel);
    this.facts = store.collection(RunFactsModel);
    this.artifacts = store.collection(RunArtifactModel);
    this.now = store.now;
  }

  /** Returns a run as stored now. @throws Fault not_found */
  async get(tenant_id: string, run_id: string): Promise<Run> {
    return opened(requireFound(await this.runs.findOne(tenant_id, { _id: run_id }), "run", run_id));
  }

  /** Returns a page of runs, newest first: fewer than requested if they are long. */
  async list(
    tenant_id: string,
    filter: Where<RunDoc>,
    { skip, limit }: { skip: number; limit: number },
  ): Promise<Run[]> {
    const options = { sort: { created_at: -1, _id: -1 }, projection: { outbox: 0 }, skip, limit } as const;
    return (await this.runs.findWithin(tenant_id, filter, options)).rows.map(opened);
  }

  /**
   * Returns all facts of a run in order, including unrelayed ones. Read the run first: relaying moves facts out of it.
   */
  async factsOf(run: Run): Promise<PlacedFact[]> {
    const filter = { run_id: run._id };
    const stored = await this.facts.find(run.tenant_id, filter, {
      sort: { version: 1 },
      bounded: "MOST_NOTED of a run",
    });
    const last = stored.at(-1)?.version ?? 0;
    const newer = transitionsIn(run.outbox).filter(({ version }) => version > last);
    return [...stored, ...newer].flatMap(placed);
  }

  async insert({ steps, ...run }: Omit<Run, "plan">): Promise<Run> {
    await this.#beginWaits({ ...run, steps }, []);
    const stored = await this.runs.insertOnce({ ...run, plan: JSON.stringify(steps) });
    this.#changed();
    return opened(stored);
  }

  /** Attaches an exemplar to a run or detaches it. Returns null if the run does not exist. */
  async attach(
    tenant_id: string,
    run_id: string,
    exemplar_id: string,
    attached: boolean,
  ): Promise<Run | null> {
    const exemplar_ids = exemplar_id;
    const doc = await this.runs.update(
      tenant_id,
      { _id: run_id },
      // Conflicts with transitions from a state before this change.
      { ...(attached ? { $addToSet: { exemplar_ids } } : { $pull: { exemplar_ids } }), $inc: { version: 1 } },
    );
    return doc && opened(doc);
  }

  /**
   * Applies a transition to the newest state, and again after each conflicting write.
   * @param transition state in, state and facts out; its faults go to the caller. No facts: no write
   * @param once the id of the record that it creates, if derived from an Idempotency-Key: if it exists, a retry returns
   * the result of the first try
   * @throws Fault not_found, conflict (too many concurrent changes)
   */
  change(tenant_id: string, run_id: string, transition: Transition, once?: string | false): Promise<Changed> {
    const attempt = async () => {
      const run = await this.get(tenant_id, run_id);
      const made = once && (await this.#madeBy(run, once));
      return made ? { before: run, run, facts: made } : this.#apply(run, transition(run));
    };
    const refusal = "Too many concurrent changes to this run. Retry.";
    return this.#mailboxes.with(run_id, (mailbox) =>
      mailbox.run(() => guardedWrite(attempt, refusal, run_id)),
    );
  }

  /**
   * Begins waits before the run is written that has them: an event that is accepted later is not missed. Those of a
   * change that is not written are ended with the next one, or by the first event, which the run then ignores.
   */
  async #beginWaits(run: Omit<Run, "plan">, before: readonly StepProgress[]): Promise<void> {
    // Twice the error of this node's clock: that of the node that accepts an event may be as large.
    const waits = begunWaits(run, before, 2 * (this.now() - this.#past()));
    if (waits.length) await this.#begin(run.tenant_id, waits);
  }

  /** Returns the facts that created a record; null if no record has this id. */
  async #madeBy(run: Run, record_id: string): Promise<PlacedFact[] | null> {
    const facts = await this.factsOf(run);
    const first = facts.find((fact) => fact.record_id === record_id);
    return first ? facts.filter(({ version }) => version === first.version) : null;
  }

  /** Gathers facts for a moment: a busy run is then relayed once for many changes. */
  #changed(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#relay();
    }, GATHER_MS).unref();
  }

  /** Performs the guarded write; returns null if the run has changed. */
  async #apply(run: Run, change: Change): Promise<Changed | null> {
    if (change.facts.length === 0) return { before: run, run, facts: [] };
    const { also = {} } = change;
    const { _id, tenant_id, version } = run;
    const after = changedRun(run, change, also);
    await this.#beginWaits(after, run.progress);
    const facts = factsAfter(change);
    const update = buildUpdate(run, after, also, facts);
    if ((await this.runs.updateMany(tenant_id, { _id, version }, update)) === 0) return null;
    this.#changed();
    return { before: run, run: after, facts: placed({ version: after.version, facts }) };
  }
}

/** Returns the run after a change with facts, without its outbox. @param also further fields to set */
function changedRun(run: Run, change: Change, also: Partial<Run>): Run {
  const { status, progress, offers, facts, noted = run.noted } = change;
  const steps = withPeople(run.steps, progress);
  const next = nextStaleCheck({ status, progress, steps });
  const at = facts[0]?.at as Date;
  return {
    ...{ ...run, ...also, steps, status, progress, offers: [...offers], noted },
    ...(run.waits && { waits: waitsOf(progress) }),
    ...{ stale_check_at: checkAt(run.stale_check_at, next, at), version: run.version + 1, updated_at: at },
  };
}

/** Returns when to check for stale steps: by the time the next one becomes stale, or earlier if that saves a write. */
function checkAt(before: Date | undefined, next: Date | null, now: Date): Date | undefined {
  const isEarly = before && before > now && (next === null || before <= next);
  return isEarly ? before : (next ?? undefined);
}
