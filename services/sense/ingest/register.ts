import type { ActionSchema } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { type Room, requireRoom } from "../../../mixins/room.ts";
import { newSigningSecret, rotate, sealSigningSecret } from "../../../mixins/signing-secrets.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import { action, type Runtime } from "../../runtime.ts";
import * as contract from "./ingest.contract.ts";
import { MOST_WEBHOOKS } from "./receive.ts";
import { idOfSender, mappingOf, present, webhookPath } from "./rows.ts";
import type { WebhookDoc } from "./webhooks.model.ts";

/** The ingest service's actions for a tenant's admins. */
export function registerActions(
  { store, secrets, config }: Runtime,
  webhooks: TenantCollection<WebhookDoc>,
): Record<string, ActionSchema> {
  async function find(tenant_id: string, webhook_id: string): Promise<WebhookDoc> {
    const webhook = await webhooks.findOne(tenant_id, { _id: webhook_id });
    if (!webhook) throw notFound("webhook", webhook_id);
    return webhook;
  }

  async function slugOf(ctx: Call): Promise<string> {
    const tenant_ids = [ctx.meta.caller.tenant_id];
    const [tenant] = await ctx.call<TenantState[], unknown>("tenants.get_many", { tenant_ids });
    return (tenant as TenantState).slug;
  }

  async function addressOf(ctx: Call) {
    const [tenant_slug, origin] = await Promise.all([slugOf(ctx), originOf(ctx.broker, config)]);
    return { tenant_slug, origin };
  }

  const room: Room<WebhookDoc> = {
    of: webhooks,
    most: MOST_WEBHOOKS,
    called: "webhooks",
    rule: "webhook_limit",
    instead: "delete one first",
  };

  return {
    create_webhook: action(contract.createWebhook, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { name, source, mapping } = ctx.params;
      mappingOf({ source, mapping });
      const seed = ctx.meta.idempotency_seed;
      const _id = newId("whk", seed);
      await requireRoom(room, tenant_id, _id);
      const { signing_secret = newSigningSecret(secrets, seed) } = ctx.params;
      const at = new Date(store.now());
      const row = await webhooks.insertOnce({
        _id,
        tenant_id,
        name,
        source,
        mapping,
        signing_secrets: [sealSigningSecret(secrets, `webhooks/${_id}`, signing_secret)],
        signing_version: 1,
        created_at: at,
        updated_at: at,
      });
      return { ...present(row, await addressOf(ctx)), signing_secret };
    }),

    list_webhooks: action(contract.listWebhooks, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { offset: skip = 0, limit = 50 } = ctx.params;
      const [rows, total, address] = await Promise.all([
        webhooks.find(tenant_id, {}, { sort: { created_at: 1, _id: 1 }, skip, limit }),
        webhooks.count(tenant_id, {}),
        addressOf(ctx),
      ]);
      return { webhooks: rows.map((row) => present(row, address)), total };
    }),

    update_webhook: action(contract.updateWebhook, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { webhook_id, name, mapping } = ctx.params;
      const { source } = await find(tenant_id, webhook_id);
      if (mapping) mappingOf({ source, mapping });
      const row = await webhooks.update(
        tenant_id,
        { _id: webhook_id },
        { $set: { ...(name && { name }), ...(mapping && { mapping }), updated_at: new Date(store.now()) } },
      );
      if (!row) throw notFound("webhook", webhook_id);
      return present(row, await addressOf(ctx));
    }),

    delete_webhook: action(contract.deleteWebhook, async ({ params: { webhook_id }, meta }) => {
      const deleted = await webhooks.delete(meta.caller.tenant_id, { _id: webhook_id });
      if (!deleted) throw notFound("webhook", webhook_id);
    }),

    rotate_webhook: action(contract.rotateWebhook, async ({ params, meta }) => {
      const signed = { rows: webhooks, secrets, owners: "webhooks", resource_type: "webhook" };
      const { secret, previous_ends_at } = await rotate(signed, store.now(), {
        tenant_id: meta.caller.tenant_id,
        id: params.webhook_id,
        seed: meta.idempotency_seed,
        secret: params.signing_secret,
      });
      return { signing_secret: secret, previous_ends_at: previous_ends_at.toISOString() };
    }),

    test_webhook: action(contract.testWebhook, async (ctx) => {
      const { webhook_id, payload, headers: given = {} } = ctx.params;
      const webhook = await find(ctx.meta.caller.tenant_id, webhook_id);
      const named = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]);
      const headers: Record<string, string> = Object.fromEntries(named);
      const mapped = mappingOf(webhook)(payload, {
        registration_id: webhook_id,
        default_id: idOfSender(headers) ?? "sha256:of-the-body",
        ce_source: webhookPath(await slugOf(ctx), webhook.source),
        headers,
        now: store.now(),
      });
      return { event: null, error: null, ...mapped };
    }),
  };
}
