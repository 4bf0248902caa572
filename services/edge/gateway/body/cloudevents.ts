import type { IncomingMessage } from "node:http";
import { binaryEvent } from "../../../../lib/cloudevents/binary.ts";
import { attributesIn } from "../../../../lib/cloudevents/http.ts";
import { mismatch } from "../../../../lib/contract/faults.ts";
import { requestShare } from "../../../../lib/queue/fair-queue.ts";
import { BATCH_MAX_BYTES, BATCH_MAX_EVENTS } from "../../../sense/events/events.contract.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { headerText } from "../router.ts";
import { mediaType, parseFairly, parseJson, readRaw, unsupported } from "./body.ts";

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";

/**
 * Reads events of the CloudEvents HTTP binding: structured and binary mode as `{event}`, batch mode as `{events}`.
 * Events are parsed but not validated: events.publish does that (spec: Events 1).
 * @throws Fault payload_too_large over `eventMaxBytes` (a batch: 4 MB), unsupported_media_type, validation_failed.
 */
export async function readCloudEvents(
  exchange: HttpExchange,
  eventMaxBytes: number,
): Promise<Record<string, unknown>> {
  const { req } = exchange;
  const type = mediaType(req);
  const share = requestShare(exchange);
  if (type === BATCH) {
    const raw = await readRaw(req, BATCH_MAX_BYTES);
    return { events: asBatch(await parseFairly(raw, share, parseExactly)) };
  }
  const attributes = type === STRUCTURED ? null : attributesOf(req);
  if (!attributes && type !== STRUCTURED && type !== "application/json")
    throw unsupported(type, [STRUCTURED, BATCH, "application/json", "any type with ce-* headers"]);
  const raw = await readRaw(req, eventMaxBytes);
  const contentType = req.headers["content-type"] ?? "";
  const parse = attributes ? (body: Buffer) => binaryEvent(attributes, contentType, body) : parseExactly;
  return { event: await parseFairly<unknown>(raw, share, parse) };
}

const parseExactly = (body: Buffer) => parseJson(body, true);

function asBatch(body: unknown): unknown[] {
  if (Array.isArray(body) && body.length <= BATCH_MAX_EVENTS) return body;
  const value = Array.isArray(body) ? `${body.length} events` : typeof body;
  const expected = `an array of at most ${BATCH_MAX_EVENTS} events`;
  throw mismatch("", value, expected, [], "The batch");
}

/** Returns the attributes in the headers, if any: Node reads these as Latin-1. */
function attributesOf({ headers }: IncomingMessage): Record<string, string> | null {
  if (headers["ce-specversion"] === undefined && headers["ce-id"] === undefined) return null;
  const named = Object.entries(headers).filter(([name]) => name.startsWith("ce-"));
  return attributesIn(Object.fromEntries(named.map(([name, value]) => [name, headerText(String(value))])));
}
