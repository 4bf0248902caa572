import type { Call } from "../../../lib/access/caller.ts";
import { binaryEvent } from "../../../lib/cloudevents/binary.ts";
import { attributesIn, isBinaryMode } from "../../../lib/cloudevents/http.ts";
import type { BatchAnswer, Published } from "../../../lib/cloudevents/publish-answers.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { mediaTypeOf } from "../../../lib/http/media-type.ts";
import { mappingError, thrownMappingError } from "../deliveries/dead-letter-state.ts";
import { BATCH_MAX_EVENTS } from "../events/events.contract.ts";
import { asFirst, type FirstIds, type Identified, type Signed } from "./delivery-id.ts";
import { keptHeaders, termsOf } from "./kept-headers.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";
import type { Receipt } from "./mapping.ts";
import { type Read, readJson, readPayload } from "./payload.ts";
import { compileWebhookMapping, webhookPath } from "./webhooks.ts";

/** The outcome of one event of a request. */
export type Entered =
  | Published
  | { event_id: null; status: "dead_lettered"; dead_letter_id: string; reason: string };

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
  const read = readDelivery(signed);
  const mapped = [read].flat().map((each) => map(signed, each, now()));
  const entered = await enterAll(ctx, signed, mapped);
  return Array.isArray(read) ? entered : (entered[0] as Entered);
}

function map(signed: Identified, read: Read, now: number): Entering {
  if ("error" in read) return { error: read.error, kept: read.text };
  const default_id = signed.webhook.mapping === AS_CLOUDEVENTS ? "" : signed.default_id;
  const mapped = compileWebhookMapping(signed.webhook)(read.payload, receiptOf(signed, default_id, now));
  return { ...mapped, kept: read.payload, default_id };
}

async function enterAll(ctx: Call, signed: Identified, mapped: Entering[]): Promise<Entered[]> {
  const events = mapped.flatMap((each) => ("event" in each ? [each.event] : []));
  const publish = { tenant_id: signed.tenant.id, publisher_id: null, events };
  const answers = events.length ? await ctx.call<BatchAnswer[], unknown>("events.ingest", publish) : [];
  let at = 0;
  const entered = mapped.map((each) =>
    "event" in each ? toOutcome(signed, each, answers[at++] as BatchAnswer) : each,
  );
  return Promise.all(entered.map((each, i) => ("error" in each ? deadLetter(ctx, signed, each, i) : each)));
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

/** @param at its position in a batch */
async function deadLetter(
  ctx: Call,
  { tenant, webhook, headers, default_id: delivered }: Identified,
  { error, kept, default_id }: Refused,
  at: number,
): Promise<Entered> {
  const { _id: registration_id } = webhook;
  const kept_headers = keptHeaders(headers, termsOf(webhook));
  const { id } = await ctx.call<{ id: string }, unknown>("deliveries.dead_letter", {
    tenant_id: tenant.id,
    source: webhookPath(tenant.slug, webhook.source),
    payload: kept,
    reason: error,
    dedupe: `${registration_id} ${delivered}${at ? ` ${at}` : ""}`,
    ...(default_id !== undefined && {
      origin: { inlet: "ingest", registration_id, default_id, headers: kept_headers },
    }),
  });
  return { event_id: null, status: "dead_lettered", dead_letter_id: id, reason: error };
}

/**
 * Returns the answer for an event; for a rejected one, the content of its dead letter. @throws Fault
 * service_unavailable
 */
function toOutcome(
  { differs }: Identified,
  entering: Omit<Refused, "error">,
  answer: BatchAnswer,
): Entered | Refused {
  if (answer.status === "duplicate" && differs) return { ...answer, differs };
  if (answer.status !== "rejected") return answer;
  const { code, message } = answer.error;
  // The sender repeats the whole batch then; accepted events of it are duplicates.
  if (code === "internal_error") throw new Fault("service_unavailable", message, { retry_after_seconds: 1 });
  return { ...entering, error: mappingError(answer.error) };
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
