import { isWithinQuota, type Operation } from "../../../../lib/contract/contract.ts";
import { unavailable } from "../../../../lib/contract/faults.ts";
import type { DiskWatch } from "../../../../observability/disk.ts";
import type { Modes } from "../../../../observability/modes.ts";
import type { StorageUsage } from "../../../../storage/usage/usage.ts";
import type { HttpExchange } from "../http-exchange.ts";

const RETRY_AFTER_SECONDS = 30;
/** Signing in, renewing that and ending it. */
const SIGN_IN = /^(auth\.|oauth\.(token|revoke)$)/;

/**
 * Refuses writes while the disk is nearly full: half a write is worse than none. Deletes and signing in, which deleting
 * needs, stay possible.
 *
 * @throws Fault service_unavailable
 */
export function requireSpace(op: Operation, disk: Pick<DiskWatch, "refusesWrites">): void {
  const { method, action, stream, reads } = op;
  if (!disk.refusesWrites || stream || reads) return;
  if (method === "GET" || method === "DELETE" || SIGN_IN.test(action)) return;
  throw unavailable(
    "The disk is nearly full. Writes are refused until the operator frees space.",
    RETRY_AFTER_SECONDS,
  );
}

/**
 * Refuses writes during maintenance, except the operator's, signing in, which reading needs, and what settles, keeps or
 * receives deliveries.
 *
 * @throws Fault service_unavailable
 */
export function requireWrites(op: Operation, modes: Pick<Modes, "requireWrites">): void {
  const { method, action, stream, reads, reserved, takes, access } = op;
  if (stream || reads || reserved || takes || method === "GET" || access.by === "operator") return;
  if (!SIGN_IN.test(action)) modes.requireWrites();
}

/**
 * Refuses writes beyond the tenant's quota. Large fields are counted when they are put into blobs.
 *
 * @throws Fault business_rule_violation
 */
export function requireQuota(
  { op, req, caller }: HttpExchange,
  usage: Pick<StorageUsage, "require">,
): void | Promise<void> {
  if (!caller || !isWithinQuota(op)) return;
  return usage.require(caller.tenant_id, op.byReference ? 0 : Number(req.headers["content-length"] ?? 0));
}
