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
 * Takes an active memory out of force in favour of another that is at least as visible, which it may have ceased to be
 * since that was checked; again for the same other is no change.
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

/** Why a memory was not replaced. */
export function notReplaced(there: MemoryDoc, successor: MemoryDoc): Fault {
  return there.status === "active" ? lessVisible(there, successor) : notActive(there);
}

/** Brings a memory that was waiting for another's place into force. */
export async function activate({ memories, now }: Parts, { tenant_id, _id }: MemoryDoc): Promise<MemoryDoc> {
  const { $set, ...rest } = changeOf("created", now(), { status: "active" });
  const update = { ...rest, $set, $unset: { pending_at: 1 as const } };
  const doc = await memories.update(tenant_id, { _id, status: "pending" }, update);
  return doc ?? ((await memories.findOne(tenant_id, { _id })) as MemoryDoc);
}

/**
 * Replaces one memory by another that is there (spec: States, Memory).
 *
 * @throws Fault not_found when either is not visible, forbidden, conflict when either is not active,
 *   business_rule_violation when the other is less visible
 */
export async function supersede(parts: Parts, ctx: Call, id: string, winner_id: string): Promise<MemoryDoc> {
  if (id === winner_id) throw invalidValue("superseded_by_id", "A memory cannot replace itself.");
  // One after the other: where neither is there, it is always the path's that is said to be missing.
  const found = await findReadable(parts, ctx, id);
  const { doc: loser } = found;
  const { doc: winner } = await findReadable(parts, ctx, winner_id);
  const seed = ctx.meta.idempotency_seed;
  // A first try of this request did it.
  if (seed !== undefined && loser.superseded_seed === seed && loser.status === "superseded") return loser;
  await requireReplaceable(ctx, found, winner);
  if (winner.status !== "active") throw notActive(winner);
  if (loser.status !== "active") throw notActive(loser);
  // It would take the other's place and be seen by nobody.
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
 * Whoever replaces looks again whether the winner still is in force, and else takes it back: of two that replace each
 * other, whichever is later sees that, and no memory is lost in a circle.
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
