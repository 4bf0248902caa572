import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type EraseMemories, erasersOf } from "../../erasers.ts";
import type { CiteDoc } from "./cites.model.ts";
import type { Memories } from "./memories.ts";

/** Rows by kind. */
export type Counts = Record<string, number>;

/**
 * Erases all data about memories but their rows, which are deleted last: an interrupted erasure finds its work by them.
 */
export async function eraseEverywhere(
  { cites, keys }: Pick<Memories, "cites" | "keys">,
  ctx: Pick<ServiceBroker, "call">,
  tenant_id: string,
  ids: string[],
): Promise<Counts> {
  const found = await askAll(ctx, { tenant_id, ids });
  const citations = await cites.deleteMany(tenant_id, { memory_id: { $in: ids } });
  await keys.deleteMany(tenant_id, { memory_id: { $in: ids } });
  const searched = await ctx.call<Counts, unknown>("search.drop", { tenant_id, kind: "memory", ids });
  return [...found, searched].reduce(sum, { citations });
}

/** Counts what `eraseEverywhere` would erase. */
export async function countEverywhere(
  cites: TenantCollection<CiteDoc>,
  ctx: Pick<ServiceBroker, "call">,
  tenant_id: string,
  ids: string[],
): Promise<Counts> {
  const found = await askAll(ctx, { tenant_id, ids, dry_run: true });
  const citations = await cites.count(tenant_id, { memory_id: { $in: ids } });
  return found.reduce(sum, { citations });
}

const askAll = (ctx: Pick<ServiceBroker, "call">, asked: EraseMemories) =>
  Promise.all(erasersOf("memories").map((name) => ctx.call<Counts, EraseMemories>(name, asked)));

export function sum(a: Counts, b: Counts): Counts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

export function* splitChunks<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
