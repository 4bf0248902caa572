import type { Call } from "../../../lib/access/caller.ts";
import { conflict, type Fault } from "../../../lib/contract/faults.ts";
import { derivedId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import type { TenantDoc } from "./tenants.model.ts";

/** The first data of a new tenant. Its secrets are generated before the founding, so that a retry changes nothing. */
export interface Founding {
  tenant_id: string;
  slug: string;
  name: string;
  admin: { email: string; password: string };
  api_key: string;
}

/** Derives the first rows' ids from the tenant's, so that a founding can be retried. */
export function firstIds(tenant_id: string) {
  return {
    user_id: derivedId("usr", tenant_id, "first"),
    agent_id: derivedId("ag", tenant_id, "first"),
    key_id: derivedId("key", tenant_id, "first"),
  };
}

const ABANDONED_MS = 60_000;

/**
 * Creates a tenant with its first admin, agent and key. The tenant's row comes first, as `founding`, and reserves the
 * slug; it becomes `active` once the others exist. Repeating a founding is safe.
 * @throws Fault conflict if the slug is another tenant's.
 */
export async function found(
  tenants: TenantCollection<TenantDoc>,
  ctx: Call,
  now: number,
  founding: Founding,
): Promise<TenantDoc> {
  const { tenant_id, admin, api_key } = founding;
  await reserve(tenants, now, founding);
  const { user_id, agent_id, key_id } = firstIds(tenant_id);
  await ctx.call("users.insert_first", { tenant_id, user_id, ...admin });
  await ctx.call("agents.insert_first", { tenant_id, agent_id, owner_user_id: user_id });
  await ctx.call("keys.insert_first", { tenant_id, agent_id, key_id, key: api_key });
  const at = new Date(now);
  const active = { $set: { status: "active", updated_at: at } } as const;
  const opened = await tenants.update(tenant_id, { _id: tenant_id, status: "founding" }, active);
  const tenant = opened ?? (await tenants.findOne(tenant_id, { _id: tenant_id }));
  if (tenant?.status !== "active") throw slugTaken(founding.slug, tenant_id);
  return tenant;
}

async function reserve(tenants: TenantCollection<TenantDoc>, now: number, founding: Founding): Promise<void> {
  const { tenant_id, slug, name } = founding;
  const at = new Date(now);
  const row = { _id: tenant_id, tenant_id, slug, name, routing_version: 1, created_at: at, updated_at: at };
  try {
    await tenants.insert({ ...row, status: "founding" });
  } catch (err) {
    if (!isDuplicateKey(err)) throw err;
    const holder = (await tenants.system.findOne({ slug })) as TenantDoc | null;
    if (holder?._id === tenant_id) return;
    if (!holder || !(await release(tenants, now, holder))) throw slugTaken(slug, holder?._id);
    await reserve(tenants, now, founding);
  }
}

/** Takes the slug from an abandoned founding; the sweep erases its rows. */
async function release(
  tenants: TenantCollection<TenantDoc>,
  now: number,
  holder: TenantDoc,
): Promise<boolean> {
  if (holder.status !== "founding" || holder.created_at.getTime() > now - ABANDONED_MS) return false;
  const at = new Date(now);
  const left = { _id: holder._id, status: "founding" } as const;
  const gone = { status: "erasing", slug: holder._id, updated_at: at, erase_due_at: at } as const;
  return (await tenants.update(holder._id, left, { $set: gone })) !== null;
}

function slugTaken(slug: string, existing_resource_id: string | undefined): Fault {
  return conflict(`The slug "${slug}" is taken. Choose another.`, {
    field: "slug",
    existing_resource_id,
  });
}
