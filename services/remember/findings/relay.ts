import type { ServiceBroker } from "moleculer";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import { Actor } from "../../../mixins/actor.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
import { lastPlace, type Parts } from "./places.ts";

/** A memory that became institutional, from `memories.findings_due`. */
interface DueFinding {
  memory_id: string;
  tenant_id: string;
  agent_id: string | null;
  origin: "created" | "promoted";
  from_scope: MemoryScope | null;
  /** Milliseconds since 1970. */
  at: number;
}

const BATCH = 200;

/**
 * Gives memories that became institutional their positions in the sequence. A position is taken by writing it, only
 * after the previous one is durable. A reader who sees a position therefore sees all before it, without gaps.
 */
export class Relay {
  readonly #parts: Parts;
  readonly #broker: () => ServiceBroker;
  /** Serialises runs on this node; between nodes the unique position decides. */
  readonly #turns = new Actor();

  constructor(parts: Parts, broker: () => ServiceBroker) {
    this.#parts = parts;
    this.#broker = broker;
  }

  /** Relays all due memories of a tenant, or a batch of all tenants. @returns whether there may be more */
  run(tenant_id?: string): Promise<boolean> {
    return this.#turns.run(async () => {
      for (;;) {
        const more = await this.#batch(tenant_id);
        if (!more || tenant_id === undefined) return more;
      }
    });
  }

  async #batch(tenant_id?: string): Promise<boolean> {
    const asked = { tenant_id, limit: BATCH };
    const due = await this.#broker().call<DueFinding[], unknown>("memories.findings_due", asked);
    for (const [tenant, those] of Map.groupBy(due, (each) => each.tenant_id)) {
      let last = await lastPlace(this.#parts, tenant);
      for (const each of those) last = await this.#place(each, last);
      const ids = those.map(({ memory_id }) => memory_id);
      await this.#broker().call("memories.findings_placed", { tenant_id: tenant, ids });
    }
    return due.length === BATCH;
  }

  /** Writes it after the last known position; returns the new last position. */
  async #place(due: DueFinding, last: number): Promise<number> {
    const { findings } = this.#parts;
    const { memory_id: _id, tenant_id, agent_id, origin, from_scope, at } = due;
    const row = { _id, tenant_id, agent_id, origin, from_scope, recorded_at: new Date(at) };
    for (let seq = last + 1; ; ) {
      try {
        await findings.insert({ ...row, seq });
        return seq;
      } catch (err) {
        if (!isDuplicateKey(err)) throw err;
        // It has a position already, or another node took this one.
        if (await findings.findOne(tenant_id, { _id }, { projection: { seq: 1 } })) return seq - 1;
        seq = (await lastPlace(this.#parts, tenant_id)) + 1;
      }
    }
  }
}
