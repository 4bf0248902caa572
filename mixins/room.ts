import { type Rule, ruleBroken } from "../lib/contract/faults.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import { byFields, type Where } from "../storage/query.ts";

export interface Room<T extends TenantDocument> {
  /** Of what there may be so many. */
  of: TenantCollection<T>;
  most: number;
  /** What they are called, and the rule that one more breaks. */
  called: string;
  rule: Rule;
  /** What to do when there are as many. */
  instead: string;
  /** Of which of the tenant's they may be so many; default: of all. */
  within?: Where<T>;
}

/**
 * Refuses one more than there may be. The row with the new one's id does not count: a retry of what was done must not
 * be refused.
 *
 * @throws Fault business_rule_violation
 */
export async function requireRoom<T extends TenantDocument>(
  { of, most, called, rule, instead, within }: Room<T>,
  tenant_id: string,
  _id: string,
): Promise<void> {
  const other = byFields<T, TenantDocument>({ _id: { $ne: _id } });
  const others = await of.count(tenant_id, { ...within, ...other });
  if (others >= most) throw ruleBroken(rule, `There are ${most} ${called} already: ${instead}.`);
}
