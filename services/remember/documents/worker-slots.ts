/** Limits of documents in work on a node: of all tenants, of one, and of one uploader. */
export const MOST_IN_WORK = 32;
const MOST_OF_TENANT = 4;
const MOST_OF_CALLER = 2;

/** Counts documents in work by lane: a tenant's id, or tenant and uploader separated by a space. */
export class WorkerSlots {
  readonly #counts = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();

  /** Whether a lane, or the node if none is given, is at its limit. */
  isFull(lane?: string): boolean {
    if (lane === undefined) return this.#running.size >= MOST_IN_WORK;
    return (this.#counts.get(lane) ?? 0) >= (lane.includes(" ") ? MOST_OF_CALLER : MOST_OF_TENANT);
  }

  /** Counts `work`, which never rejects, in each of the lanes until it ends; then calls `ended`. */
  add(lanes: ReadonlySet<string>, work: Promise<void>, ended: () => void): void {
    for (const lane of lanes) this.#count(lane, 1);
    const running = work.then(() => {
      this.#running.delete(running);
      for (const lane of lanes) this.#count(lane, -1);
      ended();
    });
    this.#running.add(running);
  }

  /** Resolves when all current work has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  #count(lane: string, by: number): void {
    const count = (this.#counts.get(lane) ?? 0) + by;
    if (count > 0) this.#counts.set(lane, count);
    else this.#counts.delete(lane);
  }
}
