import { createHash, type Hash } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { newUuid } from "../../../lib/ids.ts";
import { writings } from "../../../lib/text/subject.ts";
import { scrub } from "../../../mixins/scrub.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Removal, Store } from "../../../storage/connection.ts";
import type { Where } from "../../../storage/query.ts";
import type { CiteDoc } from "./cites.model.ts";
import { type Counts, chunksOf, countEverywhere, eraseEverywhere, sum } from "./erase-everywhere.ts";
import type { MemoryErasureDoc } from "./erasures.model.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";

/** The target of an erasure: exactly one of these fields. */
export interface EraseTarget {
  agent_id?: string;
  ids?: string[];
  subject?: string;
}

/** The result of an erasure. */
export interface Erased {
  erased_at: Date;
  erased: Counts;
  memory_ids_sha256: string;
  storage: Removal;
}

export interface ErasureParts extends Parts {
  cites: TenantCollection<CiteDoc>;
  erasures: TenantCollection<MemoryErasureDoc>;
  store: Pick<Store, "scrub">;
  broker(): ServiceBroker;
}

const NOTHING: Counts = {
  memories: 0,
  documents: 0,
  chunks: 0,
  relationships: 0,
  citations: 0,
  merge_proposals: 0,
  findings: 0,
  bundles: 0,
  handoffs: 0,
};
const BATCH = 200;
const PAGE = 1000;
/** Keeps messages between nodes below about one megabyte. */
const MOST_IDS = 20_000;
/** How long an erasure may run before another node takes it over. */
const LEASE_MS = 120_000;

/** Erases memories with all data about them. `resume` finishes what a crash interrupts. */
export class Erasures {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /** Counts what an erasure would erase. */
  async count(tenant_id: string, target: EraseTarget): Promise<Counts> {
    const ids = await this.#idsOf(tenant_id, filterOf(target));
    let counts: Counts = sum(NOTHING, { memories: ids.length });
    for (const some of chunksOf(ids, BATCH)) {
      counts = sum(counts, await countEverywhere(this.#parts, this.#parts.broker(), tenant_id, some));
    }
    return sum(counts, await this.#documents(tenant_id, target, true));
  }

  /** Records an erasure, so that it will be carried out. @param by the target's name in the audit log */
  async begin(tenant_id: string, target: EraseTarget, by: object): Promise<MemoryErasureDoc> {
    const now = this.#parts.now();
    return this.#parts.erasures.insert({
      ...{ _id: newUuid(), tenant_id, target: JSON.stringify(target), by: JSON.stringify(by), batch: [] },
      ...{ begun_at: now, lease_ends_at: new Date(now.getTime() + LEASE_MS) },
    });
  }

  /** Resolves when nothing is left in rows, search, blobs and files. After a failure `resume` retries. */
  async carryOut(row: MemoryErasureDoc): Promise<Erased> {
    const { erasures, store, now, broker } = this.#parts;
    const { _id, tenant_id } = row;
    try {
      const digest = createHash("sha256");
      const erased = await this.#eraseRows(row, digest);
      // The target names a person; the files must keep no copy of it.
      await erasures.update(tenant_id, { _id }, { $set: { target: null, batch: [] } });
      const storage = await scrub(broker(), store);
      await erasures.delete(tenant_id, { _id });
      return { erased_at: now(), erased, memory_ids_sha256: digest.digest("hex"), storage };
    } catch (err) {
      await erasures.update(tenant_id, { _id }, { $set: { lease_ends_at: now() } }).catch(() => null);
      throw err;
    }
  }

  /** Makes all interrupted erasures available to `resume`: the process that began them is gone. */
  async reclaim(): Promise<void> {
    await this.#parts.erasures.system.updateMany({}, { $set: { lease_ends_at: new Date(0) } });
  }

  /** Finishes an interrupted erasure. @returns whether there may be more */
  async resume(): Promise<boolean> {
    const { erasures, now, broker } = this.#parts;
    const [due] = (await erasures.system
      .find({ lease_ends_at: { $lte: now() } }, { sort: { lease_ends_at: 1 }, limit: 1 })
      .toArray()) as MemoryErasureDoc[];
    const row = due && (await this.#claim(due));
    if (!row) return false;
    const { erased, memory_ids_sha256 } = await this.carryOut(row);
    const details = { by: JSON.parse(row.by), erased, memory_ids_sha256 };
    const noted = { tenant_id: row.tenant_id, action: "memories.erase", resource_type: "memory", details };
    await broker().call("audit.record", noted);
    return true;
  }

  #claim({ _id, tenant_id, lease_ends_at }: MemoryErasureDoc): Promise<MemoryErasureDoc | null> {
    const { erasures, now } = this.#parts;
    const until = new Date(now().getTime() + LEASE_MS);
    return erasures.update(tenant_id, { _id, lease_ends_at }, { $set: { lease_ends_at: until } });
  }

  async #eraseRows({ _id, tenant_id, target, batch }: MemoryErasureDoc, digest: Hash): Promise<Counts> {
    let erased = batch.length ? await this.#eraseBatch(_id, tenant_id, batch) : {};
    if (target === null) return sum(NOTHING, erased);
    const named = JSON.parse(target) as EraseTarget;
    // Documents first, so that no more memories are created from them.
    erased = [NOTHING, { vectors: 0 }, await this.#documents(tenant_id, named, false)].reduce(sum, erased);
    for (;;) {
      const ids = await this.#idsOf(tenant_id, filterOf(named));
      // The subject may still be writing.
      if (ids.length === 0) return erased;
      for (const id of ids) digest.update(`${id}\n`);
      for (const some of chunksOf(ids, MOST_IDS)) {
        await this.#parts.broker().call("idempotency.erase", { tenant_id, ids: some });
      }
      for (const some of chunksOf(ids, BATCH)) {
        erased = sum(erased, await this.#eraseBatch(_id, tenant_id, some));
      }
    }
  }

  async #eraseBatch(_id: string, tenant_id: string, ids: string[]): Promise<Counts> {
    const { memories, erasures, now } = this.#parts;
    const lease_ends_at = new Date(now().getTime() + LEASE_MS);
    await erasures.update(tenant_id, { _id }, { $set: { batch: ids, lease_ends_at } });
    const broker = this.#parts.broker();
    const counts = await eraseEverywhere(this.#parts, broker, tenant_id, ids);
    const rows = await memories.deleteMany(tenant_id, { _id: { $in: ids } });
    // Repeated for writes that began with rows read before: from here on none of them can be read.
    const late = await eraseEverywhere(this.#parts, broker, tenant_id, ids);
    return [counts, late, { memories: rows }].reduce(sum);
  }

  /** Erases, or counts, documents uploaded about the subject, if the target names one. */
  async #documents(tenant_id: string, { subject }: EraseTarget, dry_run: boolean): Promise<Counts> {
    if (subject === undefined) return {};
    return this.#parts
      .broker()
      .call<Counts, unknown>("documents.erase_subject", { tenant_id, subject, dry_run });
  }

  /** Returns all matching ids, in order. */
  async #idsOf(tenant_id: string, filter: Where<MemoryDoc>): Promise<string[]> {
    const ids: string[] = [];
    const options = { sort: { _id: 1 } as const, limit: PAGE, projection: { _id: 1 } };
    for (;;) {
      const behind = { _id: { $gt: ids.at(-1) ?? "" } };
      const rows = await this.#parts.memories.find(tenant_id, { $and: [filter, behind] }, options);
      ids.push(...rows.map(({ _id }) => _id));
      if (rows.length < PAGE) return ids;
    }
  }
}

function filterOf({ agent_id, ids, subject }: EraseTarget): Where<MemoryDoc> {
  if (ids) return { _id: { $in: ids } };
  return subject === undefined ? { agent_id } : { subjects: { $in: writings(subject) } };
}
