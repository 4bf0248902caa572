import { type DeliveryHeaders, type Signature, signatureOf } from "../../../connectors/webhook-signature.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { newSigningSecret, secretsAt } from "../../../mixins/signing-secrets.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { Runtime } from "../../runtime.ts";
import type { BatchAnswer } from "../events/publish-answers.ts";
import { readCloudEvents } from "./cloudevents.ts";
import { defaultIdOf, type Signed, withFirstId } from "./delivery-id.ts";
import { digestOf, FirstIds } from "./first-ids.ts";
import { headersOf, permissionFor } from "./handshake.ts";
import { AS_CLOUDEVENTS } from "./ingest.contract.ts";
import { WebhookBodyModel, type WebhookDoc } from "./ingest.model.ts";
import { WebhookLimits } from "./limits.ts";
import type { Mapped, Receipt } from "./mapping.ts";
import { mappingError } from "./mapping-error.ts";
import { type Read, readPayload } from "./payload.ts";
import { MOST_WEBHOOKS, mappingOf, webhookPath } from "./webhooks.ts";

/** A tenant without webhooks: an unknown slug costs the same look-ups as a known one. */
const NOBODY = "tn_";

export interface Delivery {
  tenant_slug: string;
  source?: string;
  /** The body in base64. */
  raw: string;
  headers: DeliveryHeaders;
}

/** An unmapped payload as its dead letter stores it. */
export interface Again {
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

/** Receives senders' deliveries: checks the signature, maps, publishes. */
export class Receiver {
  readonly firstIds: FirstIds;
  readonly #runtime: Runtime;
  readonly #webhooks: TenantCollection<WebhookDoc>;
  readonly #limits: WebhookLimits;
  readonly #decoy: string;

  constructor(runtime: Runtime, webhooks: TenantCollection<WebhookDoc>) {
    const { store, config, windows, secrets } = runtime;
    this.firstIds = new FirstIds(store.collection(WebhookBodyModel), () => store.now());
    this.#runtime = runtime;
    this.#webhooks = webhooks;
    this.#limits = new WebhookLimits(config, windows);
    this.#decoy = newSigningSecret(secrets);
  }

  async receive(ctx: Call<Delivery>): Promise<Taken | Taken[]> {
    const { tenant_slug, source = "", headers, raw } = ctx.params;
    const address = networkOf(ctx.meta.ip ?? "");
    const target = `${tenant_slug}/${source}`;
    this.#limits.check(address, target, Date.now());
    const body = Buffer.from(raw, "base64");
    const { tenant, candidates } = await this.#candidatesOf(ctx);
    const { webhook, signature, hashedBytes } = this.#signerOf(candidates, body, headers);
    if (!tenant || !webhook || !signature) {
      this.#limits.refused(address, target, Date.now(), hashedBytes);
      metrics.webhooks.inc({ outcome: "refused" });
      throw new Fault(
        "authentication_failed",
        "The signature does not match any webhook at this address. Check the signing secret and the headers of the signature.",
      );
    }
    await this.#limits.accept(tenant.id, Date.now());
    await this.#runtime.usage.require(tenant.id, body.length);
    const answer = await this.#enter(ctx, { tenant, webhook, signature, body, headers });
    for (const { status } of [answer].flat()) metrics.webhooks.inc({ outcome: status });
    return answer;
  }

  /** Permits a sender to deliver. */
  permit({ params, meta }: Call<{ headers: DeliveryHeaders }>) {
    const permission = permissionFor(params.headers, this.#runtime.config);
    meta.$responseHeaders = headersOf(permission);
    return permission;
  }

  /** Maps a dead letter's payload by the current mapping. */
  async mapAgain(ctx: Call<Again>): Promise<Mapped> {
    const { tenant_id, registration_id, received_at, payload, default_id, headers } = ctx.params;
    const [webhook, tenant] = await Promise.all([
      this.#webhooks.findOne(tenant_id, { _id: registration_id }),
      findTenant(ctx, tenant_id),
    ]);
    if (!webhook || !tenant) return { error: "mapping error: the webhook was deleted" };
    return mappingOf(webhook)(payload, receiptOf({ tenant, webhook, headers }, default_id, received_at));
  }

  /** Returns the registrations whose secrets may have signed a delivery. */
  async #candidatesOf(ctx: Call<Delivery>) {
    const { tenant_slug: slug, source } = ctx.params;
    const found = await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug });
    const tenant = found?.status === "active" ? found : null;
    const filter = source === undefined ? {} : { source };
    const candidates = await this.#webhooks.find(tenant?.id ?? NOBODY, filter, { limit: MOST_WEBHOOKS });
    return { tenant, candidates };
  }

  /** Finds the registration whose secret signed, and returns how much was hashed for it. */
  #signerOf(candidates: WebhookDoc[], body: Buffer, headers: DeliveryHeaders) {
    const { store, secrets } = this.#runtime;
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
    if (candidates.length === 0) signatureOf(body, headers, [this.#decoy], now);
    return { webhook, signature: signature as Signature | null, hashedBytes };
  }

  /** Maps and publishes; returns the answer to the sender once it is durable. */
  async #enter(ctx: Call, given: Signed): Promise<Taken | Taken[]> {
    const signed = await withFirstId(this.firstIds, given);
    const { webhook, body, headers } = signed;
    const takesEvents = webhook.mapping === AS_CLOUDEVENTS;
    const read = takesEvents ? readCloudEvents(body, headers) : readPayload(body, headers["content-type"]);
    if (Array.isArray(read)) return this.#enterAll(ctx, signed, read);
    const [taken] = await this.#enterAll(ctx, signed, [read]);
    return taken as Taken;
  }

  async #enterAll(ctx: Call, signed: Signed, reads: Read[]): Promise<Taken[]> {
    const mapped: Entering[] = [];
    for (const read of reads) mapped.push(await this.#map(ctx, signed, read));
    const events = mapped.flatMap((each) => ("event" in each ? [each.event] : []));
    const publish = { tenant_id: signed.tenant.id, publisher_id: null, events };
    const answers = events.length ? await ctx.call<BatchAnswer[], unknown>("events.ingest", publish) : [];
    let at = 0;
    const entered = mapped.map((each) =>
      "event" in each ? refusalOf(each, answers[at++] as BatchAnswer) : each,
    );
    return Promise.all(entered.map((each, i) => ("error" in each ? deadLetter(ctx, signed, each, i) : each)));
  }

  async #map(ctx: Call, signed: Signed, read: Read): Promise<Entering> {
    if ("error" in read) return { error: read.error, kept: read.text };
    const now = this.#runtime.store.now();
    const takesEvents = signed.webhook.mapping === AS_CLOUDEVENTS;
    const default_id = takesEvents ? "" : await defaultIdOf(ctx, this.firstIds, signed, now);
    const mapped = mappingOf(signed.webhook)(read.payload, receiptOf(signed, default_id, now));
    return { ...mapped, kept: read.payload, default_id };
  }
}

function receiptOf(
  { tenant, webhook, headers }: Pick<Signed, "tenant" | "webhook" | "headers">,
  default_id: string,
  now: number,
): Receipt {
  const ce_source = webhookPath(tenant.slug, webhook.source);
  return { registration_id: webhook._id, default_id, ce_source, headers, now };
}

/** @param at its position in a batch */
async function deadLetter(
  ctx: Call,
  { tenant, webhook, signature, body, headers }: Signed,
  { error, kept, default_id }: Refused,
  at: number,
): Promise<Taken> {
  const { _id: registration_id } = webhook;
  const delivered = signature.id ?? digestOf(body);
  await ctx.call("deliveries.dead_letter", {
    tenant_id: tenant.id,
    source: webhookPath(tenant.slug, webhook.source),
    payload: kept,
    reason: error,
    dedupe: `${registration_id} ${delivered}${at ? ` ${at}` : ""}`,
    ...(default_id !== undefined && {
      origin: { inlet: "ingest", registration_id, default_id, headers: withoutSecrets(headers) },
    }),
  });
  return { event_id: null, status: "dead_lettered" };
}

const SECRET = /^(?:proxy-)?authorization$|^cookie$|signature|token|secret|key/;

/** Returns the headers of an unmapped delivery that another mapping may use: no credentials. */
function withoutSecrets(headers: DeliveryHeaders): DeliveryHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET.test(name)));
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
  return { ...entering, error: mappingError(answer.error) };
}
