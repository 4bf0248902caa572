import { isApiError, type Memory, type MergeProposal } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { messageOf } from "../../ui/failure.tsx";

/** A proposal with its memories; null if a memory is unreadable or deleted. */
export type Pair = MergeProposal & { a: Memory | null; b: Memory | null };

export type Decision = "merge" | "reject";

export interface Outcome {
  pair: Pair;
  /** What happened, if not what was asked for. */
  problem?: string;
}

/** Many requests may meet the rate limit: then each waits as long as the server says. */
const RETRIES = 20;

/** Similarities are rounded: above this, both have the same vector. */
const SAME = 0.9995;

/** The share in percent: 100 only for the same. */
export function similarityInWords(similarity: number): string {
  return similarity >= SAME ? "100%" : `${Math.floor(similarity * 100)}%`;
}

/** Whether both say exactly the same. */
export function isExact({ a, b }: Pair): boolean {
  return a !== null && b !== null && a.title === b.title && a.content === b.content;
}

/** Reads each memory once: similar memories occur in many proposals. */
export async function withMemories(proposals: MergeProposal[], signal: AbortSignal): Promise<Pair[]> {
  const ids = new Set(proposals.flatMap(({ memory_a_id, memory_b_id }) => [memory_a_id, memory_b_id]));
  const read = [...ids].map(async (id) => [id, await readable(id, signal)] as const);
  const memories = new Map(await Promise.all(read));
  return proposals.map((proposal) => ({
    ...proposal,
    a: memories.get(proposal.memory_a_id) ?? null,
    b: memories.get(proposal.memory_b_id) ?? null,
  }));
}

/** A purged or unreadable memory should not hide the others. */
export function readable(id: string, signal: AbortSignal): Promise<Memory | null> {
  return api.memories.get({ id }, { signal, retries: RETRIES }).catch((error) => {
    if (isApiError(error) && [403, 404].includes(error.status)) return null;
    throw error;
  });
}

/** Memories are read a few pairs at a time. */
const READ_AT_ONCE = 10;

/** Returns all open proposals whose memories have the same title and content. */
export async function findExact(signal: AbortSignal): Promise<Pair[]> {
  const alike: MergeProposal[] = [];
  for await (const proposal of api.merges.list.all({ status: "open", limit: 200 }, { signal }))
    if ((proposal.similarity ?? 0) >= SAME) alike.push(proposal);
  const exact: Pair[] = [];
  for (let at = 0; at < alike.length; at += READ_AT_ONCE)
    exact.push(...(await withMemories(alike.slice(at, at + READ_AT_ONCE), signal)).filter(isExact));
  return exact;
}

const WIDTH = { agent: 0, team: 1, institutional: 2 };

/** Returns the memory to keep: the one that more can read, else the newer one. */
export function survivorOf({ a, b }: Pair): Memory | null {
  if (!a || !b) return a ?? b;
  if (a.scope !== b.scope) return WIDTH[a.scope] > WIDTH[b.scope] ? a : b;
  return a.created_at > b.created_at ? a : b;
}

/**
 * Decides proposals one by one and yields the outcome of each; a refused one does not stop the others. Of several
 * copies of a memory the older ones are merged first, so that all end in the newest.
 */
export async function* decideAll(
  pairs: readonly Pair[],
  decision: Decision,
  signal: AbortSignal,
): AsyncGenerator<Outcome> {
  const merged = new Set<string>();
  for (const pair of pairs.toSorted((one, other) => compare(older(one), older(other)))) {
    if (signal.aborted) return;
    try {
      const problem = await decide(pair, decision, merged);
      yield problem ? { pair, problem } : { pair };
    } catch (error) {
      yield { pair, problem: messageOf(error) };
    }
  }
}

/** @param merged ids of the memories that were merged into others */
async function decide(pair: Pair, decision: Decision, merged: Set<string>): Promise<string | undefined> {
  const { id, memory_a_id, memory_b_id } = pair;
  const options = { retries: RETRIES };
  if (decision === "reject") return void (await api.merges.reject({ id }, options));
  if (merged.has(memory_a_id) || merged.has(memory_b_id)) {
    const resolution_note = "One of the memories was merged into another meanwhile.";
    return void (await api.merges.reject({ id, resolution_note }, options));
  }
  const survivor = survivorOf(pair);
  if (!pair.a || !pair.b || !survivor) return "One of the memories was deleted, or you cannot read it.";
  await api.merges.resolve({ id, surviving_memory_id: survivor.id }, options);
  merged.add(survivor.id === memory_a_id ? memory_b_id : memory_a_id);
}

const older = ({ a, b }: Pair) => [a?.created_at ?? "", b?.created_at ?? ""].sort()[0] as string;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
