import { conflict, invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import type { CallOf } from "../../runtime.ts";
import { isStanding, type ReadableMemory, requireReadable } from "../memories/readable.ts";
import type { proposeMerge } from "./merges.contract.ts";
import { type MergeDoc, type Merges, openPairKey, pairKey } from "./merges.model.ts";

type Proposer = Pick<MergeDoc, "proposer_user_id" | "proposer_agent_id" | "resolution_note">;

/** @throws Fault not_found, validation_error, conflict */
export async function propose(
  { proposals, now }: Merges,
  ctx: CallOf<typeof proposeMerge>,
): Promise<MergeDoc> {
  const { memory_a_id: a, memory_b_id: b, resolution_note = null } = ctx.params;
  const both = await Promise.all([requireReadable(ctx, a), requireReadable(ctx, b)]);
  if (a === b)
    throw invalidValue(
      "memory_b_id",
      "memory_b_id: expected another memory than memory_a_id; a memory cannot be merged with itself.",
    );
  for (const memory of both) requireActive(memory, now().getTime());
  const { caller, idempotency_seed } = ctx.meta;
  const proposer: Proposer = {
    proposer_user_id: caller.kind === "user" ? caller.user_id : null,
    proposer_agent_id: caller.kind === "agent" ? caller.agent_id : null,
    resolution_note,
  };
  const row = newProposal({ _id: newUuid(idempotency_seed), tenant_id: caller.tenant_id, a, b, at: now() });
  const made = await proposals.insertOnce({ ...row, ...proposer }).catch(nullIfTaken);
  return made ?? takeOver({ proposals, now }, row, proposer);
}

/** Makes the service's open proposal of two memories the caller's. @throws Fault conflict */
async function takeOver(
  { proposals }: Merges,
  { tenant_id, open_pair }: MergeDoc,
  proposer: Proposer,
): Promise<MergeDoc> {
  const own = { open_pair, proposer_user_id: null, proposer_agent_id: null };
  const taken = await proposals.update(tenant_id, own, { $set: proposer });
  if (taken) return taken;
  const holder = await proposals.findOne(tenant_id, { open_pair });
  throw conflict("An open proposal to merge these memories already exists. Resolve or reject it first.", {
    existing_resource_id: holder?._id ?? null,
  });
}

export interface Duplicate {
  a: string;
  b: string;
  similarity: number;
}

/** Open proposals of a memory up to which the service adds one. */
const MOST_OPEN = 3;
/** Proposals that are read for a batch: people may have made any number. */
const MOST_READ = 1000;

/**
 * Proposes duplicates that the service found, in order: once per pair, whatever the outcome, and none whose memories
 * open proposals already connect, as deciding those leaves one of them. Concurrent calls for a tenant may add too many.
 */
export async function proposeDuplicates(
  { proposals, now }: Merges,
  { tenant_id, duplicates }: { tenant_id: string; duplicates: Duplicate[] },
): Promise<void> {
  const ids = [...new Set(duplicates.flatMap(({ a, b }) => [a, b]))];
  const pairs = duplicates.map(({ a, b }) => pairKey(a, b));
  const options = { projection: { memory_a_id: 1, memory_b_id: 1, pair: 1 }, limit: MOST_READ } as const;
  const [settled, ...open] = await Promise.all([
    proposals.find(tenant_id, { pair: { $in: pairs } }, options),
    proposals.find(tenant_id, { memory_a_id: { $in: ids }, status: "open" }, options),
    proposals.find(tenant_id, { memory_b_id: { $in: ids }, status: "open" }, options),
  ]);
  const groups = new Groups();
  const counts = new Map<string, number>();
  const count = (a: string, b: string) => {
    groups.connect(a, b);
    for (const id of [a, b]) counts.set(id, (counts.get(id) ?? 0) + 1);
  };
  const known = new Set(settled.map(({ pair }) => pair));
  const openById = new Map(open.flat().map((row) => [row._id, row]));
  for (const { memory_a_id, memory_b_id } of openById.values()) count(memory_a_id, memory_b_id);
  const isFull = (id: string) => (counts.get(id) ?? 0) >= MOST_OPEN;
  const rows: MergeDoc[] = [];
  for (const { a, b, similarity } of duplicates) {
    const pair = pairKey(a, b);
    if (known.has(pair) || groups.areConnected(a, b) || isFull(a) || isFull(b)) continue;
    count(a, b);
    const [first, second] = pair.split(" ") as [string, string];
    const _id = newUuid(`duplicate ${pair}`);
    rows.push({ ...newProposal({ _id, tenant_id, a: first, b: second, at: now() }), similarity });
  }
  if (rows.length > 0) await proposals.insertMissing(rows);
}

/** Which ids are connected, by one connection or several. */
class Groups {
  readonly #parents = new Map<string, string>();

  connect(a: string, b: string): void {
    const [root, other] = [this.#rootOf(a), this.#rootOf(b)];
    if (root !== other) this.#parents.set(other, root);
  }

  areConnected(a: string, b: string): boolean {
    return this.#rootOf(a) === this.#rootOf(b);
  }

  #rootOf(id: string): string {
    let root = id;
    for (let up = this.#parents.get(root); up !== undefined; up = this.#parents.get(root)) root = up;
    return root;
  }
}

type New = Pick<MergeDoc, "_id" | "tenant_id"> & { a: string; b: string; at: Date };

function newProposal({ _id, tenant_id, a, b, at }: New): MergeDoc {
  const pair = pairKey(a, b);
  return {
    ...{ _id, tenant_id, proposer_user_id: null, proposer_agent_id: null, memory_a_id: a, memory_b_id: b },
    ...{ surviving_memory_id: null, status: "open", similarity: null, proposed_at: at, resolved_at: null },
    ...{ resolved_by_user_id: null, resolution_note: null, pair, open_pair: openPairKey(tenant_id, pair) },
  };
}

/** @throws Fault not_found, conflict */
export function requireActive(
  memory: Pick<ReadableMemory, "id" | "status" | "expires_at">,
  now: number,
): void {
  if (!isStanding(memory, now)) throw notFound("memory", memory.id);
  if (memory.status === "active") return;
  throw conflict(`The memory ${memory.id} is ${memory.status}; only active memories can be merged.`, {
    existing_resource_id: memory.id,
    status: memory.status,
  });
}
