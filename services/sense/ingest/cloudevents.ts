import { binaryEvent } from "../../../lib/cloudevents/binary.ts";
import { attributesIn, isBinaryMode } from "../../../lib/cloudevents/http.ts";
import { mediaTypeOf } from "../../../lib/http/media-type.ts";
import { thrownMappingError } from "../deliveries/mapping-error.ts";
import { BATCH_MAX_EVENTS } from "../events/events.contract.ts";
import { type Read, readJson } from "./payload.ts";

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";

type Headers = Readonly<Record<string, string | undefined>>;

/** Reads a delivery of CloudEvents in structured, batch or binary mode: each event as in structured mode. */
export function readCloudEvents(body: Buffer, headers: Headers): Read | Read[] {
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
