import { Fault, isFault, notFound } from "../../lib/faults.ts";
import { Actors, Actor as Mailbox } from "../../mixins/actor.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { Change } from "./draft.ts";
import type { PlacedFact, RunDoc, RunFactDoc, StepProgress } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";

/** Writers of other nodes may come between so often. */
const MOST_RACES = 20;
const MOST_KEPT = 500;

interface Collections {
  runs: TenantCollection<RunDoc>;
  facts: TenantCollection<RunFactDoc>;
}

interface Options {
  /** What the run is set to besides, in the same write. */
  also?: Partial<RunDoc>;
  /**
   * The record that the transition makes, when its id follows from an Idempotency-Key: where it is made already, a
   * retry finds what the first try did.
   */
  once?: string | false;
}

/** A run before and after a transition, and the facts of it. Neither tells what is in the outbox. */
export interface Changed {
  before: RunDoc;
  run: RunDoc;
  facts: PlacedFact[];
}

/**
 * The runs, each changed by one guarded write at a time that carries its facts. Changes of one run wait for each other
 * here, which saves races, and the runs that were changed last are kept, which saves reading them again; what decides
 * is the version in the filter.
 */
export class RunStore {
  readonly #runs: TenantCollection<RunDoc>;
  readonly #facts: TenantCollection<RunFactDoc>;
  readonly #mailboxes = new Actors(() => new Mailbox());
  /** In the order of their last change. */
  readonly #kept = new Map<string, RunDoc>();
  readonly #changed: () => void;

  /** @param changed told after each change: there are facts to relay */
  constructor({ runs, facts }: Collections, changed: () => void) {
    this.#runs = runs;
    this.#facts = facts;
    this.#changed = changed;
  }

  /** @throws Fault not_found */
  async get(tenant_id: string, run_id: string): Promise<RunDoc> {
    const run = await this.#runs.findOne(tenant_id, { _id: run_id });
    if (!run) throw notFound("run", run_id);
    return run;
  }

  /** All that happened in a run, in order; also what is not relayed yet. Read the run first: facts move out of it. */
  async factsOf(run: RunDoc): Promise<PlacedFact[]> {
    const filter = { run_id: run._id };
    const stored = await this.#facts.find(run.tenant_id, filter, { sort: { version: 1, index: 1 } });
    const last = stored.at(-1);
    const newer = run.outbox.filter(({ version, index }) => !last || isAfter({ version, index }, last));
    return [...stored, ...newer];
  }

  async insert(run: RunDoc): Promise<RunDoc> {
    const stored = await this.#runs.insertOnce(run);
    this.#changed();
    return stored;
  }

  /**
   * Applies a transition, again from the newest state when another writer came between.
   *
   * @param transition state in, state and facts out; its faults go to the caller. No facts: nothing is written
   * @throws Fault not_found, conflict (too many others at once)
   */
  change(
    tenant_id: string,
    run_id: string,
    transition: (run: RunDoc) => Change,
    { also = {}, once }: Options = {},
  ): Promise<Changed> {
    return this.#mailboxes.with(run_id, (mailbox) =>
      mailbox.run(async () => {
        const kept = once ? undefined : this.#kept.get(run_id);
        const quick = kept?.tenant_id === tenant_id && (await this.#fromKept(kept, transition, also));
        if (quick) return quick;
        for (let races = 0; races < MOST_RACES; races++) {
          const run = await this.get(tenant_id, run_id);
          const made = once && (await this.#madeBy(run, once));
          if (made) return { before: run, run, facts: made };
          const changed = await this.#apply(run, transition(run), also);
          if (changed) return changed;
        }
        throw new Fault("conflict", "Too much happens in this run at once: try again.", {
          existing_resource_id: run_id,
        });
      }),
    );
  }

  /** From the run as it was after its last change here; null when it is not any more, or the transition is refused. */
  async #fromKept(run: RunDoc, transition: (run: RunDoc) => Change, also: Partial<RunDoc>) {
    let change: Change;
    try {
      change = transition(run);
    } catch (err) {
      // Only the newest state is a reason to refuse.
      if (isFault(err)) return null;
      throw err;
    }
    return this.#apply(run, change, also);
  }

  /** The facts that came with a record, or null when there is none with this id. */
  async #madeBy(run: RunDoc, record_id: string): Promise<PlacedFact[] | null> {
    const facts = await this.factsOf(run);
    const first = facts.find((fact) => fact.record_id === record_id);
    return first ? facts.filter(({ version }) => version === first.version) : null;
  }

  /** The guarded write; null when the run is not any more as it was. */
  async #apply(run: RunDoc, { status, progress, offers, facts }: Change, also: Partial<RunDoc>) {
    const { _id, tenant_id } = run;
    if (facts.length === 0) return { before: run, run, facts: [] };
    const version = run.version + 1;
    const placed = place(facts, version);
    const at = placed[0]?.at as Date;
    const stale_check_at = nextStaleCheck({ status, progress, steps: run.steps });
    const changes = { ...also, status, version, updated_at: at };
    const written = await this.#runs.updateMany(tenant_id, { _id, version: run.version }, {
      $set: {
        ...{ ...changes, ...changedSteps(run.progress, progress), relay_at: at },
        ...(offers !== run.offers && { offers }),
        ...(stale_check_at && { stale_check_at }),
      },
      $push: { outbox: { $each: placed } },
      ...(!stale_check_at && { $unset: { stale_check_at: 1 } }),
    } as never);
    this.#kept.delete(_id);
    if (written === 0) return null;
    const after: RunDoc = { ...run, ...changes, progress, offers: [...offers], outbox: [] };
    this.#keep(after);
    this.#changed();
    return { before: run, run: after, facts: placed };
  }

  #keep(run: RunDoc): void {
    this.#kept.set(run._id, run);
    if (this.#kept.size <= MOST_KEPT) return;
    const [oldest] = this.#kept.keys();
    this.#kept.delete(oldest as string);
  }
}

/** Only what is new of the steps' progress: a run may have hundreds. */
function changedSteps(
  before: readonly StepProgress[],
  after: readonly StepProgress[],
): Record<string, StepProgress> {
  const changed = [...after.entries()].filter(([i, each]) => each !== before[i]);
  return Object.fromEntries(changed.map(([i, each]) => [`progress.${i}`, each]));
}

/** Facts with their places in a run. */
export function place(facts: Change["facts"], version: number): PlacedFact[] {
  return facts.map((fact, index) => ({ ...fact, version, index }));
}

type Place = Pick<PlacedFact, "version" | "index">;

function isAfter(a: Place, b: Place): boolean {
  return a.version > b.version || (a.version === b.version && a.index > b.index);
}
