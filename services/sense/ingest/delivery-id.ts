import type { DeliveryHeaders } from "../../../connectors/webhook-schemes.ts";
import type { Signature } from "../../../connectors/webhook-signature.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import { digestOf, type FirstIds } from "./first-ids.ts";
import type { WebhookDoc } from "./ingest.model.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import { headerName } from "./mapping.ts";
import { ownIdOf } from "./preset-mapping.ts";
import { PRESETS } from "./presets.ts";

/** A delivery with a valid signature. */
export interface Signed {
  tenant: TenantState;
  webhook: WebhookDoc;
  signature: Signature;
  body: Buffer;
  headers: DeliveryHeaders;
}

/**
 * For an id in an unsigned header, of a mapping or of CloudEvents in binary mode: returns the delivery with the id of
 * the first delivery of its body.
 */
export async function withFirstId(firstIds: FirstIds, signed: Signed): Promise<Signed> {
  const { webhook, signature, headers } = signed;
  const { mapping } = webhook;
  const name = typeof mapping === "object" ? headerName(mapping.id) : mapping === AS_CLOUDEVENTS && "ce-id";
  const id = name && headers[name];
  if (!id || id === signature.id) return signed;
  return { ...signed, headers: { ...headers, [name]: await firstIdOf(firstIds, signed, id) } };
}

/**
 * Returns the id of a delivery whose mapping sets none: the signed one, else that of the first delivery of its body.
 */
export async function defaultIdOf(
  ctx: Pick<Call, "call">,
  firstIds: FirstIds,
  signed: Signed,
  payload: unknown,
  now: number,
): Promise<string> {
  const { tenant, webhook, signature, body, headers } = signed;
  if (signature.id !== null) return signature.id;
  const acceptedAt = (id: string) => {
    const ce_id = `${webhook._id}:${id}`;
    return ctx.call<number | null, unknown>("events.accepted_at", { tenant_id: tenant.id, ce_id });
  };
  const id = idOfSender(webhook, headers) ?? (await idOfBody(body, now, acceptedAt));
  return namesId(webhook, payload) ? id : firstIdOf(firstIds, signed, id);
}

/** Returns the sender's id of a delivery, if any; it is the same for redeliveries. */
export function idOfSender(
  { mapping }: Pick<WebhookDoc, "mapping">,
  headers: DeliveryHeaders,
): string | null {
  if (typeof mapping === "string" && mapping !== AS_CLOUDEVENTS) {
    const { delivery } = PRESETS[mapping];
    return (delivery && headers[delivery]) || null;
  }
  return headers["webhook-id"] || headers["svix-id"] || headers["x-github-delivery"] || null;
}

/** Whether the mapping takes the event's id from the delivery. */
function namesId({ mapping }: WebhookDoc, payload: unknown): boolean {
  if (typeof mapping === "object") return Boolean(mapping.id);
  return mapping !== AS_CLOUDEVENTS && ownIdOf(mapping, payload) !== undefined;
}

function firstIdOf(
  firstIds: FirstIds,
  { tenant, webhook, signature, body }: Signed,
  id: string,
): Promise<string> {
  // Two genuine deliveries with signed ids may have the same body.
  const all = signature.id === null ? body : Buffer.concat([Buffer.from(`${signature.id}.`), body]);
  return firstIds.of({ tenant_id: tenant.id, webhook_id: webhook._id, body: all, id });
}

/**
 * Returns an id for a body whose sender gave none: the same for 24 hours from the first delivery, then another. It
 * contains the day, and stays that of the day before until the event accepted under it is a day old: no other state is
 * needed.
 *
 * @param acceptedAt returns when an event was accepted under an id, in ms; null if none was.
 */
export async function idOfBody(
  body: Uint8Array,
  now: number,
  acceptedAt: (id: string) => Promise<number | null>,
): Promise<string> {
  const digest = digestOf(body);
  const day = Math.floor(now / DAY_MS);
  const previous = `${digest}:${day - 1}`;
  const at = await acceptedAt(previous);
  return at !== null && at > now - DAY_MS ? previous : `${digest}:${day}`;
}
