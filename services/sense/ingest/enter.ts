import type { Call } from "../../../lib/access/caller.ts";
import { binaryEvent } from "../../../lib/cloudevents/binary.ts";
import { attributesIn, isBinaryMode } from "../../../lib/cloudevents/http.ts";
import type { BatchAnswer, Published } from "../../../lib/cloudevents/publish-answers.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { mediaTypeOf } from "../../../lib/http/media-type.ts";
import type { DeliveryHeaders } from "../../../lib/webhooks/schemes.ts";
import { mappingError, thrownMappingError } from "../deliveries/dead-letter-state.ts";
import type { Origin } from "../deliveries/deliveries.model.ts";
import { BATCH_MAX_EVENTS } from "../events/events.contract.ts";
import { asFirst, type FirstIds, type Identified, type Signed } from "./delivery-id.ts";
import { keptHeaders, type Mapped, termsOf } from "./kept-headers.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import type { Receipt } from "./mapping.ts";
import { type Read, readJson, readPayload } from "./payload.ts";
import { compileWebhookMapping, webhookPath } from "./webhooks.ts";

/** A payload of an inlet: an event to publish, or not. */
export type Entering = ({ event: unknown } | { error: string }) & {
  /** As its dead letter stores it. */
  payload: unknown;
  /** Of its receipt. */
  headers: DeliveryHeaders;
  /** Identifies repeated receipts; absent if they cannot be recognised. */
  dedupe?: string | undefined;
  /** Absent if no other mapping could read it either. */
  origin?: Pick<Origin, "default_id" | "structured"> | undefined;
};

export type Entered =
  | Published
  | { event_id: null; status: "dead_lettered"; dead_letter_id: string; reason: string };

/** The service cannot take a payload right now. */
export interface Later {
  status: "later";
  reason: string;
}

/** The registration that a payload came by. */
interface Inlet extends Mapped {
  _id: string;
  tenant_id: string;
}

/** Permanent errors of an event: publishing it again is pointless. */
const FINAL = ["invalid_event", "payload_too_large"];

/** Publishes events, and dead-letters what is none, with `source`. Resolves with the outcomes in order once durable. */
export async function enterAll(
  ctx: { call<T, P>(action: string, params: P): Promise<T> },
  { inlet, registration, source }: { inlet: Origin["inlet"]; registration: Inlet; source: string },
  all: readonly Entering[],
): Promise<(Entered | Later)[]> {
  const { _id: registration_id, tenant_id } = registration;
  const bury = (entering: Entering, reason: string): Promise<Entered | Later> => {
    const { payload, dedupe, origin } = entering;
    const headers = keptHeaders(entering.headers, termsOf(registration));
    const params = {
      ...{ tenant_id, source, payload, reason },
      ...(dedupe !== undefined && { dedupe }),
      ...(origin && { origin: { inlet, registration_id, ...origin, headers } }),
    };
    return ctx.call<{ id: string }, unknown>("deliveries.dead_letter", params).then(
      ({ id }) => ({ event_id: null, status: "dead_lettered", dead_letter_id: id, reason }),
      () => later("It cannot be kept as a dead letter right now."),
    );
  };
  const events = all.flatMap((each) => ("event" in each ? [each.event] : []));
  const publish = { tenant_id, publisher_id: null, events };
  const answers = events.length > 0 ? await ctx.call<BatchAnswer[], unknown>("events.ingest", publish) : [];
  let at = 0;
  return Promise.all(
    all.map((each): Entered | Later | Promise<Entered | Later> => {
      if ("error" in each) return bury(each, each.error);
      const answer = answers[at++] as BatchAnswer;
      if (answer.status !== "rejected") return answer;
      const { code, message } = answer.error;
      if (FINAL.includes(code)) return bury(each, mappingError(answer.error));
      return later(message);
    }),
  );
}

const later = (reason: string): Later => ({ status: "later", reason });

/** Maps a signed delivery and publishes or dead-letters it. Returns the durable outcomes: a list for a batch. */
export async function takeIn(
  ctx: Call,
  { firstIds, now }: { firstIds: FirstIds; now: () => number },
  given: Signed,
): Promise<Entered | Entered[]> {
  const signed = await asFirst(firstIds, given);
  const { tenant, webhook, differs } = signed;
  const read = readDelivery(signed);
  const mapped = [read].flat().map((each, at) => map(signed, each, at, now()));
  const source = webhookPath(tenant.slug, webhook.source);
  const of = { inlet: "ingest", registration: webhook, source } as const;
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

/** Reads a delivery of CloudEvents in structured, batch or binary mode: each event as in structured mode. */
function readCloudEvents(body: Buffer, headers: DeliveryHeaders): Read | Read[] {
  const type = headers["content-type"] ?? "";
  const mode = mediaTypeOf(type);
  if (mode !== STRUCTURED && mode !== BATCH && isBinaryMode(headers)) return readBinary(headers, type, body);
  const read = readJson(body);
  return mode === BATCH && "payload" in read ? splitBatch(read.payload, body) : read;
}

function readBinary(headers: DeliveryHeaders, type: string, body: Buffer): Read {
  try {
    return { payload: binaryEvent(attributesIn(headers) ?? {}, type, body) };
  } catch (err) {
    return { error: thrownMappingError(err), text: body.toString("base64") };
  }
}

function splitBatch(payload: unknown, body: Buffer): Read | Read[] {
  if (Array.isArray(payload) && payload.length <= BATCH_MAX_EVENTS)
    return payload.map((each: unknown) => ({ payload: each }));
  const actual = Array.isArray(payload) ? `${payload.length} events` : typeof payload;
  const error = `mapping error: the batch is ${actual}: expected an array of at most ${BATCH_MAX_EVENTS} events`;
  return { error, text: body.toString("utf8") };
}
