import { createHash, type Hash } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { onEveryNode } from "../../../lib/broker/between-nodes.ts";
import { newUuid } from "../../../lib/ids.ts";
import { writings } from "../../../lib/text/subject.ts";
import { Due } from "../../../mixins/due.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { TenantCollection, type TenantDocument } from "../../../storage/collection.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import type { Removal, Store } from "../../../storage/connection.ts";
import type { Where } from "../../../storage/query.ts";
import { type Erased as ErasedTexts, replaceTexts } from "../../../storage/replace-texts.ts";
import {
  type EraseMemories,
  erasersOf,
  ownersOf,
  replacedOf,
  requireErasers,
  settlersOf,
} from "../../erasers.ts";
import { scrub } from "../../platform/system/scrub.ts";
import type { Runtime } from "../../runtime.ts";
import type { CiteDoc, MemoryDoc, MemoryErasureDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";

/** The target of an erasure: exactly one of these fields. */
export interface EraseTarget {
  agent_id?: string;
  ids?: string[];
  subject?: string;
  /** The agent or person that is being deleted, whose id `agent_id` is, and whether shared memories are kept. */
  gone?: "keep" | "erase";
  /** Whether it was erased before: the second time is for writes that were in progress. */
  again?: boolean;
}

/** Writes of a deleted agent that were in progress are over by then. */
const LATE_WRITES_MS = 60_000;

/** Rows by kind. */
type Counts = Record<string, number>;

/** The result of an erasure. */
export interface Erased {
  erased_at: Date;
  erased: Counts;
  memory_ids_sha256: string;
  storage: Removal;
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
/** Interrupted erasures that are looked at together. */
const RESUMED = 10;
/** Keeps messages between nodes below about one megabyte. */
const MOST_IDS = 20_000;
/** How long an erasure may run before another node takes it over. */
const LEASE_MS = 120_000;

/** Erases memories with all data about them. `resume` finishes what a crash interrupts. */
export class Erasures {
  readonly #memories: Memories;
  readonly #erasures: TenantCollection<MemoryErasureDoc>;
  readonly #due: Due<MemoryErasureDoc>;
  readonly #store: Pick<Store, "scrub" | "collection" | "collections">;
  readonly #blobs: Blobs;

  constructor(
    memories: Memories,
    erasures: TenantCollection<MemoryErasureDoc>,
    { store, blobs }: Pick<Runtime, "store" | "blobs">,
  ) {
    this.#memories = memories;
    this.#erasures = erasures;
    const asking = { by: "lease_ends_at", batch: RESUMED, bytes: PAGE_BYTES } as const;
    this.#due = new Due({ rows: erasures, now: () => memories.now().getTime(), ...asking });
    this.#store = store;
    this.#blobs = blobs;
  }

  /** Counts what an erasure would erase. */
  async count(broker: ServiceBroker, tenant_id: string, target: EraseTarget): Promise<Counts> {
    await requireErasers(this.#store, tenant_id);
    const ids = await this.#idsOf(tenant_id, targetFilter(target));
    let counts: Counts = sum(NOTHING, { memories: ids.length });
    for (const some of splitChunks(ids, BATCH)) {
      counts = sum(counts, await countEverywhere(this.#memories.cites, broker, tenant_id, some));
    }
    const ended = sum(
      await eraseMentions(broker, tenant_id, ids, true),
      await eraseOthers(broker, tenant_id, target, true),
    );
    const works = target.agent_id !== undefined;
    for (const ofMemories of [false, true]) {
      const texts = { tenant_id, ...target, works, ids, dry_run: true };
      const replaced = Object.entries(await this.#replaceTexts(broker, texts, ofMemories));
      // Rows that end have such texts too.
      const others = replaced.map(([name, count]) => [name, Math.max(0, count - (ended[name] ?? 0))]);
      counts = sum(counts, Object.fromEntries(others));
    }
    return sum(counts, ended);
  }

  /** Records an erasure, so that it will be carried out. @param by the target's name in the audit log */
  async begin(tenant_id: string, target: EraseTarget, by: object): Promise<MemoryErasureDoc> {
    await requireErasers(this.#store, tenant_id);
    const now = this.#memories.now();
    return this.#erasures.insert({
      ...{ _id: newUuid(), tenant_id, target: JSON.stringify(target), by: JSON.stringify(by), batch: [] },
      ...{ begun_at: now, lease_ends_at: this.#leaseEnd() },
    });
  }

  /** Resolves when nothing is left in rows, search, blobs and files. After a failure `resume` retries. */
  async carryOut(broker: ServiceBroker, row: MemoryErasureDoc): Promise<Erased> {
    const { now } = this.#memories;
    const { _id, tenant_id } = row;
    try {
      // Since it began, a start may have left an extension out.
      await requireErasers(this.#store, tenant_id);
      const digest = createHash("sha256");
      const erased = await this.#eraseRows(broker, row, digest);
      const named: EraseTarget = row.target === null ? {} : JSON.parse(row.target);
      if (named.gone)
        await broker.call(endingOf(named), { tenant_id, owner_id: named.agent_id, erased: true });
      // The target names a person; the files must keep no copy of it.
      await this.#erasures.update(tenant_id, { _id }, { $set: { target: null, batch: [] } });
      // Remains of a crash or a concurrent write: the receipt holds for them too.
      await this.#blobs.releaseAll(tenant_id);
      const storage = await scrub(broker, this.#store);
      await this.#finish(row, named);
      return { erased_at: now(), erased, memory_ids_sha256: digest.digest("hex"), storage };
    } catch (err) {
      await this.#erasures.update(tenant_id, { _id }, { $set: { lease_ends_at: now() } }).catch(() => null);
      throw err;
    }
  }

  async #finish({ tenant_id, _id }: MemoryErasureDoc, named: EraseTarget): Promise<void> {
    if (!named.gone || named.again) return void (await this.#erasures.delete(tenant_id, { _id }));
    // Only ids: the deleted agent or person is named by nothing else.
    const target = JSON.stringify({ ...named, again: true });
    const lease_ends_at = new Date(this.#memories.now().getTime() + LATE_WRITES_MS);
    await this.#erasures.update(tenant_id, { _id }, { $set: { target, lease_ends_at } });
  }

  /** Makes all interrupted erasures available to `resume`: the process that began them is gone. */
  async reclaim(): Promise<void> {
    await this.#erasures.system.updateMany({}, { $set: { lease_ends_at: new Date(0) } });
  }

  /** Finishes interrupted erasures. @returns whether there may be more */
  resume(broker: ServiceBroker): Promise<boolean> {
    return this.#due.each(async (due) => {
      const row = await this.#claim(due);
      if (!row) return;
      const { erased, memory_ids_sha256 } = await this.carryOut(broker, row);
      if (row.target !== null && (JSON.parse(row.target) as EraseTarget).again) return;
      const details = { by: JSON.parse(row.by), erased, memory_ids_sha256 };
      const noted = { tenant_id: row.tenant_id, action: "memories.erase", resource_type: "memory", details };
      await broker.call("audit.record", noted);
    });
  }

  #claim({ _id, tenant_id, lease_ends_at }: MemoryErasureDoc): Promise<MemoryErasureDoc | null> {
    const $set = { lease_ends_at: this.#leaseEnd() };
    return this.#erasures.update(tenant_id, { _id, lease_ends_at }, { $set });
  }

  async #eraseRows(broker: ServiceBroker, row: MemoryErasureDoc, digest: Hash): Promise<Counts> {
    const { _id, tenant_id, target, batch } = row;
    let erased = batch.length ? await this.#eraseBatch(broker, _id, tenant_id, batch) : {};
    if (target === null) return sum(NOTHING, erased);
    const named = JSON.parse(target) as EraseTarget;
    // Its tokens first, so that it writes nothing more.
    if (named.gone)
      await broker.call(endingOf(named), { tenant_id, owner_id: named.agent_id, erased: false });
    if (named.gone) erased = sum(erased, await this.#eraseOwned(tenant_id, named.agent_id as string));
    // Documents first, so that no more memories are created from them.
    erased = [NOTHING, { vectors: 0 }, await eraseOthers(broker, tenant_id, named, false)].reduce(
      sum,
      erased,
    );
    const { agent_id, subject } = named;
    for (let isFirst = true; ; isFirst = false) {
      const ids = await this.#idsOf(tenant_id, targetFilter(named));
      // The subject may still be writing.
      if (ids.length === 0 && !isFirst) return erased;
      for (const id of ids) digest.update(`${id}\n`);
      erased = sum(erased, await eraseMentions(broker, tenant_id, ids, false));
      const works = agent_id !== undefined && !named.gone;
      erased = sum(erased, await this.#replaceTexts(broker, { tenant_id, agent_id, works, subject, ids }));
      for (const some of splitChunks(ids, BATCH)) {
        erased = sum(erased, await this.#eraseBatch(broker, _id, tenant_id, some));
      }
      // Texts that the memories' own erasure has left.
      erased = sum(erased, await this.#replaceTexts(broker, { tenant_id, subject }, true));
      for (const settle of settlersOf()) await broker.call(settle, { tenant_id, since: row.begun_at });
    }
  }

  async #eraseBatch(broker: ServiceBroker, _id: string, tenant_id: string, ids: string[]): Promise<Counts> {
    const { rows } = this.#memories;
    const $set = { batch: ids, lease_ends_at: this.#leaseEnd() };
    await this.#erasures.update(tenant_id, { _id }, { $set });
    const counts = await eraseEverywhere(this.#memories, broker, tenant_id, ids);
    const memories = await rows.deleteMany(tenant_id, { _id: { $in: ids } });
    // Repeated for writes that began with rows read before: from here on none of them can be read.
    const late = await eraseEverywhere(this.#memories, broker, tenant_id, ids);
    return [counts, late, { memories }].reduce(sum);
  }

  /**
   * Replaces, or counts, texts in rows that stay, in all collections that say so.
   * @param ofMemories in those whose rows an erasure of memories may end, or in the others
   */
  async #replaceTexts(broker: ServiceBroker, erased: ErasedTexts, ofMemories = false): Promise<Counts> {
    const { tenant_id } = erased;
    if (ofMemories && erased.subject === undefined) return {};
    const all = await this.#store.collections();
    const about = new Set(erased.subject === undefined ? [] : writings(erased.subject));
    const aboutSubject = async (event_ids: string[]) => {
      const headers = await broker.call<{ _id: string; subject: string | null }[], object>("events.headers", {
        tenant_id,
        event_ids,
      });
      return headers.filter(({ subject }) => subject !== null && about.has(subject)).map(({ _id }) => _id);
    };
    let counts: Counts = {};
    for (const model of replacedOf()) {
      if ("memories" in model.erasure !== ofMemories) continue;
      const native = all.get(model.name);
      const { flush, forget } = model.erasure.replaced;
      if (flush && !erased.dry_run) await onEveryNode(broker, flush, {});
      const deps = { aboutSubject, blobs: this.#blobs, now: this.#memories.now };
      const count = native ? await replaceTexts(native, model, erased, deps) : 0;
      if (count > 0 && forget && !erased.dry_run) await onEveryNode(broker, forget, {});
      if (count > 0) counts = sum(counts, { [model.name]: count });
    }
    return counts;
  }

  /** Deletes the rows that end with their owner, in all collections that say so. */
  async #eraseOwned(tenant_id: string, owner_id: string): Promise<Counts> {
    const all = await this.#store.collections();
    let counts: Counts = {};
    for (const { name, field } of ownersOf()) {
      const native = all.get(name);
      if (!native) continue;
      const rows = new TenantCollection<TenantDocument>(native as never);
      const owned = { [field]: owner_id } as Where<TenantDocument>;
      counts = sum(counts, { [name]: await rows.deleteMany(tenant_id, owned) });
    }
    return counts;
  }

  #leaseEnd(): Date {
    return new Date(this.#memories.now().getTime() + LEASE_MS);
  }

  /** Returns all matching ids, in order. */
  async #idsOf(tenant_id: string, filter: Where<MemoryDoc>): Promise<string[]> {
    const ids: string[] = [];
    const options = { limit: PAGE, projection: { _id: 1 } };
    for await (const rows of this.#memories.rows.batches(tenant_id, filter, options))
      ids.push(...rows.map(({ _id }) => _id));
    return ids;
  }
}

/** Returns the action that ends the account of an agent or a person. */
const endingOf = ({ agent_id }: EraseTarget) => (agent_id?.startsWith("usr_") ? "users.end" : "agents.end");

function targetFilter({ agent_id, ids, subject, gone }: EraseTarget): Where<MemoryDoc> {
  if (gone) {
    const owner = agent_id?.startsWith("usr_") ? { user_id: agent_id } : { agent_id };
    return gone === "keep" ? { ...owner, scope: "agent" } : owner;
  }
  if (ids) return { _id: { $in: ids } };
  return subject === undefined ? { agent_id } : { subjects: { $in: writings(subject) } };
}

/** Erases, or counts, what the target names in all domains but that of memories. */
async function eraseOthers(
  broker: ServiceBroker,
  tenant_id: string,
  { agent_id, subject }: EraseTarget,
  dry_run: boolean,
): Promise<Counts> {
  const whose = agent_id === undefined ? { subject } : { agent_id };
  if (agent_id === undefined && subject === undefined) return {};
  let counts: Counts = {};
  for (const name of erasersOf(agent_id === undefined ? "subject" : "agent"))
    counts = sum(counts, (await broker.call<Counts, unknown>(name, { tenant_id, ...whose, dry_run })) ?? {});
  return counts;
}

/** Erases, or counts, texts that mention memories. */
async function eraseMentions(
  broker: ServiceBroker,
  tenant_id: string,
  all: string[],
  dry_run: boolean,
): Promise<Counts> {
  let counts: Counts = {};
  for (const ids of splitChunks(all, MOST_IDS))
    for (const name of erasersOf("mentions"))
      counts = sum(counts, (await broker.call<Counts, unknown>(name, { tenant_id, ids, dry_run })) ?? {});
  return counts;
}

/**
 * Erases all data about memories but their rows, which are deleted last: an interrupted erasure finds its work by them.
 */
export async function eraseEverywhere(
  { cites, keys }: Pick<Memories, "cites" | "keys">,
  ctx: Pick<ServiceBroker, "call">,
  tenant_id: string,
  ids: string[],
): Promise<Counts> {
  const answers = await askAll(ctx, { tenant_id, ids });
  const citations = await cites.deleteMany(tenant_id, { memory_id: { $in: ids } });
  await keys.deleteMany(tenant_id, { memory_id: { $in: ids } });
  const searched = await ctx.call<Counts, unknown>("search.drop", { tenant_id, kind: "memory", ids });
  return [...answers, searched].reduce(sum, { citations });
}

/** Counts what `eraseEverywhere` would erase. */
async function countEverywhere(
  cites: TenantCollection<CiteDoc>,
  ctx: Pick<ServiceBroker, "call">,
  tenant_id: string,
  ids: string[],
): Promise<Counts> {
  const answers = await askAll(ctx, { tenant_id, ids, dry_run: true });
  const citations = await cites.count(tenant_id, { memory_id: { $in: ids } });
  return answers.reduce(sum, { citations });
}

const askAll = (ctx: Pick<ServiceBroker, "call">, asked: EraseMemories) =>
  Promise.all(erasersOf("memories").map((name) => ctx.call<Counts, EraseMemories>(name, asked)));

function sum(a: Counts, b: Counts): Counts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

function* splitChunks<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
