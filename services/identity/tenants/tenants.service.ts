import type { ActionSchema, Service } from "moleculer";
import { observeSharedGauge, SharedLoop } from "../../../mixins/shared.ts";
import type { StorageUsage } from "../../../storage/usage/usage.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { Founding } from "./founding.ts";
import { limitsOf } from "./limits.ts";
import type { RoutingSubject } from "./routing-change.ts";
import { RoutingVersions } from "./routing-versions.ts";
import * as contract from "./tenants.contract.ts";
import { type TenantDoc, TenantModel } from "./tenants.model.ts";
import { Tenants } from "./tenants.ts";

const SWEEP_MS = 30_000;

const ERASURE_FAILED = "tenants: an erasure failed and will be retried";

export const tenantsService: ServiceFactory = (runtime) => {
  const { store, usage, config } = runtime;
  const rows = store.collection(TenantModel);
  const tenants = new Tenants(runtime, rows);
  const versions = new RoutingVersions(rows, store.driver === "sqlite");
  const sweep = new SharedLoop("erasures", (broker) => tenants.eraseDue(broker), SWEEP_MS, ERASURE_FAILED);

  return {
    name: "tenants",
    mixins: [sweep.mixin],
    actions: {
      create: action(contract.createTenant, (ctx) => tenants.create(ctx)),
      list: action(contract.listTenants, (ctx) => tenants.list(ctx)),
      update: action(contract.updateTenant, (ctx) => tenants.update(ctx)),
      erase: action(contract.eraseTenant, (ctx) => tenants.erase(ctx)),
      limits: action(contract.readLimits, async ({ meta }) =>
        limitsOf(config, await usage.of(meta.caller.tenant_id)),
      ),

      /** Creates a tenant from secrets that the caller keeps, for the first start. */
      found: internal<Founding>(async (ctx) => toState(await tenants.found(ctx, ctx.params))),

      get_many: idempotent<{ tenant_ids: string[] }>(async ({ params }) => {
        const projection = { slug: 1, name: 1, status: 1, token_version: 1 };
        const docs = await rows.system.find({ _id: { $in: params.tenant_ids } }, { projection }).toArray();
        return (docs as TenantDoc[]).map(toState);
      }),

      by_slug: idempotent<{ slug: string }>(async ({ params: { slug } }) => {
        const doc = (await rows.system.findOne({ slug })) as TenantDoc | null;
        return doc && toState(doc);
      }),

      /** Whether there is at most one tenant. */
      is_only: idempotent<object>(async () => {
        const options = { projection: { _id: 1 }, limit: 2 };
        return (await rows.system.find({}, options).toArray()).length < 2;
      }),

      ...routingActions(versions),
    },

    started() {
      observeStorage(this, usage);
    },
  };
};

/** Actions for routing tables (services/identity/tenants/routing-change.ts). */
function routingActions(versions: RoutingVersions): Record<string, ActionSchema> {
  return {
    routing_version: idempotent<{ tenant_id: string }>(({ params }) => versions.read(params.tenant_id)),
    routing_since: idempotent<{ tenant_id: string; version: number }>(({ params }) =>
      versions.since(params.tenant_id, params.version),
    ),
    bump_routing: internal<{ tenant_id: string; subject: RoutingSubject }>(({ params }) =>
      versions.raise(params.tenant_id, params.subject),
    ),
  };
}

/** Aggregated: the number of labels per tenant would be unbounded. */
function observeStorage(service: Service, usage: StorageUsage): void {
  observeSharedGauge(
    service,
    "storage_bytes",
    "Bytes stored by all tenants, without indexes",
    "of",
    async () => ({
      tenants: (await usage.totals()).used_bytes,
    }),
  );
  observeSharedGauge(
    service,
    "tenants_over_quota",
    "Tenants that have reached their storage quota",
    "quota",
    async () => ({
      storage: (await usage.totals()).full,
    }),
  );
}

function toState({ _id: id, slug, name, status, token_version = 0 }: TenantDoc) {
  return { id, slug, name, status, token_version };
}
