import { type Rule, ruleBroken } from "../lib/contract/faults.ts";
import type { TenantCollection, TenantDocument } from "./collection.ts";
import { byFields, type Where } from "./query.ts";

interface RowLimit<T extends TenantDocument> {
  /** The limited rows. */
  of: TenantCollection<T>;
  most: number;
  /** Their name, and the rule that one more violates. */
  called: string;
  rule: Rule;
  /** The remedy, for the error message. */
  instead: string;
  /** Filter of the tenant's rows that count; default: all. */
  within?: Where<T>;
}

/**
 * Refuses a row beyond the limit. The row with the new one's id does not count: a retry of a successful request must
 * not be refused.
 *
 * @throws Fault business_rule_violation
 */
export async function requireCapacity<T extends TenantDocument>(
  { of, most, called, rule, instead, within }: RowLimit<T>,
  tenant_id: string,
  _id: string,
): Promise<void> {
  const other = byFields<T, TenantDocument>({ _id: { $ne: _id } });
  const others = await of.count(tenant_id, { ...within, ...other });
  if (others >= most) throw ruleBroken(rule, `The limit of ${most} ${called} is reached. ${instead}.`);
}
