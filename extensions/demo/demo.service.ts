import { hash } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { newApiKey } from "../../lib/access/api-key.ts";
import type { RequestContext } from "../../lib/access/caller.ts";
import { conflict, isFault } from "../../lib/contract/faults.ts";
import { newPassword } from "../../lib/crypto/password.ts";
import type { SecretBox } from "../../lib/crypto/secrets.ts";
import { newUuid } from "../../lib/ids.ts";
import { originOf } from "../../services/identity/tenants/origin.ts";
import type { TenantState } from "../../services/identity/tenants/tenants.contract.ts";
import { action, type ServiceFactory } from "../../services/runtime.ts";
import { Cast } from "./cast.ts";
import * as contract from "./demo.contract.ts";
import { MADE, NAME, tellStory } from "./story.ts";

/** Ids of demonstrations begin so; others cannot, as the service chooses them. */
const PREFIX = "tn_demo-";

export const demoService: ServiceFactory = (runtime) => {
  let broker: ServiceBroker;

  return {
    name: "demo",
    created() {
      broker = this.broker;
    },
    actions: {
      get: action(contract.getDemo, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const own = tenant_id.startsWith(PREFIX);
        const tenant = own ? undefined : await find(ctx, addressOf(tenant_id));
        return { tenant: tenant ? present(tenant) : null, own };
      }),

      create: action(contract.createDemo, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        if (tenant_id.startsWith(PREFIX)) throw conflict("This organisation is the demonstration itself.");
        const { tenant, person } = await found(ctx, addressOf(tenant_id), runtime.secrets);
        await tellStory(new Cast(broker, tenant, runtime));
        const origin = await originOf(broker, runtime.config);
        const made = MADE.map(({ what, path }) => ({ what, url: `${origin}${path}` }));
        return { tenant: present(tenant), url: `${origin}/`, person, made };
      }),

      delete: action(contract.deleteDemo, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const own = tenant_id.startsWith(PREFIX);
        const removed = own ? tenant_id : ((await find(ctx, addressOf(tenant_id)))?.id ?? null);
        return { tenant_id: removed, erased: removed === null ? 0 : await erase(ctx, removed) };
      }),
    },
  };
};

/** Where an organisation's demonstration is: under this slug, with an id that begins so. */
interface Address {
  slug: string;
  prefix: string;
}

function addressOf(tenant_id: string): Address {
  const owner = hash("sha256", tenant_id, "hex").slice(0, 10);
  return { slug: `demo-${owner}`, prefix: `${PREFIX}${owner}-` };
}

/** Returns the demonstration, also one that was begun or is being removed; never another tenant that has its slug. */
async function find(ctx: RequestContext, { slug, prefix }: Address): Promise<TenantState | undefined> {
  const tenant = await ctx.call<TenantState | null, object>("tenants.by_slug", { slug });
  return tenant?.id.startsWith(prefix) ? tenant : undefined;
}

/** Creates the tenant, or completes it. All its secrets derive from its id: a repetition returns the same. */
async function found(ctx: RequestContext, address: Address, secrets: SecretBox) {
  const { slug, prefix } = address;
  const complete = async (tenant_id: string) => {
    const person = { email: `ada@${slug}.example`, password: newPassword(secrets, tenant_id) };
    const founding = { tenant_id, slug, name: NAME, admin: person, api_key: newApiKey(secrets, tenant_id) };
    return { tenant: await ctx.call<TenantState, object>("tenants.found", founding), person };
  };
  const there = await find(ctx, address);
  if (there?.status === "erasing") await erase(ctx, there.id);
  else if (there) return complete(there.id);
  try {
    return await complete(`${prefix}${newUuid()}`);
  } catch (err) {
    // Another request may just have begun it.
    const other = isFault(err) && err.type === "conflict" ? await find(ctx, address) : undefined;
    if (!other) throw err;
    return complete(other.id);
  }
}

async function erase(ctx: RequestContext, tenant_id: string): Promise<number> {
  const { erased } = await ctx.call<{ erased: Record<string, number> }, object>("tenants.erase", {
    tenant_id,
  });
  return Object.values(erased).reduce((sum, count) => sum + count, 0);
}

const present = ({ id, slug, name }: TenantState) => ({ id, slug, name });
