import type { Context, ServiceBroker } from "moleculer";
import type { Call, UserCaller } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import {
  conflict,
  type Fault,
  invalidValue,
  notFound,
  requireFound,
  ruleBroken,
} from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { Due } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import { isDuplicateKey, nullIfTaken } from "../../../storage/write-errors.ts";
import { type EraseMemories, eraseRows } from "../../erasers.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import {
  isReadByAllReaders,
  isStanding,
  type ReadableMemory,
  readableMemories,
  requireReadable,
} from "../memories/readable.ts";
import type { proposeMerge } from "./merges.contract.ts";
import * as contract from "./merges.contract.ts";
import { type MergeDoc, MergeModel, type Merges, openPairKey, pairKey, present } from "./merges.model.ts";

const SWEEP_MS = 5_000;

export const mergesService: ServiceFactory = ({ store }) => {
  const proposals = store.collection(MergeModel);
  const merges: Merges = { proposals, now: () => new Date(store.now()) };
  const collapsing = new SharedLoop("merges", newCollapse(merges), SWEEP_MS);

  return {
    name: "merges",
    mixins: [collapsing.mixin],
    actions: {
      propose: action(contract.proposeMerge, async (ctx) => present(await propose(merges, ctx))),
      resolve: action(contract.resolveMerge, async (ctx) => present(await resolve(merges, ctx))),
      reject: action(contract.rejectMerge, async (ctx) =>
        present(await settle(merges, ctx, { status: "rejected" })),
      ),

      list: action(contract.listMerges, async (ctx) => {
        const { rows, total } = await listProposals(proposals, ctx);
        return { merge_proposals: rows.map(present), total };
      }),

      get: action(contract.getMerge, async (ctx) => {
        const { id } = ctx.params;
        const row = await proposals.findOne(ctx.meta.caller.tenant_id, { _id: id });
        const [visible = null] = await filterVisible(ctx, row ? [row] : []);
        return present(requireFound(visible, "merge_proposal", id));
      }),

      /** Proposes memories whose embeddings are nearly the same. */
      propose_duplicates: idempotent<{ tenant_id: string; duplicates: Duplicate[] }>(({ params }) =>
        proposeDuplicates(merges, params),
      ),

      /** Returns the memories of open proposals, for the health snapshot. */
      open_pairs: idempotent<{ tenant_id: string; limit: number }>(
        async ({ params: { tenant_id, limit } }) => {
          const projection = { memory_a_id: 1, memory_b_id: 1 } as const;
          const rows = await proposals.find(tenant_id, { status: "open" }, { limit, projection });
          return rows.map(({ memory_a_id, memory_b_id }) => [memory_a_id, memory_b_id]);
        },
      ),

      /** Removes all proposals of erased memories; returns how many. */
      erase_memories: idempotent<EraseMemories>(async ({ params }) => {
        const of = { $in: params.ids };
        const either = [{ memory_a_id: of }, { memory_b_id: of }];
        return { merge_proposals: await eraseRows(proposals, params, ...either) };
      }),
    },
  };
};

const CHUNK = 500;
/** Proposals that one request examines: `total` counts among them. */
const MOST_LOOKED_AT = 10_000;
const BRIEF = { merged_content: 0 } as const;
const LATEST = { proposed_at: -1, _id: -1 } as const;

/** Returns merge proposals that the caller may see, latest first, with their total. */
export async function listProposals(
  proposals: TenantCollection<MergeDoc>,
  ctx: CallOf<typeof contract.listMerges>,
): Promise<{ rows: MergeDoc[]; total: number }> {
  const { status, offset = 0, limit = 50 } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const filter = status ? { status } : {};
  const options = { sort: LATEST, projection: BRIEF };
  if (isOrgAdmin(ctx.meta.caller)) {
    const [rows, total] = await Promise.all([
      proposals.find(tenant_id, filter, { ...options, skip: offset, limit }),
      proposals.count(tenant_id, filter),
    ]);
    return { rows, total };
  }
  const visible: MergeDoc[] = [];
  for (let skip = 0; skip < MOST_LOOKED_AT; skip += CHUNK) {
    const rows = await proposals.find(tenant_id, filter, { ...options, skip, limit: CHUNK });
    visible.push(...(await filterVisible(ctx, rows)));
    if (rows.length < CHUNK) break;
  }
  return { rows: visible.slice(offset, offset + limit), total: visible.length };
}

/** Returns the proposals whose memories the caller may both read; all of them for an org admin. */
async function filterVisible(ctx: Call, rows: MergeDoc[]): Promise<MergeDoc[]> {
  if (rows.length === 0 || isOrgAdmin(ctx.meta.caller)) return rows;
  const ids = rows.flatMap((row) => [row.memory_a_id, row.memory_b_id]);
  const readable = await readableMemories(ctx, ids, { brief: true });
  return rows.filter((row) => readable.has(row.memory_a_id) && readable.has(row.memory_b_id));
}

const BATCH = 50;

/**
 * Resolves a proposal, and merges its memories. The decision is written with the work to do, which polling finds again
 * if interrupted. @throws Fault not_found, validation_error, business_rule_violation, conflict
 */
async function resolve(merges: Merges, ctx: CallOf<typeof contract.resolveMerge>): Promise<MergeDoc> {
  const { id, surviving_memory_id, merged_content } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const row = requireFound(await merges.proposals.findOne(tenant_id, { _id: id }), "merge_proposal", id);
  const ids = [row.memory_a_id, row.memory_b_id];
  if (!ids.includes(surviving_memory_id)) {
    const allowed = `memory_a_id (${ids[0]}) or memory_b_id (${ids[1]})`;
    const message = `surviving_memory_id: expected ${allowed}, got ${surviving_memory_id}.`;
    throw invalidValue("surviving_memory_id", message, { value: surviving_memory_id, expected: allowed });
  }
  if (row.status !== "open") throw settledAlready(row);
  await requireMergeable(ctx, tenant_id, ids, surviving_memory_id, merges.now().getTime());
  const settled = await settle(merges, ctx, {
    status: "resolved",
    surviving_memory_id,
    collapse_due_at: merges.now(),
    ...(merged_content && { merged_content }),
  });
  const collapsed = await collapse(merges, ctx, settled);
  if (collapsed) return collapsed;
  await requireMergeable(ctx, tenant_id, ids, surviving_memory_id, merges.now().getTime());
  throw conflict("These memories are being changed concurrently. Retry.", { existing_resource_id: id });
}

/** @throws Fault not_found, conflict */
async function settle(
  { proposals, now }: Merges,
  ctx: CallOf<typeof contract.rejectMerge>,
  decision: Partial<MergeDoc>,
): Promise<MergeDoc> {
  const { id, resolution_note } = ctx.params;
  const { tenant_id, user_id } = ctx.meta.caller as UserCaller;
  const $set = {
    ...decision,
    ...(resolution_note !== undefined && { resolution_note }),
    resolved_at: now(),
    resolved_by_user_id: user_id,
  };
  const row = await proposals.update(
    tenant_id,
    { _id: id, status: "open" },
    { $set, $unset: { open_pair: 1 } },
  );
  if (row) return row;
  const there = await proposals.findOne(tenant_id, { _id: id });
  throw there ? settledAlready(there) : notFound("merge_proposal", id);
}

/** Requires that both are in force, and that all readers of either can read the survivor. */
async function requireMergeable(
  ctx: Context,
  tenant_id: string,
  ids: string[],
  survivor_id: string,
  now: number,
): Promise<void> {
  const params = { tenant_id, ids, brief: true };
  const rows = await ctx.call<ReadableMemory[], unknown>("memories.get_many", params);
  for (const id of ids) {
    const memory = rows.find((each) => each.id === id) ?? null;
    requireActive(requireFound(memory, "memory", id), now);
  }
  const survivor = rows.find((each) => each.id === survivor_id) as ReadableMemory;
  const other = rows.find((each) => each.id !== survivor_id) as ReadableMemory;
  if (await isReadByAllReaders(ctx, other, survivor)) return;
  throw ruleBroken(
    "scope_only_widens",
    `The surviving memory must be at least as visible as the other: the scope ${survivor.scope} does not cover ` +
      `${other.scope}. Choose the other as the survivor, or promote this one first.`,
  );
}

/**
 * Merges the memories of a resolved proposal; a repetition changes nothing. Returns null if they could not be merged
 * and the proposal is open again.
 */
async function collapse(
  merges: Merges,
  caller: Context | ServiceBroker,
  row: MergeDoc,
): Promise<MergeDoc | null> {
  const { _id, tenant_id, memory_a_id, memory_b_id, surviving_memory_id, merged_content } = row;
  const loser_id = surviving_memory_id === memory_a_id ? memory_b_id : memory_a_id;
  const isMerged = await caller.call<boolean, unknown>("memories.collapse", {
    tenant_id,
    merge_id: _id,
    winner_id: surviving_memory_id,
    loser_id,
    content: merged_content ?? null,
    origin: row.similarity === null ? "proposal" : "duplicate",
  });
  if (!isMerged) {
    await reopen(merges, row);
    return null;
  }
  const done = { $unset: DECIDED } as const;
  return (await merges.proposals.update(tenant_id, { _id }, done)) ?? row;
}

const DECIDED = { collapse_due_at: 1, merged_content: 1 } as const;

/** Reopens a proposal after one of its memories went out of force. @param row as it was resolved */
async function reopen({ proposals }: Merges, { _id, tenant_id, pair, resolved_at }: MergeDoc): Promise<void> {
  const decision = { _id, status: "resolved" as const, resolved_at };
  const undone = { surviving_memory_id: null, resolved_at: null, resolved_by_user_id: null };
  const open = { ...undone, status: "open" as const, open_pair: openPairKey(tenant_id, pair) };
  try {
    await proposals.update(tenant_id, decision, { $set: open, $unset: DECIDED });
  } catch (err) {
    if (!isDuplicateKey(err)) throw err;
    // A newer proposal of the pair exists: it stays open, and this one is rejected.
    await proposals.update(tenant_id, decision, { $set: { status: "rejected" }, $unset: DECIDED });
  }
}

/** Merges memories of proposals resolved by a node that did not finish. The task returns whether there may be more. */
function newCollapse(merges: Merges): (broker: ServiceBroker) => Promise<boolean> {
  const asking = { by: "collapse_due_at", batch: BATCH, bytes: PAGE_BYTES } as const;
  const due = new Due({ rows: merges.proposals, now: () => merges.now().getTime(), ...asking });
  return (broker) => due.each((row) => collapse(merges, broker, row));
}

function settledAlready({ _id, status }: MergeDoc): Fault {
  return conflict(`The merge proposal is already ${status}. Only open ones can be decided.`, {
    existing_resource_id: _id,
    status,
  });
}

type Proposer = Pick<MergeDoc, "proposer_user_id" | "proposer_agent_id" | "resolution_note">;

/** @throws Fault not_found, validation_error, conflict */
async function propose({ proposals, now }: Merges, ctx: CallOf<typeof proposeMerge>): Promise<MergeDoc> {
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

interface Duplicate {
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
async function proposeDuplicates(
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
function requireActive(memory: Pick<ReadableMemory, "id" | "status" | "expires_at">, now: number): void {
  if (!isStanding(memory, now)) throw notFound("memory", memory.id);
  if (memory.status === "active") return;
  throw conflict(`The memory ${memory.id} is ${memory.status}; only active memories can be merged.`, {
    existing_resource_id: memory.id,
    status: memory.status,
  });
}
