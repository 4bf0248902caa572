import { setImmediate as nextTick } from "node:timers/promises";
import type { DeliveryHeaders, SignedRequest } from "../../../connectors/webhook-schemes.ts";
import { type Signature, SignatureCheck } from "../../../connectors/webhook-signature.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { Fault, isFault } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { endedSecrets, newSigningSecret, secretsAt } from "../../identity/agents/signing-secrets.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { Runtime } from "../../runtime.ts";
import { listAddresses } from "./addresses.ts";
import { answerTo, challengeIn } from "./answers.ts";
import type { Signed } from "./delivery-id.ts";
import { FirstIds } from "./first-ids.ts";
import { permissionFor, toHeaders } from "./handshake.ts";
import { WebhookBodyModel, type WebhookDoc } from "./ingest.model.ts";
import { Intake, receiptOf } from "./intake.ts";
import { WebhookLimits } from "./limits.ts";
import type { Mapped, MappedHeaders } from "./mapping.ts";
import { refusedEntry, signedEntry } from "./request-entries.ts";
import type { RequestLog } from "./request-log.ts";
import { compileWebhookMapping, MOST_WEBHOOKS, schemesOf, webhookPath } from "./webhooks.ts";

/** A tenant without webhooks: an unknown slug costs the same look-ups as a known one. */
const NOBODY = "tn_";

interface Delivery {
  tenant_slug: string;
  source?: string;
  /** The body in base64. */
  raw: string;
  headers: DeliveryHeaders;
  /** Path and query. */
  target?: string;
}

/** An unmapped payload as its dead letter stores it. */
export interface Again {
  tenant_id: string;
  registration_id: string;
  default_id: string;
  headers: MappedHeaders;
  payload: unknown;
  /** When it was received, in ms. */
  received_at: number;
}

/** A webhook whose secret did not sign a request, and why. */
interface Refusal {
  webhook: WebhookDoc;
  reason: string;
}

type Found = { webhook: WebhookDoc; signature: Signature } | { refusals: Refusal[]; spentMs: number };

/** Other requests may run after this many milliseconds of comparing secrets. */
const SLICE_MS = 5;

/** Receives senders' deliveries: checks the signature, maps, publishes. */
export class Receiver {
  readonly firstIds: FirstIds;
  readonly #runtime: Runtime;
  readonly #webhooks: TenantCollection<WebhookDoc>;
  readonly #limits: WebhookLimits;
  readonly #intake: Intake;
  readonly #log: RequestLog;
  readonly #decoy: string;

  constructor(runtime: Runtime, webhooks: TenantCollection<WebhookDoc>, log: RequestLog) {
    const { store, config, windows, secrets } = runtime;
    const bodies = store.collection(WebhookBodyModel);
    this.firstIds = new FirstIds(bodies, () => store.now(), config.DEDUPE_DAYS);
    this.#runtime = runtime;
    this.#webhooks = webhooks;
    this.#limits = new WebhookLimits(config, windows);
    this.#intake = new Intake(runtime, this.firstIds);
    this.#log = log;
    this.#decoy = newSigningSecret(secrets);
  }

  async receive(ctx: Call<Delivery>) {
    const { tenant_slug, source = "", headers, raw } = ctx.params;
    const address = networkOf(ctx.meta.ip ?? "");
    const target = `${tenant_slug}/${source}`;
    this.#limits.check(address, target, Date.now());
    const body = Buffer.from(raw, "base64");
    const { tenant, candidates } = await this.#candidatesOf(ctx);
    const found = await this.#signerOf(candidates, {
      body,
      headers,
      urls: listAddresses(ctx.params, this.#runtime.config),
    });
    if ("refusals" in found) {
      this.#limits.refused(address, target, Date.now());
      ctx.meta.$cpu_ms = found.spentMs;
      metrics.webhooks.inc({ outcome: "refused" });
      this.#logRefusals(ctx, found.refusals, body.length);
      throw new Fault(
        "authentication_failed",
        "The signature does not match any webhook at this address. Check the signing secret and the headers of the signature.",
      );
    }
    // Only an active tenant has candidates.
    return this.#accept(ctx, { tenant: tenant as TenantState, ...found, body, headers });
  }

  /** Permits a sender to deliver. */
  permit({ params, meta }: Call<{ headers: DeliveryHeaders }>) {
    const permission = permissionFor(params.headers, this.#runtime.config);
    meta.$responseHeaders = toHeaders(permission);
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
    return compileWebhookMapping(webhook)(
      payload,
      receiptOf({ tenant, webhook, headers }, default_id, received_at),
    );
  }

  /** Publishes a signed delivery and records the outcome. */
  async #accept(ctx: Call, signed: Signed) {
    const { tenant, webhook, body, signature } = signed;
    const { request_id } = ctx.meta;
    const at = new Date(this.#runtime.store.now());
    try {
      await this.#limits.accept(tenant.id, Date.now());
      await this.#runtime.usage.require(tenant.id, body.length);
      const challenge = challengeIn(signed);
      const entered = challenge ? [] : await this.#intake.enter(ctx, signed);
      for (const each of [entered].flat())
        metrics.webhooks.inc({ outcome: "differs" in each ? "differs" : each.status });
      this.#log.add(ctx.broker, webhook, signedEntry(request_id, at, signed, [entered].flat()));
      return answerTo(ctx, signature.scheme, challenge ?? entered);
    } catch (err) {
      const reason = isFault(err) ? err.message : "the service failed";
      this.#log.add(ctx.broker, webhook, refusedEntry(request_id, at, reason, body.length));
      throw err;
    }
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

  /** Finds the registration whose secret signed; else returns why none did, and the time that it took. */
  async #signerOf(candidates: WebhookDoc[], request: SignedRequest): Promise<Found> {
    const { store, secrets } = this.#runtime;
    const now = store.now();
    const refusals: Refusal[] = [];
    let spentMs = 0;
    let began = performance.now();
    const check = new SignatureCheck(request, now);
    for (const webhook of candidates) {
      const { _id, signing_secrets } = webhook;
      const plain = secretsAt(secrets, `webhooks/${_id}`, signing_secrets, now);
      const verdict = check.verify(plain, schemesOf(webhook));
      if ("signature" in verdict) return { webhook, signature: verdict.signature };
      const ended = endedSecrets(secrets, `webhooks/${_id}`, signing_secrets, now);
      const once = ended.find(({ secret }) => "signature" in check.verify([secret], schemesOf(webhook)));
      const reason = once
        ? `signed with the previous secret, which ended at ${once.ended_at.toISOString()}`
        : verdict.refused;
      refusals.push({ webhook, reason });
      const slice = performance.now() - began;
      if (slice < SLICE_MS) continue;
      spentMs += slice;
      await nextTick();
      began = performance.now();
    }
    // Without candidates, spend the time of a comparison all the same.
    if (candidates.length === 0) check.verify([this.#decoy], []);
    return { refusals, spentMs: spentMs + performance.now() - began };
  }

  /** Records why a request was refused, at the webhooks whose address it was sent to. */
  #logRefusals(ctx: Call<Delivery>, refusals: Refusal[], size: number): void {
    const { tenant_slug, source } = ctx.params;
    const at = new Date(this.#runtime.store.now());
    for (const { webhook, reason } of refusals) {
      if (source === undefined && webhookPath(tenant_slug, webhook.source) !== `/w/${tenant_slug}`) continue;
      this.#log.add(ctx.broker, webhook, refusedEntry(ctx.meta.request_id, at, reason, size));
    }
  }
}
