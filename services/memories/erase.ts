import { createHash } from "node:crypto";
import type { ActionSchema } from "moleculer";
import type { Call } from "../../lib/caller.ts";
import type { ParamsOf } from "../../lib/contract.ts";
import { invalidValue, notFound } from "../../lib/faults.ts";
import { writings } from "../../lib/subject.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import { action } from "../runtime.ts";
import type { Caller } from "./changes.ts";
import type { CiteDoc } from "./cites.model.ts";
import { eraseMemories } from "./erase.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";

type Counts = Record<string, number>;

/**
 * Who keeps something of memories: each offers `{tenant_id, ids, dry_run}` and answers counts by name. A domain that
 * comes to keep something of a memory adds itself here.
 */
const ERASERS = [
  "relationships.erase_memories",
  "merges.erase_memories",
  "findings.erase_memories",
  "bundles.erase_memories",
  "handoffs.erase_memories",
];

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
/** A message between nodes has at most about a megabyte. */
const MOST_IDS = 20_000;

interface EraseParts extends Parts {
  cites: TenantCollection<CiteDoc>;
}

/** Takes all that is kept of memories but their rows, which go last: what is cut off is found again by them. */
export async function eraseEverywhere(
  { cites }: Pick<EraseParts, "cites">,
  ctx: Caller,
  tenant_id: string,
  ids: string[],
): Promise<Counts> {
  const found = await Promise.all(ERASERS.map((name) => ctx.call<Counts, unknown>(name, { tenant_id, ids })));
  const citations = await cites.deleteMany(tenant_id, { memory_id: { $in: ids } });
  const searched = await ctx.call<Counts, unknown>("search.drop", { tenant_id, kind: "memory", ids });
  return [...found, searched].reduce(sum, { citations });
}

export function eraseActions(parts: EraseParts): Record<string, ActionSchema> {
  const { memories, cites, now } = parts;

  /** All that are asked for, in order. */
  async function idsOf(tenant_id: string, filter: object): Promise<string[]> {
    const ids: string[] = [];
    const options = { sort: { _id: 1 } as const, limit: PAGE, projection: { _id: 1 } };
    for (;;) {
      const behind = { _id: { $gt: ids.at(-1) ?? "" } };
      const rows = await memories.find(tenant_id, { $and: [filter, behind] } as never, options);
      ids.push(...rows.map(({ _id }) => _id));
      if (rows.length < PAGE) return ids;
    }
  }

  async function eraseAll(ctx: Call, tenant_id: string, ids: string[]): Promise<Counts> {
    let counts: Counts = {};
    // First, for it knows ids only: what is cut off later is found again by the rows.
    for (const some of chunksOf(ids, MOST_IDS)) {
      const asked = { tenant_id, ids: some };
      counts = sum(counts, await ctx.call<Counts, unknown>("idempotency.erase_memories", asked));
    }
    for (const some of chunksOf(ids, BATCH)) counts = sum(counts, await eraseBatch(ctx, tenant_id, some));
    return counts;
  }

  async function eraseBatch(ctx: Call, tenant_id: string, ids: string[]): Promise<Counts> {
    const counts = await eraseEverywhere(parts, ctx, tenant_id, ids);
    const rows = await memories.deleteMany(tenant_id, { _id: { $in: ids } });
    // Once more, for what search was still writing of rows that it saw before.
    await ctx.call("search.drop", { tenant_id, kind: "memory", ids });
    return { ...counts, memories: rows };
  }

  async function countAll(ctx: Call, tenant_id: string, ids: string[]): Promise<Counts> {
    let counts: Counts = { memories: ids.length };
    for (const some of chunksOf(ids, BATCH)) {
      const asked = { tenant_id, ids: some, dry_run: true };
      const found = await Promise.all(ERASERS.map((name) => ctx.call<Counts, unknown>(name, asked)));
      const citations = await cites.count(tenant_id, { memory_id: { $in: some } });
      counts = [...found, { citations }].reduce(sum, counts);
    }
    return counts;
  }

  return {
    erase: action(eraseMemories, async (ctx) => {
      const { dry_run = false } = ctx.params;
      const { tenant_id } = ctx.meta.caller;
      const { filter, by } = await chosen(ctx);
      let ids = await idsOf(tenant_id, filter);
      if (dry_run) {
        const counted = await countAll(ctx, tenant_id, ids);
        const erased = [counted, await documentsOf(ctx, true)].reduce(sum, NOTHING);
        return { dry_run, erased_at: null, erased, receipt: null };
      }
      await note(ctx, "memories.erase_begun", { by });
      const digest = createHash("sha256");
      // First, so that no more is remembered of them.
      let erased = sum({ ...NOTHING, vectors: 0 }, await documentsOf(ctx, false));
      while (ids.length > 0) {
        for (const id of ids) digest.update(`${id}\n`);
        erased = sum(erased, await eraseAll(ctx, tenant_id, ids));
        // Whoever is erased may be writing still.
        ids = await idsOf(tenant_id, filter);
      }
      const erased_at = now().toISOString();
      const memory_ids_sha256 = digest.digest("hex");
      await note(ctx, "memories.erase", { by, erased, memory_ids_sha256 });
      const claims = { tenant_id, erased_at, by, erased, memory_ids_sha256 };
      return { dry_run, erased_at, erased, receipt: await ctx.call("auth.sign_receipt", { claims }) };
    }),
  };
}

/** Erases, or counts, what was uploaded about the subject that is named, if one is. */
async function documentsOf(ctx: Call<{ subject?: string }>, dry_run: boolean): Promise<Counts> {
  const { subject } = ctx.params;
  if (subject === undefined) return {};
  const { tenant_id } = ctx.meta.caller;
  return ctx.call<Counts, unknown>("documents.erase_subject", { tenant_id, subject, dry_run });
}

function note(ctx: Call, what: string, details: object): Promise<unknown> {
  const { tenant_id } = ctx.meta.caller;
  return ctx.call("audit.record", { tenant_id, action: what, resource_type: "memory", details });
}

/**
 * Which memories are asked for, and how the audit log calls them: a subject only by its digest, or the log would keep
 * what is to be erased. @throws Fault validation_error, not_found
 */
async function chosen(ctx: Call<ParamsOf<typeof eraseMemories>>): Promise<{ filter: object; by: object }> {
  const { agent_id, ids, subject } = ctx.params;
  const named = [agent_id, ids, subject].filter((each) => each !== undefined);
  if (named.length !== 1) {
    throw invalidValue("agent_id", "Expected exactly one of agent_id, ids and subject.", {
      expected: "exactly one of agent_id, ids, subject",
    });
  }
  if (ids) return { filter: { _id: { $in: ids } }, by: { ids: ids.length } };
  if (subject !== undefined) {
    const subject_sha256 = createHash("sha256").update(subject).digest("hex");
    return { filter: { subjects: { $in: writings(subject) } }, by: { subject_sha256 } };
  }
  const { tenant_id } = ctx.meta.caller;
  const known = await ctx.call<unknown[], unknown>("agents.get_many", { tenant_id, agent_ids: [agent_id] });
  if (known.length === 0) throw notFound("agent", agent_id as string);
  return { filter: { agent_id } satisfies Partial<MemoryDoc>, by: { agent_id } };
}

function sum(a: Counts, b: Counts): Counts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
