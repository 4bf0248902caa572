import type { Call } from "../../../lib/access/caller.ts";
import { isTime } from "../../../lib/cloudevents/cloudevents.ts";
import { type Fault, invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { defined } from "../../../lib/defined.ts";
import { newId } from "../../../lib/ids.ts";
import { parsePointer, resolvePointer } from "../../../lib/json/json.ts";
import {
  hmacScheme,
  type Scheme,
  STANDARD_WEBHOOKS,
  SVIX,
  standardKey,
} from "../../../lib/webhooks/schemes.ts";
import type { Look, Sender } from "../../../lib/webhooks/sender.ts";
import { SENDERS } from "../../../lib/webhooks/senders.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { requireCapacity } from "../../../storage/writes.ts";
import {
  newSigningSecret,
  rotate,
  sealSigningSecret,
  secretsAt,
} from "../../identity/agents/signing-secrets.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type * as contract from "./ingest.contract.ts";
import type { LoggedRequest, WebhookDoc } from "./ingest.model.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import {
  attempt,
  compileMapping,
  type Delivery,
  headerName,
  type Mapping,
  MappingError,
  mapCloudEvent,
  shownMapping,
  toEvent,
  toTypePart,
  typePart,
} from "./mapping.ts";
import { presentRequest, type RequestLog } from "./request-log.ts";

/** Limit of webhooks per tenant, which bounds the secrets tried for an unsigned request. */
export const MOST_WEBHOOKS = 50;

export class Webhooks {
  readonly #runtime: Runtime;
  readonly #rows: TenantCollection<WebhookDoc>;
  readonly #log: RequestLog;

  constructor(runtime: Runtime, rows: TenantCollection<WebhookDoc>, log: RequestLog) {
    this.#runtime = runtime;
    this.#rows = rows;
    this.#log = log;
  }

  async create(ctx: CallOf<typeof contract.createWebhook>) {
    const { secrets } = this.#runtime;
    const { tenant_id } = ctx.meta.caller;
    const { name, source, mapping, signature = null } = ctx.params;
    compileWebhookMapping({ source, mapping });
    requireSignature({ mapping, signature });
    const seed = ctx.meta.idempotency_seed;
    const _id = newId("whk", seed);
    const [called, rule, instead] = ["webhooks", "webhook_limit", "Delete one first"] as const;
    await requireCapacity({ of: this.#rows, most: MOST_WEBHOOKS, called, rule, instead }, tenant_id, _id);
    const secret = ctx.params.signing_secret;
    const signing_secret =
      secret === undefined ? newSigningSecret(secrets, seed) : readSecret(secret, { mapping, signature });
    const signing_secrets = [sealSigningSecret(secrets, `webhooks/${_id}`, signing_secret)];
    const at = this.#now();
    const settings = { _id, tenant_id, name, source, mapping, signature };
    const signing = { signing_secrets, signing_version: 1 };
    const address = await this.#addressOf(ctx);
    const row = await this.#rows.insertOnce({ ...settings, ...signing, created_at: at, updated_at: at });
    return { ...present(row, address), signing_secret };
  }

  async list(ctx: CallOf<typeof contract.listWebhooks>) {
    const [{ rows, total }, address] = await Promise.all([
      this.#rows.page(ctx.meta.caller.tenant_id, {}, { created_at: 1, _id: 1 }, ctx.params),
      this.#addressOf(ctx),
    ]);
    const last = await this.#log.latest(ctx.meta.caller.tenant_id, rows);
    return { webhooks: rows.map((row) => present(row, address, last.get(row._id))), total };
  }

  async update(ctx: CallOf<typeof contract.updateWebhook>) {
    const { webhook_id, name, mapping, signature } = ctx.params;
    const known = await this.find(ctx);
    const { tenant_id, signing_secrets } = known;
    if (mapping || signature !== undefined) {
      const webhook = { ...known, ...defined({ mapping, signature }) };
      compileWebhookMapping(webhook);
      requireSignature(webhook);
      const { secrets, store } = this.#runtime;
      for (const secret of secretsAt(secrets, `webhooks/${webhook_id}`, signing_secrets, store.now()))
        requireUsable(secret, webhook);
    }
    const $set = { ...defined({ name, mapping, signature }), updated_at: this.#now() };
    const updated = await this.#rows.update(tenant_id, { _id: webhook_id }, { $set });
    const row = requireFound(updated, "webhook", webhook_id);
    const last = await this.#log.latest(tenant_id, [row]);
    return present(row, await this.#addressOf(ctx), last.get(webhook_id));
  }

  async delete({ params: { webhook_id }, meta }: CallOf<typeof contract.deleteWebhook>) {
    const deleted = await this.#rows.delete(meta.caller.tenant_id, { _id: webhook_id });
    requireFound(deleted, "webhook", webhook_id);
    await this.#log.delete(meta.caller.tenant_id, webhook_id);
  }

  async requests(ctx: CallOf<typeof contract.listWebhookRequests>) {
    const { _id, tenant_id } = await this.find(ctx);
    return { requests: (await this.#log.list(tenant_id, _id)).map(presentRequest) };
  }

  async rotate(ctx: CallOf<typeof contract.rotateWebhookSecret>) {
    const { params, meta } = ctx;
    const { secrets, store } = this.#runtime;
    const chosen = params.signing_secret;
    const secret = chosen === undefined ? chosen : readSecret(chosen, await this.find(ctx));
    const signed = { rows: this.#rows, secrets, owners: "webhooks", resource_type: "webhook" };
    const { tenant_id } = meta.caller;
    const of = { tenant_id, id: params.webhook_id, seed: meta.idempotency_seed, secret };
    return rotate(signed, store.now(), of);
  }

  #now(): Date {
    return new Date(this.#runtime.store.now());
  }

  async find({ params: { webhook_id }, meta }: Call<{ webhook_id: string }>): Promise<WebhookDoc> {
    const webhook = await this.#rows.findOne(meta.caller.tenant_id, { _id: webhook_id });
    return requireFound(webhook, "webhook", webhook_id);
  }

  async #addressOf(ctx: Call) {
    const [tenant_slug, origin] = await Promise.all([
      loadSlug(ctx),
      originOf(ctx.broker, this.#runtime.config),
    ]);
    return { tenant_slug, origin };
  }
}

/** Returns the path: with the source if it is fixed, without if the payload sets it. */
export function webhookPath(tenant_slug: string, source: string): string {
  const named = !source.startsWith("/") && !/^header:/i.test(source);
  return `/w/${tenant_slug}${named ? `/${encodeURIComponent(source)}` : ""}`;
}

/** @throws Fault validation_error for a mapping that cannot work. */
export function compileWebhookMapping({
  source,
  mapping,
  signature,
}: Pick<WebhookDoc, "source" | "mapping"> & Partial<Signing>): Mapping {
  if (typeof mapping === "object") {
    const map = compileMapping({ source, ...mapping });
    const { data = (payload: unknown) => payload } = senderNamed(signature) ?? {};
    return (payload, receipt) => map(data(payload), receipt);
  }
  return mapping === AS_CLOUDEVENTS ? mapCloudEvent : presetMapping(SENDERS.get(mapping) as Sender, source);
}

export const findPreset = ({ mapping }: Pick<WebhookDoc, "mapping">) => senderNamed(mapping);

const senderNamed = (name: unknown) => (typeof name === "string" ? SENDERS.get(name) : undefined);

/** Decides which signatures a webhook accepts. */
type Signing = Pick<WebhookDoc, "mapping" | "signature">;

/** @throws Fault validation_error for a signature that does not suit the mapping, or that leaves its time unsigned */
function requireSignature({ mapping, signature }: Signing): void {
  if (!signature) return;
  const refuse = (field: string, why: string) =>
    invalidValue(`signature.${field}`, `signature.${field}: ${why}`);
  if (findPreset({ mapping })) throw refuse("scheme", `the preset ${mapping} has its own. Remove signature.`);
  if (typeof signature === "string") return;
  const { template = "{body}", timestamp_header, timestamp_prefix } = signature;
  const parts = template.split(/(\{[^{}]*\})/).filter((part) => /^\{.*\}$/.test(part));
  const [bodies, times] = ["{body}", "{timestamp}"].map(
    (name) => parts.filter((part) => part === name).length,
  );
  if (bodies !== 1 || Number(times) > 1 || parts.length !== 1 + Number(times))
    throw refuse("template", "expected {body} once, {timestamp} at most once, and no other name in braces.");
  const setting = timestamp_header ?? timestamp_prefix;
  if (!times && setting !== undefined)
    throw refuse("template", "expected {timestamp} in the template, so that the time is signed.");
  if (times && !timestamp_header)
    throw refuse("timestamp_header", "expected the header with the {timestamp}.");
}

/** Returns the signatures that a webhook accepts; undefined for all. */
export function schemesOf(webhook: Signing): readonly Scheme[] | undefined {
  const { signature } = webhook;
  if (typeof signature === "object" && signature) return [hmacScheme(signature.scheme, signature)];
  return (senderNamed(signature) ?? findPreset(webhook))?.schemes;
}

/** Returns a secret without what was copied along with it. @throws Fault validation_error, which never quotes it */
function readSecret(text: string, webhook: Signing): string {
  const unquoted = text.trim().replace(/^(["'`“‘])(.*)["'`”’]$/s, "$2");
  const secret = unquoted
    .trim()
    .replace(/^v\d,(?=whsec_)/i, "")
    .replace(/^whsec_/i, "whsec_");
  if (!/^[\x21-\x7e]{16,256}$/.test(secret))
    throw unusable("expected 16 to 256 printable ASCII characters without spaces.");
  if (/^["'`]|["'`]$/.test(secret)) throw unusable("it begins or ends with a quote. Copy it without quotes.");
  if (/.whsec_/i.test(secret)) throw unusable("expected one secret, without anything before whsec_.");
  if (/^wh[sp]k_/i.test(secret))
    throw unusable("it is a key of an asymmetric signature (v1a). Choose a secret that begins with whsec_.");
  requireUsable(secret, webhook);
  return secret;
}

function requireUsable(secret: string, webhook: Signing): void {
  const schemes = schemesOf(webhook);
  const isStandard = !schemes || schemes.includes(STANDARD_WEBHOOKS);
  const isOnly = schemes?.every((scheme) => scheme === STANDARD_WEBHOOKS || scheme === SVIX);
  if (!isStandard || !(isOnly || secret.startsWith("whsec_")) || standardKey(secret)) return;
  throw unusable(
    "expected base64 of at least 16 bytes, with or without whsec_ before it. Copy it again from the sender.",
  );
}

function unusable(why: string): Fault {
  return invalidValue("signing_secret", `signing_secret: ${why}`);
}

export async function loadSlug(ctx: Call): Promise<string> {
  return ((await findTenant(ctx, ctx.meta.caller.tenant_id)) as TenantState).slug;
}

function present(doc: WebhookDoc, address: { origin: string; tenant_slug: string }, last?: LoggedRequest) {
  const { _id: id, name, source, signature, created_at, updated_at } = doc;
  const mapping = typeof doc.mapping === "object" ? shownMapping(doc.mapping) : doc.mapping;
  return {
    ...{ id, name, source, mapping, signature },
    url: address.origin + webhookPath(address.tenant_slug, source),
    last_request: last ? presentRequest(last) : null,
    ...{ created_at, updated_at },
  };
}

/** Maps the deliveries of a known sender; the data is the whole payload. @throws Fault validation_error for the source */
export function presetMapping(preset: Sender, source: string): Mapping {
  const sourcePart = typePart("source", source);
  return (payload, receipt) =>
    attempt(() => {
      const delivery = { payload, headers: receipt.headers ?? {} };
      const { entity, action, subject, id, time } = preset.fields(lookIn(delivery), payload);
      if (entity === undefined || action === undefined)
        throw new MappingError(`${preset.kind} is missing: expected the kind of an event of ${preset.title}`);
      const kind = [sourcePart(delivery), part(preset.title, entity), part(preset.title, action)];
      const data = preset.data?.(payload) ?? payload;
      return toEvent(receipt, { id, kind, subject, time: parseTime(time), data });
    });
}

function lookIn({ payload, headers }: Delivery): Look {
  return (term) => {
    const header = headerName(term);
    const value = header ? headers[header] : resolvePointer(payload, parsePointer(term) ?? []);
    if (typeof value === "string") return value || undefined;
    return Number.isSafeInteger(value) ? String(value) : undefined;
  };
}

function part(title: string, value: string): string {
  const folded = toTypePart(value);
  if (!folded)
    throw new MappingError(`${title} names the event "${value}": expected a string with a letter or digit`);
  return folded;
}

/** Converts a time of a sender: seconds, milliseconds, or a time with its zone; undefined for others. */
function parseTime(text = ""): string | undefined {
  if (/^(\d{9,10}|\d{12,13})$/.test(text))
    return new Date(Number(text) * (text.length > 10 ? 1 : 1000)).toISOString();
  // GitLab's "2026-01-31 09:30:00 UTC", Bitbucket's +0100.
  const written = text
    .replace(" UTC", "Z")
    .replace(" ", "T")
    .replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
  const time = new Date(isTime(written) ? written : "");
  return time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9999 ? time.toISOString() : undefined;
}
