import type { ServiceBroker } from "moleculer";

/**
 * Batches the times when keys were used, so that `last_used_at` costs one write per key and period, not per request.
 */
export class KeyUses {
  #uses = new Map<string, { tenant_id: string; key_id: string; at: number }>();

  note(key_id: string, tenant_id: string, at: number): void {
    this.#uses.set(key_id, { tenant_id, key_id, at });
  }

  async flush(broker: ServiceBroker): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = [...this.#uses.values()];
    this.#uses = new Map();
    await broker.call("keys.touch", { uses });
  }
}
