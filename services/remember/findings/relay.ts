import type { ServiceBroker } from "moleculer";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import { Actor } from "../../../mixins/actor.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import { type Findings, lastPosition } from "./sequence.ts";

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

type Calls = Pick<ServiceBroker, "call">;

/**
 * Gives memories that became institutional their positions in the sequence. A position is taken by writing it, only
 * after the previous one is durable. A reader who sees a position therefore sees all before it, without gaps.
 */
export class Relay {
  readonly #findings: Findings;
  /** Serialises runs on this node; between nodes the unique position decides. */
  readonly #actor = new Actor();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Relays all due memories of a tenant, or a batch of all tenants. @returns whether there may be more */
  run(calls: Calls, tenant_id?: string): Promise<boolean> {
    return this.#actor.run(async () => {
      for (;;) {
        const more = await this.#batch(calls, tenant_id);
        if (!more || tenant_id === undefined) return more;
      }
    });
  }

  async #batch(calls: Calls, tenant_id?: string): Promise<boolean> {
    const asked = { tenant_id, limit: BATCH };
    const due = await calls.call<DueFinding[], unknown>("memories.findings_due", asked);
    for (const [tenant, those] of Map.groupBy(due, (each) => each.tenant_id)) {
      let last = await lastPosition(this.#findings, tenant);
      for (const each of those) last = await this.#place(each, last);
      const ids = those.map(({ memory_id }) => memory_id);
      await calls.call("memories.findings_placed", { tenant_id: tenant, ids });
    }
    return due.length === BATCH;
  }

  /** Writes it after the last known position; returns the new last position. */
  async #place(due: DueFinding, last: number): Promise<number> {
    const { rows } = this.#findings;
    const { memory_id: _id, tenant_id, agent_id, origin, from_scope, at } = due;
    const row = { _id, tenant_id, agent_id, origin, from_scope, recorded_at: new Date(at) };
    for (let seq = last + 1; ; ) {
      try {
        await rows.insert({ ...row, seq });
        return seq;
      } catch (err) {
        if (!isDuplicateKey(err)) throw err;
        // It has a position already, or another node took this one.
        if (await rows.findOne(tenant_id, { _id }, { projection: { seq: 1 } })) return seq - 1;
        seq = (await lastPosition(this.#findings, tenant_id)) + 1;
      }
    }
  }
}
