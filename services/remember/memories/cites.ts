import type { ServiceBroker } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { callerId } from "../../../lib/access/caller.ts";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { eachInTurn, Loop, tenantsInTurn } from "../../../mixins/loop.ts";
import { nullIfTaken, type TenantCollection } from "../../../storage/collection.ts";
import type { CiteDoc } from "./cites.model.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { findReadable, type Parts } from "./parts.ts";
import { isExpired } from "./rows.ts";

/** How long a citation counts. */
export const CITE_MS = 30 * DAY_MS;
const BATCH = 100;
const SWEEP_MS = 5_000;

interface CiteParts extends Parts {
  cites: TenantCollection<CiteDoc>;
}

/**
 * Writes citations as durable rows first. The effects (event, counts and rank of the memory) are applied by polling for
 * due rows: once when a citation is new and once when it no longer counts.
 */
export class Cites {
  readonly #parts: CiteParts;
  readonly #broker: () => ServiceBroker;
  readonly #loop: Loop;

  constructor(parts: CiteParts, broker: () => ServiceBroker, report: (err: unknown) => void) {
    this.#parts = parts;
    this.#broker = broker;
    this.#loop = new Loop(() => this.#settleDue(), SWEEP_MS, report);
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Records a citation; repeating it on the same day changes nothing. @throws Fault not_found */
  async cite(ctx: Call<{ id: string; originating_query_id?: string | null }>): Promise<void> {
    const { id, originating_query_id = null } = ctx.params;
    const { caller } = ctx.meta;
    const { doc } = await findReadable(this.#parts, ctx, id);
    const at = this.#parts.now();
    if (doc.status === "forgotten" || isExpired(doc, at.getTime())) throw notFound("memory", id);
    const cited_by = callerId(caller);
    const owner_id = doc.agent_id ?? doc.user_id;
    const row: CiteDoc = {
      _id: `${id} ${cited_by} ${at.toISOString().slice(0, 10)}`,
      tenant_id: caller.tenant_id,
      memory_id: id,
      cited_by,
      owner_id,
      own: owner_id === cited_by,
      originating_query_id,
      at,
      announced: false,
      due_at: at,
    };
    if (await this.#parts.cites.insert(row).catch(nullIfTaken)) this.#loop.nudge();
  }

  async #settleDue(): Promise<boolean> {
    const { cites, now } = this.#parts;
    const options = { sort: { due_at: 1 }, limit: BATCH } as const;
    const find = (others: object) =>
      cites.system.find({ due_at: { $lte: now() }, ...others }, options).toArray();
    return tenantsInTurn<CiteDoc>(find, BATCH, (_, rows) => eachInTurn(rows, (row) => this.#settle(row)));
  }

  async #settle(row: CiteDoc): Promise<void> {
    const { cites, now } = this.#parts;
    const { _id, tenant_id } = row;
    const memory = await this.#count(row);
    if (!memory || now().getTime() - row.at.getTime() >= CITE_MS) {
      await cites.delete(tenant_id, { _id });
      return;
    }
    if (!row.announced) await this.#announce(row, memory);
    const due_at = new Date(row.at.getTime() + CITE_MS);
    await cites.update(tenant_id, { _id }, { $set: { announced: true, due_at } });
  }

  /** Recomputes the counts of the cited memory from its citations. Returns null if the memory is gone. */
  async #count({ tenant_id, memory_id, at }: CiteDoc): Promise<MemoryDoc | null> {
    const { cites, memories, changes, now } = this.#parts;
    for (;;) {
      // Read before counting, and written at this version only: another node may have counted more meanwhile.
      const doc = await memories.findOne(tenant_id, { _id: memory_id });
      if (!doc) return null;
      const since = new Date(now().getTime() - CITE_MS);
      const rank_cites = await cites.count(tenant_id, { memory_id, own: false, at: { $gt: since } });
      const last_cited_at = doc.last_cited_at && doc.last_cited_at > at ? doc.last_cited_at : at;
      if (doc.rank_cites === rank_cites && doc.last_cited_at?.getTime() === last_cited_at.getTime())
        return doc;
      const counts = { rank_cites, last_cited_at, changed_at: now() };
      const known = { _id: memory_id, version: doc.version };
      const counted = await memories.update(tenant_id, known, { $set: counts, $inc: { version: 1 } });
      if (!counted) continue;
      if (doc.rank_cites !== rank_cites) await changes.after(this.#broker(), [counted]);
      return counted;
    }
  }

  async #announce(row: CiteDoc, { scope, agent_id, team_id }: MemoryDoc): Promise<void> {
    const { _id, tenant_id, memory_id, cited_by, own, originating_query_id, at } = row;
    await this.#broker().call("events.emit", {
      tenant_id,
      type: "memory.cited" satisfies PlatformEventType,
      subject: memory_id,
      data: { memory_id, cited_by, own, originating_query_id, at: at.toISOString() },
      dedupe: `cite ${_id}`,
      audience: { scope, agent_id, team_id },
    });
  }
}
