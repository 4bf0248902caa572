import type { Service, ServiceBroker } from "moleculer";
import type { GaugeName } from "../observability/gauges.ts";
import { observeGauge } from "../observability/metrics.ts";
import { isOwner } from "./affinity.ts";
import { type More, ServiceLoop } from "./loop.ts";
import { Unwritten } from "./quiet.ts";

/** The nodes that do not own a shared loop run it this many times less often, in case its owner cannot. */
const STANDBY_INTERVALS = 20;
/** Nodes that start together see each other by then, so that only one of them runs a shared loop. */
const DISCOVERY_MS = 2000;

/**
 * A loop over rows that any node could process. One of the nodes with the service owns it and runs it at its interval,
 * so that no two look for the same rows; when the owner leaves, another one continues within an interval. A nudge runs
 * it on any node.
 */
export class SharedLoop extends ServiceLoop {
  #skipped = 0;

  protected override get startMs(): number {
    return this.service.broker.transit ? DISCOVERY_MS : 0;
  }

  get isOwn(): boolean {
    return isOwner(this.service.broker, this.service.name, this.name);
  }

  protected override isDue(): boolean {
    this.#skipped = this.isOwn ? 0 : (this.#skipped + 1) % STANDBY_INTERVALS;
    return this.#skipped === 0;
  }
}

/**
 * A loop of every node that compares its state with some collections. Without a nudge it runs only if one of them was written
 * since, so that at rest further nodes add no statements.
 */
export class FollowingLoop extends ServiceLoop {
  readonly #rows: Unwritten;

  /** @param collections that the task reads */
  constructor(
    name: string,
    task: (broker: ServiceBroker) => Promise<More>,
    interval: number,
    collections: readonly string[],
  ) {
    const rows = new Unwritten(...collections);
    super(name, (broker) => rows.look(() => task(broker)), interval);
    this.#rows = rows;
  }

  protected override isDue(): boolean {
    return !this.#rows.isQuiet;
  }
}

/** Adds a gauge of what all nodes share: the owner of `owned` reports it, so that a sum over the nodes counts it once. */
export function observeSharedGauge(
  { broker, name: service }: Service,
  name: GaugeName,
  read: () => Promise<Record<string, number>>,
  owned: string = name,
): void {
  observeGauge(name, async () => (isOwner(broker, service, owned) ? read() : {}));
}
