import type { Operation } from "../../../../lib/contract/contract.ts";
import { compileKeyCheck, type KeyCheck } from "../../../../lib/contract/known-keys.ts";

const checks = new WeakMap<Operation, KeyCheck>();

/**
 * Refuses unknown keys of a JSON body: a misspelt one would silently change nothing, or too much. Checked here and not
 * with the action's params, so that a newer gateway can call an older service.
 *
 * @throws Fault validation_failed
 */
export function requireKnownKeys(op: Operation, body: Record<string, unknown>): void {
  let check = checks.get(op);
  if (!check) {
    check = compileKeyCheck({ type: "object", properties: op.body ?? {} });
    checks.set(op, check);
  }
  const fault = check(body);
  if (fault) throw fault;
}
