import type { Config } from "../../../config.ts";
import { newVerify, type Signature } from "../../../connectors/webhook-signature.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { Fault, isFault, rateLimited, unauthenticated } from "../../../lib/contract/faults.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { asWork } from "../../../lib/queue/work.ts";
import { type DeliveryHeaders, isSecret, type SignedRequest } from "../../../lib/webhooks/schemes.ts";
import type { Sender } from "../../../lib/webhooks/sender.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { endedSecrets, newSigningSecret, secretsAt } from "../../identity/agents/signing-secrets.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import { RateWindows, WINDOW_SECONDS } from "../../platform/admission/rate-windows.ts";
import type { Runtime } from "../../runtime.ts";
import type { Again } from "../deliveries/deliveries.model.ts";
import { FirstIds, type Signed } from "./delivery-id.ts";
import { type Entered, receiptOf, takeIn } from "./enter.ts";
import {
  answered,
  answerIn,
  type Challenged,
  findChallenge,
  permissionFor,
  senderOf,
  TEXT,
  toHeaders,
} from "./handshakes.ts";
import { type LoggedRequest, WebhookBodyModel, type WebhookDoc } from "./ingest.model.ts";
import { keptHeaders, termsOf } from "./kept-headers.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import type { Mapped } from "./mapping.ts";
import type { RequestLog } from "./request-log.ts";
import { compileWebhookMapping, findPreset, MOST_WEBHOOKS, schemesOf, webhookPath } from "./webhooks.ts";

/** A tenant without webhooks: an unknown slug costs the same look-ups as a known one. */
const NOBODY = "tn_";

interface Delivery {
  tenant_slug: string;
  source?: string;
  /** The body in base64. */
  raw: string;
  headers: DeliveryHeaders;
  /** Path and query as received; absent from gateways of earlier versions. */
  target?: string;
}

/** A webhook whose secret did not sign a request, and why. */
interface Refusal {
  webhook: WebhookDoc;
  reason: string;
}

type Verdict =
  | { webhook: WebhookDoc; signature: Signature; secret: string }
  | { refusals: Refusal[]; spentMs: number };

/** Other requests may run after this many milliseconds of comparing secrets. */
const SLICE_MS = 2;

/** Receives senders' deliveries: checks the signature, maps, publishes. */
export class Receiver {
  readonly firstIds: FirstIds;
  readonly #runtime: Runtime;
  readonly #webhooks: TenantCollection<WebhookDoc>;
  /** Signed webhooks by tenant, on all nodes together if they share windows. */
  readonly #signed: RateWindows;
  readonly #log: RequestLog;
  readonly #decoy: string;

  constructor(runtime: Runtime, webhooks: TenantCollection<WebhookDoc>, log: RequestLog) {
    const { store, config, windows, secrets } = runtime;
    const bodies = store.collection(WebhookBodyModel);
    this.firstIds = new FirstIds(bodies, () => store.now(), config.DEDUPE_DAYS);
    this.#runtime = runtime;
    this.#webhooks = webhooks;
    this.#signed = new RateWindows(windows);
    this.#log = log;
    this.#decoy = newSigningSecret(secrets);
  }

  async receive(ctx: Call<Delivery>) {
    const { headers, raw } = ctx.params;
    const body = Buffer.from(raw, "base64");
    const challenged = findChallenge("POST", ctx.params);
    if (challenged) return this.#answer(ctx, challenged);
    const { tenant, candidates } = await this.#candidatesOf(ctx);
    const request = { body, headers, urls: listAddresses(ctx.params, this.#runtime.config) };
    // Anybody may send: this takes turns with what the tenant does itself.
    const share = { tenant_id: tenant?.id ?? NOBODY, caller: "webhooks" };
    const signer = await asWork(share, "ingest.receive", () => this.#signerOf(candidates, request));
    if ("refusals" in signer) {
      ctx.meta.$cpu_ms = signer.spentMs;
      metrics.webhooks.inc({ outcome: "refused" });
      this.#logRefusals(ctx, signer.refusals, body.length);
      throw unsigned();
    }
    // Only an active tenant has candidates.
    return this.#accept(ctx, { tenant: tenant as TenantState, ...signer, body, headers });
  }

  async verify(ctx: Call<Delivery>) {
    const challenged = findChallenge("GET", ctx.params);
    if (challenged) return this.#answer(ctx, challenged);
    const message = "This address takes webhooks by POST, and the verification of a known sender by GET.";
    throw new Fault("method_not_allowed", message, { allow: ["POST", "OPTIONS"] });
  }

  permit({ params, meta }: Call<{ headers: DeliveryHeaders }>) {
    const permission = permissionFor(params.headers, this.#runtime.config);
    meta.$responseHeaders = toHeaders(permission);
    return permission;
  }

  async mapAgain(ctx: Call<Again>): Promise<Mapped> {
    const { tenant_id, registration_id, received_at, payload, default_id, headers } = ctx.params;
    const [webhook, tenant] = await Promise.all([
      this.#webhooks.findOne(tenant_id, { _id: registration_id }),
      findTenant(ctx, tenant_id),
    ]);
    if (!webhook || !tenant) return { error: "mapping error: the webhook was deleted" };
    const receipt = receiptOf({ tenant, webhook, headers }, default_id, received_at);
    return compileWebhookMapping(webhook)(payload, receipt);
  }

  async #accept(ctx: Call, signed: Signed) {
    const { tenant, webhook, body } = signed;
    const { request_id } = ctx.meta;
    const at = new Date(this.#runtime.store.now());
    try {
      await this.#count(tenant.id);
      await this.#runtime.usage.require(tenant.id, body.length);
      const sender = senderOf(signed);
      const answer = answerIn(signed, sender);
      const entered = answer
        ? []
        : await takeIn(ctx, { firstIds: this.firstIds, now: this.#runtime.store.now }, signed);
      for (const each of [entered].flat())
        metrics.webhooks.inc({ outcome: "differs" in each ? "differs" : each.status });
      this.#log.add(ctx.broker, webhook, signedEntry(request_id, at, signed, [entered].flat()));
      return answer ? answered(ctx, answer) : acknowledge(ctx, sender, entered);
    } catch (err) {
      const reason = isFault(err) ? err.message : "the service failed";
      this.#log.add(ctx.broker, webhook, refusedEntry(request_id, at, reason, body.length));
      throw err;
    }
  }

  /**
   * Answers a challenge. One that proves nothing is answered at every address, existing or not, as a permission to deliver
   * is; where no webhook can sign, by a secret that none has.
   */
  async #answer(ctx: Call<Delivery>, { name, challenge }: Challenged) {
    if ("echo" in challenge && challenge.token === undefined) return answered(ctx, challenge.echo);
    const { tenant, candidates } = await this.#candidatesOf(ctx);
    const own = candidates.filter(({ mapping }) => mapping === name);
    const able = [...own, ...candidates.filter((each) => !findPreset(each))];
    if ("sign" in challenge) {
      for (const webhook of able) {
        const answer = challenge.sign(this.#secretsOf(webhook)[0] as string);
        if (answer === null) continue;
        this.#logChallenge(ctx, webhook);
        return answered(ctx, answer);
      }
      return answered(ctx, challenge.sign(this.#decoyAt(ctx.params)) as object);
    }
    const { echo, token = "" } = challenge;
    const proven = able.find((each) => this.#secretsOf(each).some((secret) => isSecret(token, secret)));
    if (!proven || !tenant) {
      isSecret(token, this.#decoy);
      const reason = "the token of the verification is not the signing secret";
      const refusals = able.map((webhook) => ({ webhook, reason }));
      this.#logRefusals(ctx, refusals, 0);
      throw unsigned();
    }
    await this.#count(tenant.id);
    this.#logChallenge(ctx, proven);
    return answered(ctx, echo);
  }

  #count(tenant_id: string): Promise<void> {
    return countSigned(this.#signed, this.#runtime.config.WEBHOOKS_PER_MINUTE, tenant_id, Date.now());
  }

  #logChallenge(ctx: Call, webhook: WebhookDoc): void {
    const at = new Date(this.#runtime.store.now());
    const entry = refusedEntry(ctx.meta.request_id, at, "", 0);
    this.#log.add(ctx.broker, webhook, { ...entry, outcome: "challenge", reason: null });
  }

  #secretsOf({ _id, signing_secrets }: WebhookDoc): string[] {
    const { store, secrets } = this.#runtime;
    return secretsAt(secrets, `webhooks/${_id}`, signing_secrets, store.now());
  }

  /** Returns a secret that is always the same for an address. */
  #decoyAt({ tenant_slug, source = "" }: Delivery): string {
    return newSigningSecret(this.#runtime.secrets, `decoy ${tenant_slug}/${source}`);
  }

  /** Returns the registrations whose secrets may have signed a delivery. */
  async #candidatesOf(ctx: Call<Delivery>) {
    const { tenant_slug: slug, source } = ctx.params;
    const state = await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug });
    const tenant = state?.status === "active" ? state : null;
    const filter = source === undefined ? {} : { source };
    const candidates = await this.#webhooks.find(tenant?.id ?? NOBODY, filter, { limit: MOST_WEBHOOKS });
    return { tenant, candidates };
  }

  /** Finds the registration whose secret signed; else returns why none did, and the time that it took. */
  async #signerOf(candidates: WebhookDoc[], request: SignedRequest): Promise<Verdict> {
    const { store, secrets } = this.#runtime;
    const now = store.now();
    const refusals: Refusal[] = [];
    const slices = new Slices(SLICE_MS);
    const verify = newVerify(request, now);
    for (const webhook of candidates) {
      if (slices.over) await slices.next();
      const { _id, signing_secrets } = webhook;
      const plain = this.#secretsOf(webhook);
      const verdict = verify(plain, schemesOf(webhook));
      if ("signature" in verdict) return { webhook, ...verdict };
      const ended = endedSecrets(secrets, `webhooks/${_id}`, signing_secrets, now);
      const once = ended.find(({ secret }) => "signature" in verify([secret], schemesOf(webhook)));
      const reason = once
        ? `signed with the previous secret, which ended at ${once.ended_at.toISOString()}`
        : verdict.refused;
      refusals.push({ webhook, reason });
    }
    // Without candidates, spend the time of a comparison all the same.
    if (candidates.length === 0) verify([this.#decoy], []);
    return { refusals, spentMs: slices.spent };
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

/** Returns the addresses that the sender may have used: the server's public one, else those that the request names. */
export function listAddresses(
  { headers, target }: Pick<Delivery, "headers" | "target">,
  { PUBLIC_URL }: Pick<Config, "PUBLIC_URL">,
): string[] {
  if (target === undefined) return [];
  if (PUBLIC_URL) return [PUBLIC_URL.replace(/\/$/, "") + target];
  // Any sender may name a host, but it is signed with the path: a signature for another host's path opens nothing here.
  const host = headers["x-forwarded-host"]?.split(",")[0]?.trim() || headers.host;
  return host ? [`https://${host}${target}`, `http://${host}${target}`] : [];
}

/** Answers a sender: with nothing, if it reads more into an answer. */
function acknowledge(ctx: Call, sender: Sender | undefined, result: Entered | Entered[]) {
  ctx.meta.$statusCode = sender?.status ?? 202;
  if (sender?.status === 204) return null;
  if (sender?.status !== 200) return Array.isArray(result) ? result.map(shown) : shown(result);
  ctx.meta.$responseType = TEXT;
  return "";
}

function unsigned(): Fault {
  return unauthenticated(
    "The signature does not match any webhook at this address. Check the signing secret and the headers of the signature.",
  );
}

const shown = (entered: Entered) => {
  const { event_id, status } = entered;
  return { event_id, status, ...("differs" in entered && { differs: entered.differs }) };
};

const REASON_LENGTH = 500;
const DIFFERS = "not stored: an event with this id exists, with another source or content";

/** Returns the log's entry for a refused request. @param reason must contain nothing of the request */
export function refusedEntry(request_id: string, at: Date, reason: string, size: number): LoggedRequest {
  return {
    ...{ request_id, at, outcome: "refused", reason: reason.slice(0, REASON_LENGTH), size },
    ...{ event_id: null, dead_letter_id: null, events: 0, signature: null, headers: {}, event_is: "part" },
  };
}

/** Returns the log's entry for a signed request. @param all its events; none for a challenge */
function signedEntry(
  request_id: string,
  at: Date,
  { webhook, signature, body, headers }: Signed,
  all: readonly Entered[],
): LoggedRequest {
  const dead = all.find((each) => each.status === "dead_lettered");
  const first = dead ?? all.find(({ status }) => status === "accepted") ?? all[0];
  return {
    ...{ request_id, at, outcome: first?.status ?? "challenge" },
    reason: dead
      ? dead.reason.slice(0, REASON_LENGTH)
      : all.some((each) => "differs" in each)
        ? DIFFERS
        : null,
    event_id: all.find(({ event_id }) => event_id !== null)?.event_id ?? null,
    dead_letter_id: dead?.dead_letter_id ?? null,
    ...{ events: all.length, size: body.length, signature: signature.scheme },
    headers: keptHeaders(headers, termsOf(webhook)),
    event_is: sampleIn(webhook),
  };
}

/** Returns what a webhook's events contain of the payload. */
function sampleIn({ mapping }: Signed["webhook"]): LoggedRequest["event_is"] {
  if (mapping === AS_CLOUDEVENTS) return "payload";
  return typeof mapping === "object" && mapping.data ? "part" : "data";
}

/** Counts a signed webhook. @param max of a tenant in a minute; 0 is no limit. @throws Fault rate_limited beyond it */
export async function countSigned(
  windows: RateWindows,
  max: number,
  tenant_id: string,
  now: number,
): Promise<void> {
  if (!max) return;
  const { allowed, resets_at } = await windows.take([{ key: `webhooks ${tenant_id}`, max }], now);
  if (!allowed) throw rateLimited("Too many webhooks. Retry", max, WINDOW_SECONDS, resets_at - now);
}
