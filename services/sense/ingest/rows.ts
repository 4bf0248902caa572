import { AS_CLOUDEVENTS } from "./ingest.contract.ts";
import { compileMapping, type Mapping, mapCloudEvent, shownMapping } from "./mapping.ts";
import type { WebhookDoc } from "./webhooks.model.ts";

/** Returns the path: with the source if it is fixed, without if the payload sets it. */
export function webhookPath(tenant_slug: string, source: string): string {
  const named = !source.startsWith("/") && !/^header:/i.test(source);
  return `/w/${tenant_slug}${named ? `/${encodeURIComponent(source)}` : ""}`;
}

/** @throws Fault validation_error for a mapping that cannot work. */
export function mappingOf({ source, mapping }: Pick<WebhookDoc, "source" | "mapping">): Mapping {
  return mapping === AS_CLOUDEVENTS ? mapCloudEvent : compileMapping({ source, ...mapping });
}

/** Returns the sender's id of a delivery, if any; it is the same for redeliveries. */
export function idOfSender(headers: Readonly<Record<string, string | undefined>>): string | null {
  return headers["webhook-id"] || headers["svix-id"] || headers["x-github-delivery"] || null;
}

/** Returns the headers of an unmapped delivery that another mapping may use: no credentials. */
export function keptHeaders(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !SECRET.test(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

const SECRET = /^(?:proxy-)?authorization$|^cookie$|signature|token|secret|key/;

export function present(doc: WebhookDoc, address: { origin: string; tenant_slug: string }) {
  return {
    id: doc._id,
    name: doc.name,
    source: doc.source,
    mapping: doc.mapping === AS_CLOUDEVENTS ? AS_CLOUDEVENTS : shownMapping(doc.mapping),
    url: address.origin + webhookPath(address.tenant_slug, doc.source),
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
  };
}
