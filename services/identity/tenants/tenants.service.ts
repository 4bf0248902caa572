import type { ActionSchema, Service } from "moleculer";
import type { Config } from "../../../config.ts";
import type { Caller } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { MAX_CHARACTERS } from "../../../lib/text/blocks.ts";
import { observeSharedGauge, SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { RUNNING } from "../../extensions.ts";
import { type StorageUsage, toStorage, type Usage } from "../../platform/usage/usage.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { Founding } from "./founding.ts";
import * as moves from "./moving.contract.ts";
import { Moving } from "./moving.ts";
import type { RoutingState, RoutingSubject } from "./routing-change.ts";
import type { TenantState } from "./tenants.contract.ts";
import * as contract from "./tenants.contract.ts";
import { type TenantDoc, TenantModel } from "./tenants.model.ts";
import { Tenants } from "./tenants.ts";

const SWEEP_MS = 30_000;

export const tenantsService: ServiceFactory = (runtime) => {
  const { store, usage, config } = runtime;
  const rows = store.collection(TenantModel);
  const tenants = new Tenants(runtime, rows);
  const moving = new Moving(runtime, rows);
  const versions = new RoutingVersions(rows, store.driver === "sqlite");
  const sweep = new SharedLoop("erasures", (broker) => tenants.eraseDue(broker), SWEEP_MS);

  return {
    name: "tenants",
    mixins: [sweep.mixin],
    actions: {
      create: action(contract.createTenant, (ctx) => tenants.create(ctx)),
      list: action(contract.listTenants, (ctx) => tenants.list(ctx)),
      update: action(contract.updateTenant, (ctx) => tenants.update(ctx)),
      erase: action(contract.eraseTenant, (ctx) => tenants.erase(ctx)),
      usage: action(contract.listTenantUsage, (ctx) => tenants.usage(ctx)),
      limits: action(contract.getTenantLimits, async ({ meta: { caller } }) =>
        limitsOf(config, caller, await usage.of(caller.tenant_id)),
      ),

      export: action(moves.exportTenant, (ctx) => moving.beginExport(ctx)),
      export_rows: action(moves.exportTenantRows, (ctx) => moving.exportRows(ctx)),
      export_content: action(moves.exportTenantContent, (ctx) => moving.exportContent(ctx)),
      import: action(moves.importTenant, (ctx) => moving.importTenant(ctx)),
      import_rows: action(moves.importTenantRows, (ctx) => moving.importRows(ctx)),
      import_content: action(moves.importTenantContent, (ctx) => moving.importContent(ctx)),

      /** Creates a tenant from secrets that the caller keeps, for the first start. */
      found: internal<Founding>(async (ctx) => toState(await tenants.found(ctx, ctx.params))),

      get_many: idempotent<{ tenant_ids: string[] }>(async ({ params }) => {
        const projection = { slug: 1, name: 1, status: 1, token_version: 1, requests_per_minute: 1 };
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
      observeUsage(this, tenants);
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

const MOST_SHOWN = 10;
const SHOWN_MS = 60_000;

/** The tenants that use most, by slug: ten for each kind, so that the number of labels is bounded. */
function observeUsage(service: Service, tenants: Tenants): void {
  let read: ReturnType<Tenants["usageOf"]> | undefined;
  const usage = () => {
    if (!read) {
      read = tenants.usageOf(2);
      const forget = () => {
        read = undefined;
      };
      read.catch(forget);
      setTimeout(forget, SHOWN_MS).unref();
    }
    return read;
  };
  for (const kind of contract.USAGE_SORTS)
    observeSharedGauge(
      service,
      `top_tenants_${kind}`,
      async () => {
        const used = (await usage()).filter((each) => each[kind] > 0).sort((a, b) => b[kind] - a[kind]);
        return Object.fromEntries(used.slice(0, MOST_SHOWN).map((each) => [each.slug, each[kind]]));
      },
      "top_tenants",
    );
}

/** Aggregated: the number of labels per tenant would be unbounded. */
function observeStorage(service: Service, usage: StorageUsage): void {
  observeSharedGauge(service, "storage_bytes", async () => ({
    tenants: (await usage.totals()).used_bytes,
  }));
  observeSharedGauge(service, "tenants_over_quota", async () => ({
    storage: (await usage.totals()).full,
  }));
}

function toState({ _id: id, slug, name, status, ...rest }: TenantDoc): TenantState {
  const { token_version = 0, requests_per_minute = null } = rest;
  return { id, slug, name, status, token_version, requests_per_minute };
}

const orNull = (limit: number) => limit || null;

/** Returns the installation's settings for a caller, and those of its tenant; disabled ones are null. */
function limitsOf(config: Config, { limits }: Caller, usage: Usage) {
  return {
    storage: toStorage(usage),
    requests_per_minute: {
      caller: orNull(config.RATE_LIMIT_PER_MINUTE),
      ...(limits?.key && { key: limits.key }),
      tenant: orNull(limits?.tenant ?? config.TENANT_RATE_LIMIT_PER_MINUTE),
      webhooks: orNull(config.WEBHOOKS_PER_MINUTE),
    },
    emails_per_hour: config.OUTBOUND_EMAIL ? config.OUTBOUND_EMAILS_PER_HOUR : null,
    extensions: RUNNING.map(({ name }) => name),
    largest_bytes: {
      event: config.EVENT_MAX_BYTES,
      document: config.DOCUMENT_MAX_BYTES,
      output: orNull(config.OUTPUT_BODY_MAX),
    },
    largest_text: MAX_CHARACTERS,
    delivery: {
      visibility_timeout_seconds: config.VISIBILITY_TIMEOUT_SECONDS,
      retry_budget: config.RETRY_BUDGET,
      retry_delays_seconds: [...config.RETRY_DELAYS_SECONDS],
    },
    kept_days: {
      events: Math.max(config.EVENT_RETENTION_DAYS, config.DEDUPE_DAYS),
      event_ids: config.DEDUPE_DAYS,
      acknowledged_deliveries: config.ACKNOWLEDGED_RETENTION_DAYS,
      forgotten_memories: config.MEMORY_REVERSIBILITY_DAYS,
      audit: config.AUDIT_DAYS,
    },
  };
}

/** Limit of recorded changes: a routing table that is further behind is loaded again. */
const MAX_RECORDED = 200;

/** The routing versions of tenants, and what their latest changes concern. */
class RoutingVersions {
  readonly #tenants: TenantCollection<TenantDoc>;
  readonly #alone: boolean;
  readonly #versions = new Map<string, number>();

  /** @param alone whether no other node can raise them: every batch of events reads one */
  constructor(tenants: TenantCollection<TenantDoc>, alone: boolean) {
    this.#tenants = tenants;
    this.#alone = alone;
  }

  async read(tenant_id: string): Promise<number> {
    const known = this.#versions.get(tenant_id);
    if (known !== undefined) return known;
    const options = { projection: { routing_version: 1 } };
    return this.#keep(tenant_id, await this.#tenants.findOne(tenant_id, { _id: tenant_id }, options));
  }

  /** Returns the current state, with the changes since an earlier one. */
  async since(tenant_id: string, known: number): Promise<RoutingState> {
    const projection = { routing_version: 1, routing_changes: 1 };
    const doc = await this.#tenants.findOne(tenant_id, { _id: tenant_id }, { projection });
    const version = doc?.routing_version ?? 0;
    const recorded = (doc?.routing_changes ?? []) as RoutingSubject[];
    const behind = version - known;
    return { version, changes: behind <= recorded.length ? recorded.slice(recorded.length - behind) : null };
  }

  /** Returns the new version. Call after a change of routing is written and before it is answered. */
  async raise(tenant_id: string, subject: RoutingSubject): Promise<number> {
    const $push = { routing_changes: { $each: [subject], $slice: -MAX_RECORDED } };
    const change = { $inc: { routing_version: 1 }, $push };
    const doc = await this.#tenants.update(tenant_id, { _id: tenant_id }, change);
    // An answer without a new version would leave every routing table outdated.
    if (!doc) throw notFound("tenant", tenant_id);
    return this.#keep(tenant_id, doc);
  }

  #keep(tenant_id: string, doc: Pick<TenantDoc, "routing_version"> | null): number {
    const version = doc?.routing_version ?? 0;
    if (!this.#alone || !doc) return version;
    // A read that began before the version was raised must not lower it.
    const kept = Math.max(version, this.#versions.get(tenant_id) ?? 0);
    this.#versions.set(tenant_id, kept);
    return kept;
  }
}
