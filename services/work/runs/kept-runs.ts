import type { Run, RunDoc } from "./runs.model.ts";

const MOST_RUNS = 500;
/** Characters of their plans. */
const MOST_TEXT = 8_388_608;

/** The runs that were changed last on this node, as they were after that: each with all that its outbox may hold. */
export class KeptRuns {
  /** In the order of their last change. */
  readonly #runs = new Map<string, Run>();
  readonly #unrelayed = new Set<string>();
  readonly #changed: () => void;
  #text = 0;

  /** @param changed told when there are facts to relay */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get(run_id: string): Run | undefined {
    return this.#runs.get(run_id);
  }

  /** Keeps a run that has facts to relay. */
  keep(run: Run): void {
    this.forget(run._id);
    this.#runs.set(run._id, run);
    this.#unrelayed.add(run._id);
    this.#changed();
    this.#text += run.plan.length;
    for (const [oldest] of this.#runs) {
      if (this.#runs.size <= MOST_RUNS && this.#text <= MOST_TEXT) return;
      this.forget(oldest);
    }
  }

  forget(run_id: string): void {
    this.#text -= this.#runs.get(run_id)?.plan.length ?? 0;
    this.#runs.delete(run_id);
  }

  /** Runs that have facts to relay; each is given once. One that is kept no more is found in the store. */
  takeUnrelayed(limit: number): Run[] {
    const taken = [...this.#unrelayed.values().take(limit)];
    for (const run_id of taken) this.#unrelayed.delete(run_id);
    return taken.flatMap((run_id) => this.#runs.get(run_id) ?? []);
  }

  /** What was in the outbox of a run is there no more. */
  relayed({ _id, outbox }: Pick<RunDoc, "_id" | "outbox">): void {
    const run = this.#runs.get(_id);
    if (!run) return;
    const rest = Object.entries(run.outbox).filter(([slot]) => !(slot in outbox));
    this.#runs.set(_id, { ...run, outbox: Object.fromEntries(rest) });
  }
}
