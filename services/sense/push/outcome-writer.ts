import type { ServiceBroker } from "moleculer";
import type { Outcome } from "../../../connectors/push-outcome.ts";
import type { Claimed } from "../deliveries/claim.ts";
import type { Target } from "./target.ts";

interface Pending {
  acknowledged: string[];
  failed: { id: string; lease: string; delay_seconds: number | null; reason: string }[];
  released: Map<string, string[]>;
}

const nothing = (): Pending => ({ acknowledged: [], failed: [], released: new Map() });

/** Collects the outcomes of an agent's pushes while earlier ones are being written. */
export class OutcomeWriter {
  readonly #target: Target;
  readonly #broker: ServiceBroker;
  readonly #report: (err: unknown) => void;
  #pending = nothing();
  #writing: Promise<void> | undefined;

  constructor(target: Target, broker: ServiceBroker, report: (err: unknown) => void) {
    this.#target = target;
    this.#broker = broker;
    this.#report = report;
  }

  add({ id, lease }: Claimed, outcome: Outcome): void {
    const { acknowledged, failed, released } = this.#pending;
    if (outcome.do === "acknowledge") acknowledged.push(id);
    else if (outcome.do === "retry") failed.push({ id, lease, ...outcome });
    else released.set(lease, [...(released.get(lease) ?? []), id]);
    this.flush();
  }

  /** Resolves when all outcomes added so far are written, or their write has failed: the lease is the backstop. */
  flush(): Promise<void> {
    this.#writing ??= this.#write();
    return this.#writing;
  }

  async #write(): Promise<void> {
    // Batch outcomes of the same tick.
    await new Promise((next) => setImmediate(next));
    while (this.#pending.acknowledged.length || this.#pending.failed.length || this.#pending.released.size) {
      const batch = this.#pending;
      this.#pending = nothing();
      await this.#settle(batch).catch(this.#report);
    }
    // Here, not when the promise is settled: outcomes added in between would be left unwritten.
    this.#writing = undefined;
  }

  async #settle({ acknowledged, failed, released }: Pending): Promise<void> {
    const { tenant_id, agent_id } = this.#target;
    const calls = [...released].map(([lease, delivery_ids]) =>
      this.#broker.call("deliveries.release", { tenant_id, agent_id, lease, delivery_ids }),
    );
    if (acknowledged.length || failed.length) {
      calls.push(this.#broker.call("deliveries.settle", { tenant_id, agent_id, acknowledged, failed }));
    }
    await Promise.all(calls);
  }
}
