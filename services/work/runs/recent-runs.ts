import type { Run, RunDoc } from "./runs.model.ts";

const MOST_RUNS = 500;
/** Maximum total of their plans, in characters. */
const MOST_TEXT = 8_388_608;

/** How long facts are gathered before relaying: a busy run is then written once for many. */
const GATHER_MS = 50;

/**
 * Caches the runs that were changed last on this node in their latest state, each with all that its outbox may hold.
 */
export class RecentRuns {
  /** In the order of their last change. */
  readonly #runs = new Map<string, Run>();
  readonly #unrelayed = new Set<string>();
  readonly #relay: () => void;
  #gathering: NodeJS.Timeout | undefined;
  #text = 0;

  /** @param relay called soon after a change that has facts to relay */
  constructor(relay: () => void) {
    this.#relay = relay;
  }

  stop(): void {
    clearTimeout(this.#gathering);
  }

  get(run_id: string): Run | undefined {
    return this.#runs.get(run_id);
  }

  /** Caches a run that has facts to relay. */
  keep(run: Run): void {
    this.forget(run._id);
    this.#runs.set(run._id, run);
    this.#unrelayed.add(run._id);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#relay();
    }, GATHER_MS).unref();
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

  /** Returns runs with facts to relay, each once. Evicted runs are found in the store. */
  takeUnrelayed(limit: number): Run[] {
    const taken = [...this.#unrelayed.values().take(limit)];
    for (const run_id of taken) this.#unrelayed.delete(run_id);
    return taken.flatMap((run_id) => this.#runs.get(run_id) ?? []);
  }

  /** Removes relayed facts from the cached outbox of a run. */
  relayed({ _id, outbox }: Pick<RunDoc, "_id" | "outbox">): void {
    const run = this.#runs.get(_id);
    if (!run) return;
    const rest = Object.entries(run.outbox).filter(([slot]) => !(slot in outbox));
    this.#runs.set(_id, { ...run, outbox: Object.fromEntries(rest) });
  }
}
