import { isUtf8 } from "node:buffer";
import type { ActionSchema } from "moleculer";
import { type DeliveryHeaders, isSigned } from "../../connectors/webhook-signature.ts";
import type { Call } from "../../lib/caller.ts";
import { Fault } from "../../lib/faults.ts";
import { parseJsonText } from "../../lib/json.ts";
import { newSigningSecret, secretsAt } from "../../mixins/signing-secrets.ts";
import { metrics } from "../../observability/metrics.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { BatchAnswer } from "../events/publish-answers.ts";
import { action, type Runtime } from "../runtime.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import * as contract from "./ingest.contract.ts";
import type { Mapped } from "./mapping.ts";
import { digestOf, idOfBody } from "./webhooks.body-id.ts";
import { WebhookLimits } from "./webhooks.limits.ts";
import type { WebhookDoc } from "./webhooks.model.ts";
import { idOfSender, mappingOf, webhookPath } from "./webhooks.rows.ts";

/** As many as a tenant may register: what an unsigned request can make the service try. */
export const MOST_WEBHOOKS = 50;

/** Whose webhooks there are none of: an unknown slug costs the same look-ups as a known one. */
const NOBODY = "tn_";

interface Delivery {
  tenant_slug: string;
  source?: string;
  /** The body in base64. */
  raw: string;
  headers: DeliveryHeaders;
}

/** A delivery whose signature holds. */
interface Signed {
  tenant: TenantState;
  webhook: WebhookDoc;
  body: Buffer;
  headers: DeliveryHeaders;
}

/** The part of the ingest service that senders talk to. */
export function receiveActions(
  { store, secrets, config, windows }: Runtime,
  webhooks: TenantCollection<WebhookDoc>,
): Record<string, ActionSchema> {
  const limits = new WebhookLimits(config, windows);
  const decoy = newSigningSecret(secrets);

  async function receive(ctx: Call, delivery: Delivery) {
    const { tenant_slug, source = "", headers } = delivery;
    const address = ctx.meta.ip ?? "";
    const target = `${tenant_slug}/${source}`;
    limits.check(address, target, Date.now());
    const body = Buffer.from(delivery.raw, "base64");
    const { tenant, candidates } = await candidatesOf(ctx, delivery);
    const { webhook, hashedBytes } = signerOf(candidates, body, headers);
    if (!tenant || !webhook) {
      limits.refused(address, target, Date.now(), hashedBytes);
      metrics.webhooks.inc({ outcome: "refused" });
      throw new Fault("authentication_failed", "No webhook here is signed like this.");
    }
    await limits.accept(tenant.id, Date.now());
    const answer = await enter(ctx, { tenant, webhook, body, headers });
    metrics.webhooks.inc({ outcome: answer.status });
    return answer;
  }

  /** The registrations that a delivery may be signed for. */
  async function candidatesOf(ctx: Call, { tenant_slug, source }: Delivery) {
    const found = await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug: tenant_slug });
    const tenant = found?.status === "active" ? found : null;
    const filter = source === undefined ? {} : { source };
    const candidates = await webhooks.find(tenant?.id ?? NOBODY, filter, { limit: MOST_WEBHOOKS });
    return { tenant, candidates };
  }

  /** The one whose secret signed; and how much was hashed to find out. */
  function signerOf(candidates: WebhookDoc[], body: Buffer, headers: DeliveryHeaders) {
    const now = store.now();
    let hashedBytes = 0;
    const webhook = candidates.find(({ _id, signing_secrets }) => {
      const plain = secretsAt(secrets, `webhooks/${_id}`, signing_secrets, now);
      hashedBytes += plain.length * body.length;
      return isSigned(body, headers, plain, now);
    });
    // Where there is nobody to compare with, comparing takes its time all the same.
    if (candidates.length === 0) isSigned(body, headers, [decoy], now);
    return { webhook, hashedBytes };
  }

  /** Maps and publishes; gives what the sender is told, once it is durable. */
  async function enter(ctx: Call, signed: Signed) {
    const read = readPayload(signed.body);
    const mapped = "error" in read ? read : await map(ctx, signed, read.payload);
    if ("error" in mapped) return deadLetter(ctx, signed, read, mapped.error);
    const [answer] = await ctx.call<[BatchAnswer], unknown>("events.ingest", {
      tenant_id: signed.tenant.id,
      publisher_id: null,
      events: [mapped.event],
    });
    if (answer.status !== "rejected") return answer;
    if (answer.error.code === "internal_error") {
      throw new Fault("service_unavailable", answer.error.message, { retry_after_seconds: 1 });
    }
    return deadLetter(ctx, signed, read, `mapping error: ${answer.error.message}`);
  }

  async function map(
    ctx: Call,
    { tenant, webhook, body, headers }: Signed,
    payload: unknown,
  ): Promise<Mapped> {
    const now = store.now();
    const acceptedAt = (id: string) => {
      const ce_id = `${webhook._id}:${id}`;
      return ctx.call<number | null, unknown>("events.accepted_at", { tenant_id: tenant.id, ce_id });
    };
    return mappingOf(webhook)(payload, {
      registration_id: webhook._id,
      default_id: idOfSender(headers) ?? (await idOfBody(body, now, acceptedAt)),
      ce_source: webhookPath(tenant.slug, webhook.source),
      headers,
      now,
    });
  }

  async function deadLetter(
    ctx: Call,
    { tenant, webhook, body, headers }: Signed,
    read: Read,
    reason: string,
  ) {
    await ctx.call("deliveries.dead_letter", {
      tenant_id: tenant.id,
      source: webhookPath(tenant.slug, webhook.source),
      payload: "error" in read ? read.text : read.payload,
      reason,
      dedupe: `${webhook._id} ${idOfSender(headers) ?? digestOf(body)}`,
    });
    return { event_id: null, status: "dead_lettered" as const };
  }

  return {
    receive: action(contract.receiveWebhook, (ctx) => receive(ctx, ctx.params)),
    receive_from: action(contract.receiveWebhookOf, (ctx) => receive(ctx, ctx.params)),
  };
}

/** The JSON of a body, or why it is none and what it is in place of that. */
type Read = { payload: unknown } | { error: string; text: string };

function readPayload(body: Buffer): Read {
  if (!isUtf8(body)) return { error: "mapping error: the body is not UTF-8", text: body.toString("base64") };
  const text = body.toString("utf8");
  try {
    return { payload: parseJsonText(text) };
  } catch (err) {
    return { error: `mapping error: the body is not read as JSON: ${(err as Error).message}`, text };
  }
}
