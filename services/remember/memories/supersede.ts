import type { Call } from "../../../lib/access/caller.ts";
import { coveredBy } from "../../../lib/access/visibility.ts";
import { type Fault, invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { changeOf } from "./changes.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { findReadable, notActive, type Parts } from "./parts.ts";
import { isExpired } from "./rows.ts";
import { lessVisible, requireReplaceable } from "./successor.ts";

type Replaced = { doc: MemoryDoc } | { refused: MemoryDoc | null };

/**
 * Supersedes an active memory by another that is at least as visible. Checks this again, as it may have changed.
 * Repeating it with the same successor changes nothing.
 */
export async function replace(
  { memories, now }: Parts,
  successor: MemoryDoc,
  id: string,
  seed?: string,
): Promise<Replaced> {
  const at = now();
  const { tenant_id, _id: superseded_by } = successor;
  const state = {
    ...{ status: "superseded" as const, superseded_by, invalid_at: at },
    ...(seed !== undefined && { superseded_seed: seed }),
  };
  const doc = await memories.update(
    tenant_id,
    { _id: id, status: "active", ...coveredBy(successor) },
    changeOf("superseded", at, state),
  );
  if (doc) return { doc };
  const there = await memories.findOne(tenant_id, { _id: id });
  const done = there?.status === "superseded" && there.superseded_by === superseded_by;
  return done ? { doc: there } : { refused: there };
}

/** Returns the fault that explains why a memory was not replaced. */
export function notReplaced(there: MemoryDoc, successor: MemoryDoc): Fault {
  return there.status === "active" ? lessVisible(there, successor) : notActive(there);
}

/** Activates a memory that was waiting for its predecessor to be superseded. */
export async function activate({ memories, now }: Parts, { tenant_id, _id }: MemoryDoc): Promise<MemoryDoc> {
  const { $set, ...rest } = changeOf("created", now(), { status: "active" });
  const update = { ...rest, $set, $unset: { pending_at: 1 as const } };
  const doc = await memories.update(tenant_id, { _id, status: "pending" }, update);
  return doc ?? ((await memories.findOne(tenant_id, { _id })) as MemoryDoc);
}

/**
 * Replaces one memory by another existing one (spec: States, Memory).
 *
 * @throws Fault not_found if either is not visible, forbidden, conflict if either is not active,
 * business_rule_violation if the other is less visible
 */
export async function supersede(parts: Parts, ctx: Call, id: string, winner_id: string): Promise<MemoryDoc> {
  if (id === winner_id) throw invalidValue("superseded_by_id", "A memory cannot replace itself.");
  // Sequential: if both are missing, the error always names the one in the path.
  const found = await findReadable(parts, ctx, id);
  const { doc: loser } = found;
  const { doc: winner } = await findReadable(parts, ctx, winner_id);
  const seed = ctx.meta.idempotency_seed;
  // An earlier try of this request did it.
  if (seed !== undefined && loser.superseded_seed === seed && loser.status === "superseded") return loser;
  await requireReplaceable(ctx, found, winner);
  if (winner.status !== "active") throw notActive(winner);
  if (loser.status !== "active") throw notActive(loser);
  // An expired successor would leave neither visible.
  if (isExpired(winner, parts.now().getTime())) throw notFound("memory", winner_id);
  const replaced = await replace(parts, winner, id, seed);
  if ("refused" in replaced)
    throw replaced.refused ? notReplaced(replaced.refused, winner) : notFound("memory", id);
  await requireWinner(parts, replaced.doc, winner);
  await parts.changes.after(ctx, [replaced.doc]);
  await parts.changes.recordSuperseding(ctx, replaced.doc);
  return replaced.doc;
}

/**
 * Restores the loser unless the winner is still in force: of two memories that replace each other the later request
 * sees it, so no memory is lost in a cycle.
 */
async function requireWinner({ memories, now }: Parts, loser: MemoryDoc, winner: MemoryDoc): Promise<void> {
  const { tenant_id } = loser;
  const current = await memories.findOne(tenant_id, { _id: winner._id });
  if (current?.status === "active") return;
  await memories.update(
    tenant_id,
    { _id: loser._id, status: "superseded", superseded_by: winner._id, version: loser.version },
    changeOf("restored", now(), { status: "active", superseded_by: null, invalid_at: null }),
  );
  throw notActive(current ?? winner);
}
