import type { DeliveryHeaders } from "../../../connectors/webhook-schemes.ts";
import type { Signature } from "../../../connectors/webhook-signature.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { FirstIds, Topic } from "./first-ids.ts";
import type { WebhookDoc } from "./ingest.model.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import { headerName, type MappedHeaders } from "./mapping.ts";
import { findPreset } from "./webhooks.ts";

/** A delivery with a valid signature. */
export interface Signed {
  tenant: TenantState;
  webhook: WebhookDoc;
  signature: Signature;
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

const DELIVERY_HEADERS = ["webhook-id", "svix-id", "x-github-delivery"];
const LONGEST_TOPIC = 300;

/**
 * Returns a delivery as the first one with the same signed content: the id and the topic in its headers are the first
 * one's, unless they are signed too.
 */
export async function asFirst(firstIds: FirstIds, signed: Signed): Promise<Identified> {
  const { tenant, webhook, signature, headers } = signed;
  const topic = topicOf(webhook, headers);
  const name = findIdHeader(webhook, headers, signature);
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
