/** Limits of work in progress on a node: of all tenants, of one, and of one caller within it. */
interface SlotLimits {
  capacity: number;
  perTenant: number;
  perCaller: number;
}

/** Counts work in progress by lane: a tenant's id, or tenant and caller separated by a space (mixins/queue.ts). */
export class WorkerSlots {
  readonly #limits: SlotLimits;
  readonly #counts = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Whether a lane, or the node if none is given, is at its limit. */
  isFull(lane?: string): boolean {
    const { capacity, perTenant, perCaller } = this.#limits;
    if (lane === undefined) return this.#running.size >= capacity;
    return (this.#counts.get(lane) ?? 0) >= (lane.includes(" ") ? perCaller : perTenant);
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
