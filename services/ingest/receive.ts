import { isUtf8 } from "node:buffer";
import type { ActionSchema } from "moleculer";
import { type DeliveryHeaders, type Signature, signatureOf } from "../../connectors/webhook-signature.ts";
import type { Call } from "../../lib/caller.ts";
import { Fault } from "../../lib/faults.ts";
import { parseJsonBytes } from "../../lib/json.ts";
import { networkOf } from "../../lib/network-address.ts";
import { newSigningSecret, secretsAt } from "../../mixins/signing-secrets.ts";
import { metrics } from "../../observability/metrics.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { BatchAnswer } from "../events/publish-answers.ts";
import { action, idempotent, type Runtime } from "../runtime.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import { digestOf } from "./body-id.ts";
import { defaultIdOf, type Signed, withFirstId } from "./delivery-id.ts";
import type { FirstIds } from "./first-ids.ts";
import { FORM, formPayload } from "./form.ts";
import * as contract from "./ingest.contract.ts";
import { WebhookLimits } from "./limits.ts";
import type { Mapped, Receipt } from "./mapping.ts";
import { keptHeaders, mappingOf, webhookPath } from "./rows.ts";
import type { WebhookDoc } from "./webhooks.model.ts";

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

/** What could not be mapped, as its dead letter keeps it. */
interface Again {
  tenant_id: string;
  registration_id: string;
  default_id: string;
  headers: DeliveryHeaders;
  payload: unknown;
  /** When it came, in ms. */
  received_at: number;
}

/** The part of the ingest service that senders talk to. */
export function receiveActions(
  { store, secrets, config, windows }: Runtime,
  webhooks: TenantCollection<WebhookDoc>,
  firstIds: FirstIds,
): Record<string, ActionSchema> {
  const limits = new WebhookLimits(config, windows);
  const decoy = newSigningSecret(secrets);

  async function receive(ctx: Call, delivery: Delivery) {
    const { tenant_slug, source = "", headers } = delivery;
    const address = networkOf(ctx.meta.ip ?? "");
    const target = `${tenant_slug}/${source}`;
    limits.check(address, target, Date.now());
    const body = Buffer.from(delivery.raw, "base64");
    const { tenant, candidates } = await candidatesOf(ctx, delivery);
    const { webhook, signature, hashedBytes } = signerOf(candidates, body, headers);
    if (!tenant || !webhook || !signature) {
      limits.refused(address, target, Date.now(), hashedBytes);
      metrics.webhooks.inc({ outcome: "refused" });
      throw new Fault("authentication_failed", "No webhook here is signed like this.");
    }
    await limits.accept(tenant.id, Date.now());
    const answer = await enter(ctx, { tenant, webhook, signature, body, headers });
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
    let signature: Signature | null = null;
    const webhook = candidates.find(({ _id, signing_secrets }) => {
      const plain = secretsAt(secrets, `webhooks/${_id}`, signing_secrets, now);
      hashedBytes += plain.length * body.length;
      signature = signatureOf(body, headers, plain, now);
      return signature !== null;
    });
    // Where there is nobody to compare with, comparing takes its time all the same.
    if (candidates.length === 0) signatureOf(body, headers, [decoy], now);
    return { webhook, signature: signature as Signature | null, hashedBytes };
  }

  /** Maps and publishes; gives what the sender is told, once it is durable. */
  async function enter(ctx: Call, given: Signed) {
    const read = readPayload(given.body, given.headers["content-type"]);
    if ("error" in read) return deadLetter(ctx, given, read, read.error);
    const signed = await withFirstId(firstIds, given);
    const default_id = await defaultIdOf(ctx, firstIds, signed, store.now());
    const mapped = mappingOf(signed.webhook)(read.payload, receiptOf(signed, default_id));
    if ("error" in mapped) return deadLetter(ctx, signed, { ...read, default_id }, mapped.error);
    const [answer] = await ctx.call<[BatchAnswer], unknown>("events.ingest", {
      tenant_id: signed.tenant.id,
      publisher_id: null,
      events: [mapped.event],
    });
    if (answer.status !== "rejected") return answer;
    if (answer.error.code === "internal_error") {
      throw new Fault("service_unavailable", answer.error.message, { retry_after_seconds: 1 });
    }
    return deadLetter(ctx, signed, { ...read, default_id }, `mapping error: ${answer.error.message}`);
  }

  function receiptOf(
    { tenant, webhook, headers }: Pick<Signed, "tenant" | "webhook" | "headers">,
    default_id: string,
  ): Receipt {
    const ce_source = webhookPath(tenant.slug, webhook.source);
    return { registration_id: webhook._id, default_id, ce_source, headers, now: store.now() };
  }

  /** A dead letter's payload by the mapping as it is now. */
  async function mapAgain(ctx: Call, { tenant_id, received_at, payload, ...again }: Again): Promise<Mapped> {
    const [webhook, [tenant]] = await Promise.all([
      webhooks.findOne(tenant_id, { _id: again.registration_id }),
      ctx.call<TenantState[], unknown>("tenants.get_many", { tenant_ids: [tenant_id] }),
    ]);
    if (!webhook || !tenant) return { error: "mapping error: the webhook was deleted" };
    const { headers, default_id } = again;
    const receipt = receiptOf({ tenant, webhook, headers }, default_id);
    return mappingOf(webhook)(payload, { ...receipt, now: received_at });
  }

  async function deadLetter(
    ctx: Call,
    { tenant, webhook, signature, body, headers }: Signed,
    read: Read & { default_id?: string },
    reason: string,
  ) {
    const { default_id } = read;
    await ctx.call("deliveries.dead_letter", {
      tenant_id: tenant.id,
      source: webhookPath(tenant.slug, webhook.source),
      payload: "error" in read ? read.text : read.payload,
      reason,
      dedupe: `${webhook._id} ${signature.id ?? digestOf(body)}`,
      ...(default_id !== undefined && {
        origin: { inlet: "ingest", registration_id: webhook._id, default_id, headers: keptHeaders(headers) },
      }),
    });
    return { event_id: null, status: "dead_lettered" as const };
  }

  return {
    receive: action(contract.receiveWebhook, (ctx) => receive(ctx, ctx.params)),
    receive_from: action(contract.receiveWebhookOf, (ctx) => receive(ctx, ctx.params)),
    map_again: idempotent<Again>((ctx) => mapAgain(ctx, ctx.params)),
  };
}

/** What a body says, or why that cannot be read and what it is in place of that. */
type Read = { payload: unknown } | { error: string; text: string };

function readPayload(body: Buffer, type = ""): Read {
  if (!isUtf8(body)) return { error: "mapping error: the body is not UTF-8", text: body.toString("base64") };
  const text = body.toString("utf8");
  if (FORM.test(type)) return { payload: formPayload(text) };
  try {
    return { payload: parseJsonBytes(body) };
  } catch (err) {
    return { error: `mapping error: the body is not read as JSON: ${(err as Error).message}`, text };
  }
}
