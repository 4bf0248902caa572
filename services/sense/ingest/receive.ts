import type { ActionSchema } from "moleculer";
import { type DeliveryHeaders, type Signature, signatureOf } from "../../../connectors/webhook-signature.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { newSigningSecret, secretsAt } from "../../../mixins/signing-secrets.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import { action, idempotent, type Runtime } from "../../runtime.ts";
import type { BatchAnswer } from "../events/publish-answers.ts";
import { digestOf } from "./body-id.ts";
import { readCloudEvents } from "./cloudevents.ts";
import { defaultIdOf, type Signed, withFirstId } from "./delivery-id.ts";
import type { FirstIds } from "./first-ids.ts";
import { headersOf, permissionFor } from "./handshake.ts";
import * as contract from "./ingest.contract.ts";
import { WebhookLimits } from "./limits.ts";
import type { Mapped, Receipt } from "./mapping.ts";
import { type Read, readPayload } from "./payload.ts";
import { keptHeaders, mappingOf, webhookPath } from "./rows.ts";
import type { WebhookDoc } from "./webhooks.model.ts";

/** Limit of webhooks per tenant, which bounds the secrets tried for an unsigned request. */
export const MOST_WEBHOOKS = 50;

/** A tenant without webhooks: an unknown slug costs the same look-ups as a known one. */
const NOBODY = "tn_";

interface Delivery {
  tenant_slug: string;
  source?: string;
  /** The body in base64. */
  raw: string;
  headers: DeliveryHeaders;
}

/** An unmapped payload as its dead letter stores it. */
interface Again {
  tenant_id: string;
  registration_id: string;
  default_id: string;
  headers: DeliveryHeaders;
  payload: unknown;
  /** When it was received, in ms. */
  received_at: number;
}

/** The answer to the sender for one event. */
type Taken =
  | { event_id: string; status: "accepted" | "duplicate" }
  | { event_id: null; status: "dead_lettered" };

/** A payload that is no event. */
interface Refused {
  error: string;
  /** As its dead letter stores it. */
  kept: unknown;
  /** Absent if no other mapping could read it either. */
  default_id?: string;
}

/** A payload: an event to publish, or not. */
type Entering = ({ event: unknown } & Omit<Refused, "error">) | Refused;

/** The ingest service's actions for senders. */
export function receiveActions(
  { store, secrets, config, windows, usage }: Runtime,
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
    await usage.require(tenant.id, body.length);
    const answer = await enter(ctx, { tenant, webhook, signature, body, headers });
    for (const { status } of [answer].flat()) metrics.webhooks.inc({ outcome: status });
    return answer;
  }

  /** Returns the registrations whose secrets may have signed a delivery. */
  async function candidatesOf(ctx: Call, { tenant_slug, source }: Delivery) {
    const found = await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug: tenant_slug });
    const tenant = found?.status === "active" ? found : null;
    const filter = source === undefined ? {} : { source };
    const candidates = await webhooks.find(tenant?.id ?? NOBODY, filter, { limit: MOST_WEBHOOKS });
    return { tenant, candidates };
  }

  /** Finds the registration whose secret signed, and returns how much was hashed for it. */
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
    // Without candidates, spend the time of a comparison all the same.
    if (candidates.length === 0) signatureOf(body, headers, [decoy], now);
    return { webhook, signature: signature as Signature | null, hashedBytes };
  }

  /** Maps and publishes; returns the answer to the sender once it is durable. */
  async function enter(ctx: Call, given: Signed): Promise<Taken | Taken[]> {
    const signed = await withFirstId(firstIds, given);
    const { webhook, body, headers } = signed;
    const takesEvents = webhook.mapping === contract.AS_CLOUDEVENTS;
    const read = takesEvents ? readCloudEvents(body, headers) : readPayload(body, headers["content-type"]);
    if (Array.isArray(read)) return enterAll(ctx, signed, read);
    const [taken] = await enterAll(ctx, signed, [read]);
    return taken as Taken;
  }

  async function enterAll(ctx: Call, signed: Signed, reads: Read[]): Promise<Taken[]> {
    const mapped: Entering[] = [];
    for (const read of reads) mapped.push(await mapOne(ctx, signed, read));
    const events = mapped.flatMap((each) => ("event" in each ? [each.event] : []));
    const { id: tenant_id } = signed.tenant;
    const answers = events.length
      ? await ctx.call<BatchAnswer[], unknown>("events.ingest", { tenant_id, publisher_id: null, events })
      : [];
    let at = 0;
    const entered = mapped.map((each) =>
      "event" in each ? refusalOf(each, answers[at++] as BatchAnswer) : each,
    );
    return Promise.all(entered.map((each, i) => ("error" in each ? deadLetter(ctx, signed, each, i) : each)));
  }

  async function mapOne(ctx: Call, signed: Signed, read: Read): Promise<Entering> {
    if ("error" in read) return { error: read.error, kept: read.text };
    const { mapping } = signed.webhook;
    const takesEvents = mapping === contract.AS_CLOUDEVENTS;
    const default_id = takesEvents ? "" : await defaultIdOf(ctx, firstIds, signed, store.now());
    const mapped = mappingOf(signed.webhook)(read.payload, receiptOf(signed, default_id));
    return { ...mapped, kept: read.payload, default_id };
  }

  function receiptOf(
    { tenant, webhook, headers }: Pick<Signed, "tenant" | "webhook" | "headers">,
    default_id: string,
  ): Receipt {
    const ce_source = webhookPath(tenant.slug, webhook.source);
    return { registration_id: webhook._id, default_id, ce_source, headers, now: store.now() };
  }

  /** Maps a dead letter's payload by the current mapping. */
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

  /** @param at its position in a batch */
  async function deadLetter(
    ctx: Call,
    { tenant, webhook, signature, body, headers }: Signed,
    { error, kept, default_id }: Refused,
    at: number,
  ): Promise<Taken> {
    const delivered = signature.id ?? digestOf(body);
    await ctx.call("deliveries.dead_letter", {
      tenant_id: tenant.id,
      source: webhookPath(tenant.slug, webhook.source),
      payload: kept,
      reason: error,
      dedupe: `${webhook._id} ${delivered}${at ? ` ${at}` : ""}`,
      ...(default_id !== undefined && {
        origin: { inlet: "ingest", registration_id: webhook._id, default_id, headers: keptHeaders(headers) },
      }),
    });
    return { event_id: null, status: "dead_lettered" };
  }

  function validate({ params, meta }: Call<Delivery>) {
    const permission = permissionFor(params.headers, config);
    meta.$responseHeaders = headersOf(permission);
    return permission;
  }

  return {
    receive: action(contract.receiveWebhook, (ctx) => receive(ctx, ctx.params)),
    receive_from: action(contract.receiveWebhookOf, (ctx) => receive(ctx, ctx.params)),
    validate: action(contract.validateWebhook, validate),
    validate_for: action(contract.validateWebhookOf, validate),
    map_again: idempotent<Again>((ctx) => mapAgain(ctx, ctx.params)),
  };
}

/**
 * Returns the answer for an event; for a rejected one, the content of its dead letter. @throws Fault
 * service_unavailable
 */
function refusalOf(entering: Omit<Refused, "error">, answer: BatchAnswer): Taken | Refused {
  if (answer.status !== "rejected") return answer;
  const { code, message } = answer.error;
  // The sender repeats the whole batch then; accepted events of it are duplicates.
  if (code === "internal_error") throw new Fault("service_unavailable", message, { retry_after_seconds: 1 });
  return { ...entering, error: `mapping error: ${message}` };
}
