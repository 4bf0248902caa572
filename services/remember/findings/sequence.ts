import type { TenantCollection } from "../../../storage/collection.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import type { CursorDoc, FindingDoc } from "./findings.model.ts";

/** The findings of tenants, and how far they were read. */
export interface Findings {
  rows: TenantCollection<FindingDoc>;
  cursors: TenantCollection<CursorDoc>;
  now(): Date;
}

const LATEST = { sort: { seq: -1 }, limit: 1, projection: { seq: 1 } } as const;

/** Returns the last position given in a tenant, including erased ones: new findings come after it. */
export async function lastPosition({ rows, cursors }: Findings, tenant_id: string): Promise<number> {
  const [row] = await rows.find(tenant_id, {}, LATEST);
  // Read second, because erasures write it first.
  const erased = await cursors.findOne(tenant_id, { _id: tenant_id });
  return Math.max(row?.seq ?? 0, erased?.seq ?? 0);
}

/**
 * Records the positions of findings before they are erased, so that positions are not reused and readers miss nothing.
 */
export async function keepPositions(findings: Findings, tenant_id: string, ids: string[]): Promise<void> {
  const [row] = await findings.rows.find(tenant_id, { _id: { $in: ids } }, LATEST);
  if (row) await advance(findings, tenant_id, tenant_id, row.seq);
}

/** Moves a cursor forward, never back; returns its position. */
export async function advance(
  findings: Findings,
  tenant_id: string,
  _id: string,
  seq: number,
): Promise<number> {
  const { cursors, now } = findings;
  const moved = { seq, updated_at: now() };
  if (await cursors.update(tenant_id, { _id, seq: { $lt: seq } }, { $set: moved })) return seq;
  const there = await cursors.findOne(tenant_id, { _id });
  if (there) return there.seq;
  try {
    await cursors.insert({ _id, tenant_id, ...moved });
    return seq;
  } catch (err) {
    if (isDuplicateKey(err)) return advance(findings, tenant_id, _id, seq);
    throw err;
  }
}
