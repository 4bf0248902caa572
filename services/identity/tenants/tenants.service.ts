import type { ServiceBroker } from "moleculer";
import { newApiKey } from "../../../lib/access/api-key.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { newPassword } from "../../../lib/crypto/password.ts";
import { newId } from "../../../lib/ids.ts";
import { nodesOf } from "../../../mixins/every-node.ts";
import { backupsUntil, scrub } from "../../../mixins/scrub.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { toStorage, type Usage } from "../../../storage/usage/usage.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { erase, eraseDue } from "./erasure.ts";
import { type Founding, firstIds, found } from "./founding.ts";
import { limitsOf } from "./limits.ts";
import { originOf } from "./origin.ts";
import {
  createTenant,
  eraseTenant,
  listTenants,
  readLimits,
  type TenantState,
  updateTenant,
} from "./tenants.contract.ts";
import { type TenantDoc, TenantModel } from "./tenants.model.ts";

const SWEEP_MS = 30_000;
const USABLE = ["active", "suspended"] as const;

export const tenantsService: ServiceFactory = (runtime) => {
  const { store, blobs, secrets, usage } = runtime;
  const tenants = store.collection(TenantModel);
  const holdings = { store, blobs, tenants };
  /** Caches routing versions by tenant, if no other node can raise them: every batch of events reads one. */
  const versions = new Map<string, number>();
  let sweep: NodeJS.Timeout;

  function keepVersion(tenant_id: string, doc: Pick<TenantDoc, "routing_version"> | null): number {
    const version = doc?.routing_version ?? 0;
    if (store.driver !== "sqlite" || !doc) return version;
    // A read that began before the version was raised must not lower it.
    const kept = Math.max(version, versions.get(tenant_id) ?? 0);
    versions.set(tenant_id, kept);
    return kept;
  }

  /** Announces changed permissions in the tenant: tokens are checked again, and pushes stop or continue. */
  async function announce(ctx: Call, tenant_id: string): Promise<void> {
    await ctx.broadcast("auth.changed", { tenant_id });
    await ctx.broadcast("tenants.changed", { tenant_id });
  }

  /** Resolves when search holds nothing of the tenant on any node. */
  async function tellErased(broker: ServiceBroker, tenant_id: string): Promise<void> {
    await broker.broadcast("tenants.erased", { tenant_id });
    if (nodesOf(broker, "search.drop_tenant").length) await broker.call("search.drop_tenant", { tenant_id });
  }

  return {
    name: "tenants",
    actions: {
      create: action(createTenant, async (ctx) => {
        const { slug, name, admin_email } = ctx.params;
        const seed = ctx.meta.idempotency_seed;
        const admin = { email: admin_email, password: newPassword(secrets, seed) };
        const api_key = newApiKey(secrets, seed);
        const founding: Founding = { tenant_id: newId("tn", seed), slug, name, admin, api_key };
        const tenant = await found(tenants, ctx, store.now(), founding);
        const agent = { id: firstIds(tenant._id).agent_id, api_key };
        return {
          tenant: present(tenant, await usage.of(tenant._id)),
          admin,
          agent,
          ingest_url: await originOf(ctx.broker, runtime.config),
        };
      }),

      list: action(listTenants, async ({ params: { offset = 0, limit = 50 } }) => {
        const shown = { status: { $in: [...USABLE] } };
        const rows = tenants.system.find(shown).sort({ created_at: 1, _id: 1 }).skip(offset).limit(limit);
        const [docs, total] = await Promise.all([rows.toArray(), tenants.system.countDocuments(shown)]);
        const usages = await usage.ofAll(docs.map(({ _id }) => _id));
        return {
          tenants: (docs as TenantDoc[]).map((doc) => present(doc, usages.get(doc._id) as Usage)),
          total,
        };
      }),

      update: action(updateTenant, async (ctx) => {
        const { tenant_id, status, storage_quota_mb } = ctx.params;
        const tenant = await tenants.update(
          tenant_id,
          { _id: tenant_id, status: { $in: [...USABLE] } },
          { $set: { ...(status && { status }), updated_at: new Date(store.now()) } },
        );
        if (!tenant) throw notFound("tenant", tenant_id);
        if (storage_quota_mb !== undefined) await usage.setQuota(tenant_id, storage_quota_mb);
        if (status) await announce(ctx, tenant_id);
        return present(tenant, await usage.of(tenant_id));
      }),

      erase: action(eraseTenant, async (ctx) => {
        const { tenant_id } = ctx.params;
        const known = await tenants.findOne(tenant_id, { _id: tenant_id, status: { $ne: "erased" } });
        if (!known) throw notFound("tenant", tenant_id);
        const due = new Date(store.now());
        // Refuses requests first, so that nobody adds rows during the erasure.
        await tenants.update(
          tenant_id,
          { _id: tenant_id },
          { $set: { status: "erasing", erase_due_at: due } },
        );
        await announce(ctx, tenant_id);
        const erased = await erase(holdings, tenant_id);
        await tellErased(ctx.broker, tenant_id);
        const storage = await scrub(ctx.broker, store);
        const at = new Date(store.now());
        const told = {
          erased_at: at.toISOString(),
          erased,
          storage,
          backups_until: backupsUntil(at, runtime.config),
        };
        const receipt = await ctx.call("auth.sign_receipt", { claims: { tenant_id, ...told } });
        return { tenant_id, ...told, receipt };
      }),

      limits: action(readLimits, async ({ meta }) =>
        limitsOf(runtime.config, await usage.of(meta.caller.tenant_id)),
      ),

      /** Creates a tenant from secrets that the caller keeps, for the first start. */
      found: internal<Founding>(async (ctx) => stateOf(await found(tenants, ctx, store.now(), ctx.params))),

      get_many: idempotent<{ tenant_ids: string[] }>(async ({ params }) => {
        const docs = await tenants.system.find({ _id: { $in: params.tenant_ids } }).toArray();
        return (docs as TenantDoc[]).map(stateOf);
      }),

      by_slug: idempotent<{ slug: string }>(async ({ params }) => {
        const doc = (await tenants.system.findOne({ slug: params.slug })) as TenantDoc | null;
        return doc && stateOf(doc);
      }),

      /** Whether there is at most one tenant. */
      is_only: idempotent<object>(
        async () =>
          (
            await tenants.system
              .find({}, { projection: { _id: 1 } })
              .limit(2)
              .toArray()
          ).length < 2,
      ),

      routing_version: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
        const known = versions.get(tenant_id);
        if (known !== undefined) return known;
        const options = { projection: { routing_version: 1 } };
        return keepVersion(tenant_id, await tenants.findOne(tenant_id, { _id: tenant_id }, options));
      }),

      /** Returns the new version. Call after a change of routing is written and before it is answered. */
      bump_routing: internal<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
        const doc = await tenants.update(tenant_id, { _id: tenant_id }, { $inc: { routing_version: 1 } });
        // An answer without a new version would leave every routing table outdated.
        if (!doc) throw notFound("tenant", tenant_id);
        return keepVersion(tenant_id, doc);
      }),
    },

    started() {
      const erased = async (tenant_id: string) => {
        await tellErased(this.broker, tenant_id);
        await scrub(this.broker, store);
      };
      const failed = (err: unknown, tenant_id?: string) =>
        this.logger.error({ err, tenant_id }, "an erasure failed; it is tried again");
      // Aggregated: the number of labels per tenant would be unbounded.
      observeGauge("storage_bytes", "What all tenants store, without indexes", "of", async () => ({
        tenants: (await usage.totals()).used_bytes,
      }));
      observeGauge("tenants_over_quota", "Tenants that may store no more", "quota", async () => ({
        storage: (await usage.totals()).full,
      }));
      let running = false;
      const eraseWhatIsDue = async () => {
        if (running) return;
        running = true;
        await eraseDue(holdings, { erased, failed })
          .catch(failed)
          .finally(() => {
            running = false;
          });
      };
      sweep = setInterval(eraseWhatIsDue, SWEEP_MS).unref();
    },

    stopped() {
      clearInterval(sweep);
    },
  };
};

function stateOf({ _id, slug, name, status }: TenantDoc): TenantState {
  return { id: _id, slug, name, status };
}

function present({ _id, slug, name, status, created_at, updated_at }: TenantDoc, usage: Usage) {
  return {
    id: _id,
    slug,
    name,
    status,
    storage: toStorage(usage),
    storage_quota_mb: usage.quota_mb,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
