import type { Call } from "../../../lib/access/caller.ts";
import { binaryEvent } from "../../../lib/cloudevents/binary.ts";
import { attributesIn, isBinaryMode } from "../../../lib/cloudevents/http.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { mediaTypeOf } from "../../../lib/http/media-type.ts";
import { thrownMappingError } from "../deliveries/dead-letter-state.ts";
import { BATCH_MAX_EVENTS } from "../events/events.contract.ts";
import { asFirst, type FirstIds, type Identified, type Signed } from "./delivery-id.ts";
import { type Entered, type Entering, enterAll } from "./enter.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import type { Receipt } from "./mapping.ts";
import { type Read, readJson, readPayload } from "./payload.ts";
import { compileWebhookMapping, webhookPath } from "./webhooks.ts";

/**
 * Maps a signed delivery and publishes it; what cannot be mapped becomes a dead letter. Returns the outcomes once they are
 * durable: a list for a batch.
 */
export async function takeIn(
  ctx: Call,
  { firstIds, now }: { firstIds: FirstIds; now: () => number },
  given: Signed,
): Promise<Entered | Entered[]> {
  const signed = await asFirst(firstIds, given);
  const { tenant, webhook, differs } = signed;
  const read = readDelivery(signed);
  const mapped = [read].flat().map((each, at) => map(signed, each, at, now()));
  const of = {
    inlet: "ingest",
    registration: webhook,
    source: webhookPath(tenant.slug, webhook.source),
  } as const;
  const known: Entered[] = [];
  for (const each of await enterAll(ctx, of, mapped)) {
    // The sender repeats the whole batch then; accepted events of it are duplicates.
    if (each.status === "later")
      throw new Fault("service_unavailable", each.reason, { retry_after_seconds: 1 });
    known.push(each.status === "duplicate" && differs ? { ...each, differs } : each);
  }
  return Array.isArray(read) ? known : (known[0] as Entered);
}

/** @param at its position in a batch */
function map(signed: Identified, read: Read, at: number, now: number): Entering {
  const { webhook, headers, default_id: delivered } = signed;
  const common = { headers, dedupe: `${webhook._id} ${delivered}${at ? ` ${at}` : ""}` };
  if ("error" in read) return { ...common, error: read.error, payload: read.text };
  const default_id = webhook.mapping === AS_CLOUDEVENTS ? "" : delivered;
  const mapped = compileWebhookMapping(webhook)(read.payload, receiptOf(signed, default_id, now));
  return { ...common, ...mapped, payload: read.payload, origin: { default_id } };
}

/** Reads the body of a delivery; a list for a batch of CloudEvents. */
export function readDelivery({ webhook, body, headers }: Pick<Signed, "webhook" | "body" | "headers">) {
  const takesEvents = webhook.mapping === AS_CLOUDEVENTS;
  return takesEvents ? readCloudEvents(body, headers) : readPayload(body, headers["content-type"]);
}

export function receiptOf(
  { tenant, webhook, headers }: Pick<Signed, "tenant" | "webhook"> & Pick<Receipt, "headers">,
  default_id: string,
  now: number,
): Receipt {
  const ce_source = webhookPath(tenant.slug, webhook.source);
  return { registration_id: webhook._id, default_id, ce_source, headers, now };
}

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";

type Headers = Readonly<Record<string, string | undefined>>;

/** Reads a delivery of CloudEvents in structured, batch or binary mode: each event as in structured mode. */
function readCloudEvents(body: Buffer, headers: Headers): Read | Read[] {
  const type = headers["content-type"] ?? "";
  const mode = mediaTypeOf(type);
  if (mode !== STRUCTURED && mode !== BATCH && isBinaryMode(headers)) return readBinary(headers, type, body);
  const read = readJson(body);
  return mode === BATCH && "payload" in read ? splitBatch(read.payload, body) : read;
}

function readBinary(headers: Headers, type: string, body: Buffer): Read {
  try {
    return { payload: binaryEvent(attributesIn(headers) ?? {}, type, body) };
  } catch (err) {
    return { error: thrownMappingError(err), text: body.toString("base64") };
  }
}

function splitBatch(payload: unknown, body: Buffer): Read | Read[] {
  if (Array.isArray(payload) && payload.length <= BATCH_MAX_EVENTS)
    return payload.map((each: unknown) => ({ payload: each }));
  const given = Array.isArray(payload) ? `${payload.length} events` : typeof payload;
  const error = `mapping error: the batch is ${given}: expected an array of at most ${BATCH_MAX_EVENTS} events`;
  return { error, text: body.toString("utf8") };
}
