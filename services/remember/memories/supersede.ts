import type { ServiceBroker } from "moleculer";
import type { RequestContext } from "../../../lib/access/caller.ts";
import { coveredBy, type Scoped } from "../../../lib/access/visibility.ts";
import { Fault, forbidden, invalidValue, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import type { CallOf } from "../../runtime.ts";
import { recordSuperseding } from "./announce.ts";
import type { supersedeMemory } from "./lifecycle.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { type Accessed, type Calls, type Memories, makeChange, mayManage, notActive } from "./memories.ts";
import { isReadByAllReaders } from "./readable.ts";
import { validityOf } from "./validity.ts";

/**
 * Replaces one memory by another existing one (spec: States, Memory).
 * @throws Fault not_found if either is not visible, forbidden, conflict if either is not active,
 * business_rule_violation if the other is less visible
 */
export async function supersede(memories: Memories, ctx: CallOf<typeof supersedeMemory>) {
  const { id } = ctx.params;
  const { superseded_by, invalid_at } = await supersedeBy(memories, ctx);
  return { memory_id: id, superseded_by, invalid_at: (invalid_at as Date).toISOString() };
}

async function supersedeBy(memories: Memories, ctx: CallOf<typeof supersedeMemory>): Promise<MemoryDoc> {
  const { id, superseded_by_id: winner_id, reason } = ctx.params;
  if (id === winner_id)
    throw invalidValue(
      "superseded_by_id",
      "superseded_by_id: expected another memory; a memory cannot supersede itself.",
    );
  // Sequential: if both are missing, the error always names the one in the path.
  const predecessor = await memories.findReadable(ctx, id);
  const { doc: loser } = predecessor;
  const { doc: winner } = await memories.findReadable(ctx, winner_id);
  const seed = ctx.meta.idempotency_seed;
  // An earlier try of this request did it.
  if (seed !== undefined && loser.superseded_seed === seed && loser.status === "superseded") return loser;
  await requireReplaceable(ctx, predecessor, winner);
  if (winner.status !== "active") throw notActive(winner);
  if (loser.status !== "active") throw notActive(loser);
  // An expired successor would leave neither visible.
  if (memories.isExpired(winner)) throw notFound("memory", winner_id);
  const replaced = await replace(memories, winner, id, seed, reason);
  if (replaced instanceof Fault) throw replaced;
  await requireWinner(memories, replaced, winner);
  await memories.afterChange(ctx, [replaced]);
  await noteSuperseding(memories, ctx, replaced);
  return replaced;
}

/**
 * Activates a memory that waits for its predecessor to be superseded, and supersedes that; deletes the memory and
 * returns the fault if this is refused. May run twice.
 */
export async function completeReplacement(
  memories: Memories,
  ctx: Calls,
  doc: MemoryDoc,
): Promise<MemoryDoc | Fault> {
  const { _id, tenant_id } = doc;
  const own = { _id, status: "pending" as const };
  const replaced = await replace(memories, doc, doc.supersedes_id as string, undefined, doc.reason);
  if (replaced instanceof Fault) {
    await memories.rows.delete(tenant_id, own);
    return replaced;
  }
  const update = makeChange("created", memories.now(), { status: "active" });
  const active =
    (await memories.rows.update(tenant_id, own, { ...update, $unset: { pending_at: 1 } })) ??
    ((await memories.rows.findOne(tenant_id, { _id })) as MemoryDoc);
  await memories.afterChange(ctx, [active, replaced]);
  await noteSuperseding(memories, ctx, replaced);
  return active;
}

/**
 * Supersedes an active memory by another that is at least as visible. Checks this again, as it may have changed.
 * Repeating it with the same successor changes nothing. Returns the fault that refuses it.
 */
async function replace(
  { rows, now }: Memories,
  successor: MemoryDoc,
  id: string,
  seed?: string,
  reason?: string | null,
): Promise<MemoryDoc | Fault> {
  const at = now();
  const { tenant_id, _id: superseded_by } = successor;
  const state = {
    ...{ status: "superseded" as const, superseded_by },
    // A new memory and what it replaces change at once.
    invalid_at: successor.status === "pending" ? successor.created_at : at,
    ...{ succeeded_at: validityOf(successor).from, superseded_reason: reason ?? null },
    ...(seed !== undefined && { superseded_seed: seed }),
  };
  const active = { _id: id, status: "active" as const, ...coveredBy(successor) };
  const doc = await rows.update(tenant_id, active, makeChange("superseded", at, state));
  const there = doc ?? (await rows.findOne(tenant_id, { _id: id }));
  if (!there) return notFound("memory", id);
  if (there.status === "superseded" && there.superseded_by === superseded_by) return there;
  return there.status === "active" ? lessVisible(there, successor) : notActive(there);
}

/**
 * Restores the loser unless the winner is still in force: of two memories that replace each other the later request
 * sees it, so no memory is lost in a cycle.
 */
async function requireWinner({ rows, now }: Memories, loser: MemoryDoc, winner: MemoryDoc): Promise<void> {
  const { tenant_id } = loser;
  const current = await rows.findOne(tenant_id, { _id: winner._id });
  if (current?.status === "active") return;
  await rows.update(
    tenant_id,
    { _id: loser._id, status: "superseded", superseded_by: winner._id, version: loser.version },
    makeChange("restored", now(), {
      status: "active",
      superseded_by: null,
      invalid_at: null,
      succeeded_at: null,
    }),
  );
  throw notActive(current ?? winner);
}

/** Records the relationship at once; the loop that announces changes repeats it at the latest. */
function noteSuperseding({ log }: Memories, ctx: Pick<ServiceBroker, "call">, doc: MemoryDoc): Promise<void> {
  return recordSuperseding(ctx, doc).catch((err) =>
    log.warn({ err }, "memories: the relationship of a superseded memory is recorded later"),
  );
}

/**
 * Refuses a successor that would hide other users' memories.
 * @throws Fault forbidden unless the caller owns the memory or is an org admin; business_rule_violation if a reader of
 * the memory could not read its successor
 */
export async function requireReplaceable(ctx: RequestContext, { doc, access }: Accessed, successor: Scoped) {
  if (!mayManage(ctx.meta.caller, access, doc)) {
    throw forbidden("Only its owner and org admins can supersede a memory. Ask one of them.");
  }
  if (!(await isReadByAllReaders(ctx, doc, successor))) throw lessVisible(doc, successor);
}

function lessVisible(doc: Scoped, successor: Scoped): Fault {
  const message =
    `A successor must be at least as visible as the memory that it supersedes: ${shown(successor)} does not cover ` +
    `${shown(doc)}. Promote the successor first.`;
  return ruleBroken("scope_only_widens", message);
}

function shown({ scope, team_id }: Scoped): string {
  return scope === "team" ? `scope team (${team_id})` : `scope ${scope}`;
}
