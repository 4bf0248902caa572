import { createHash } from "node:crypto";
import type { Signature } from "../../../connectors/webhook-signature.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { DeliveryHeaders } from "../../../lib/webhooks/schemes.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { WebhookBodyDoc, WebhookDoc } from "./ingest.model.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import { headerName, type MappedHeaders } from "./mapping.ts";
import { findPreset } from "./webhooks.ts";

/** The headers by which a sender says what a delivery is about, as they are or null. */
export type Topic = Record<string, string | null>;

/** A delivery, by what its signature covers and what it does not. */
interface DeliveryParts {
  tenant_id: string;
  webhook_id: string;
  /** Of the signed content. */
  digest: string;
  /** An unsigned id, if it has one. */
  id: string | null;
  topic: Topic;
  /** Whether the sender sends one body for several topics. */
  several: boolean;
}

/** Id and topic of the first delivery of the same content. */
export interface First {
  id: string;
  topic: Topic;
}

/** A body for several topics is sent at once: later than signed times may be, it is a replay. */
const SEVERAL_MS = 300_000;
const MOST_OTHERS = 3;

/**
 * The ids and topics of deliveries whose signature does not cover them. Anyone who saw such a delivery could send it
 * again under others, so signed content keeps its first ones for `DEDUPE_DAYS`.
 */
export class FirstIds {
  readonly #rows: TenantCollection<WebhookBodyDoc>;
  readonly now: () => number;
  readonly #keptMs: number;

  constructor(rows: TenantCollection<WebhookBodyDoc>, now: () => number, days: number) {
    this.#rows = rows;
    this.now = now;
    this.#keptMs = days * DAY_MS;
  }

  /** Returns the content's first id and topic; the given ones if it has none yet. */
  async of(parts: DeliveryParts): Promise<First> {
    const { tenant_id, webhook_id, digest, topic, several } = parts;
    const _id = `${webhook_id} ${digest}`;
    const first = await this.#firstAt(tenant_id, _id, { id: parts.id ?? digest, topic });
    const known: First = { id: first.first_id, topic: first.topic };
    if (!several || parts.id === known.id) return known;
    const topicDigest = hashBody(JSON.stringify(topic));
    if (topicDigest === hashBody(JSON.stringify(known.topic))) return known;
    const own = { id: parts.id ?? hashBody(digest + topicDigest), topic };
    return (await this.#another(tenant_id, first, `${_id} ${topicDigest}`, own)) ?? known;
  }

  /** Returns the first id of another topic of the content; null if it is not taken as one. */
  async #another(tenant_id: string, first: WebhookBodyDoc, _id: string, own: First): Promise<First | null> {
    const known = await this.#rows.findOne(tenant_id, { _id });
    if (known) return { id: known.first_id, topic: own.topic };
    if (this.now() - first.first_at.getTime() > SEVERAL_MS) return null;
    const room = { _id: first._id, others: { $lt: MOST_OTHERS } };
    if (!(await this.#rows.update(tenant_id, room, { $inc: { others: 1 } }))) return null;
    return { id: (await this.#firstAt(tenant_id, _id, own)).first_id, topic: own.topic };
  }

  async #firstAt(tenant_id: string, _id: string, { id, topic }: First): Promise<WebhookBodyDoc> {
    const now = this.now();
    const expires_at = new Date(now + this.#keptMs);
    const fresh = { first_id: id, topic, first_at: new Date(now), others: 0, expires_at };
    const known = await this.#rows.insertOnce({ _id, tenant_id, ...fresh });
    if (known.expires_at.getTime() > now) return known;
    const over = { _id, expires_at: known.expires_at };
    const renewed = await this.#rows.update(tenant_id, over, { $set: fresh });
    // A concurrent delivery or sweep renewed or removed it.
    return renewed ?? this.#firstAt(tenant_id, _id, { id, topic });
  }
}

function hashBody(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

export interface Signed {
  tenant: TenantState;
  webhook: WebhookDoc;
  signature: Signature;
  /** The one that signed. */
  secret: string;
  body: Buffer;
  headers: DeliveryHeaders;
}

/** A delivery with what its event is known by. */
export interface Identified extends Signed {
  /** The id of an event whose mapping names none. */
  default_id: string;
  /** Whether the first delivery with the same signed content had another topic. */
  differs?: true;
}

/** The same body from a sender that repeats bodies is a retry within this time. */
const REPEATED_MS = 60_000;
const DELIVERY_HEADERS = ["webhook-id", "svix-id", "x-github-delivery"];
const LONGEST_TOPIC = 300;

/** Returns a delivery with the id and topic of the first one with the same signed content, unless they are signed too. */
export async function asFirst(firstIds: FirstIds, signed: Signed): Promise<Identified> {
  const { tenant, webhook, signature, headers } = signed;
  const topic = topicOf(webhook, headers);
  const name = findIdHeader(webhook, headers, signature);
  // Without an id, a retry cannot be told from another event with the same body.
  if (findPreset(webhook)?.repeats)
    return { ...signed, default_id: `${signature.digest} ${Math.floor(firstIds.now() / REPEATED_MS)}` };
  if (name === null && Object.keys(topic).length === 0)
    return { ...signed, default_id: signature.id ?? signature.digest };
  const first = await firstIds.of({
    tenant_id: tenant.id,
    webhook_id: webhook._id,
    digest: signature.digest,
    id: name === null ? signature.id : (headers[name] as string),
    topic,
    several: findPreset(webhook)?.several === true,
  });
  const named = Object.entries({ ...first.topic, ...(name && { [name]: first.id }) });
  const known = Object.fromEntries(named.map(([header, value]) => [header, value ?? undefined]));
  const differs = Object.keys(topic).some((header) => (first.topic[header] ?? null) !== topic[header]);
  return {
    ...signed,
    headers: { ...headers, ...known },
    default_id: signature.id ?? first.id,
    ...(differs && { differs }),
  };
}

/** Returns the sender's id of a delivery, if any; it is the same for redeliveries. */
export function idOfSender(webhook: Pick<WebhookDoc, "mapping">, headers: MappedHeaders): string | null {
  return headers[deliveryHeaders(webhook).find((name) => headers[name]) ?? ""] ?? null;
}

/** Returns the header with the event's id; null if there is none, or if the signature covers its value. */
function findIdHeader(webhook: WebhookDoc, headers: DeliveryHeaders, { id }: Signature): string | null {
  const { mapping } = webhook;
  const own = mapping === AS_CLOUDEVENTS ? "ce-id" : typeof mapping === "object" && headerName(mapping.id);
  const names = own ? [own] : id === null ? deliveryHeaders(webhook) : [];
  return names.find((name) => headers[name] && headers[name] !== id) ?? null;
}

function deliveryHeaders(webhook: Pick<WebhookDoc, "mapping">): readonly string[] {
  const preset = findPreset(webhook);
  if (!preset) return DELIVERY_HEADERS;
  return preset.delivery ? [preset.delivery] : [];
}

/** Returns the headers that the event's type and subject are made from. */
function topicOf(webhook: WebhookDoc, headers: DeliveryHeaders): Topic {
  const { source, mapping } = webhook;
  if (mapping === AS_CLOUDEVENTS) return {};
  const own = typeof mapping === "object" ? [mapping.entity, mapping.action, mapping.subject] : [];
  const names = [source, ...own].map(headerName).filter((name) => name !== null);
  const all = [...names, ...(findPreset(webhook)?.topic ?? [])];
  return Object.fromEntries(all.map((name) => [name, headers[name]?.slice(0, LONGEST_TOPIC) ?? null]));
}
