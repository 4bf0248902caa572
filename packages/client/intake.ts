import { OPERATIONS } from "./generated/operations.ts";
import type { Api, DeliveryEvent } from "./generated/types.ts";
import { bodyOfAnswer, type Connection, request, streamOfAnswer } from "./request.ts";
import { messagesOf } from "./sse.ts";

/** A delivery, and the milliseconds left of its lease on arrival. */
export interface Arrival {
  delivery: DeliveryEvent;
  leaseMs: number;
}

export interface Source {
  connection: Connection;
  api: Api;
}

/** The service sends a comment every 15 s: a connection silent for this long is dead. */
const SILENCE_MS = 45_000;

/** Yields the deliveries of one connection until it ends. @throws ApiError, ConnectionError, the signal's reason */
export async function* fromStream(
  { connection }: Source,
  maxInFlight: number,
  signal: AbortSignal,
): AsyncGenerator<Arrival[], void> {
  const silent = new AbortController();
  const silence = () => silent.abort(new Error(`the stream was silent for ${SILENCE_MS / 1000} s`));
  let watch = setTimeout(silence, SILENCE_MS);
  const heard = () => {
    clearTimeout(watch);
    watch = setTimeout(silence, SILENCE_MS);
  };
  try {
    const options = { signal: AbortSignal.any([signal, silent.signal]), retries: 0 };
    const params = { max_in_flight: maxInFlight };
    const response = await request(connection, OPERATIONS.deliveries.stream, params, options);
    const ahead = clockAhead(response);
    for await (const { event, data } of messagesOf(await streamOfAnswer(response), heard)) {
      if (event === "delivery") yield [arrival(data as DeliveryEvent, ahead)];
    }
  } finally {
    clearTimeout(watch);
  }
}

const POLL_SECONDS = 25;

/** Acknowledges, then returns the deliveries of one long-poll. @throws ApiError, ConnectionError, the signal's reason */
export async function fromNext(
  { connection }: Source,
  limit: number,
  delivery_ids: string[],
  signal: AbortSignal,
): Promise<Arrival[]> {
  const params = { limit, wait: POLL_SECONDS, ...(delivery_ids.length && { ack: { delivery_ids } }) };
  const operation = OPERATIONS.deliveries.next;
  const response = await request(connection, operation, params, { signal, retries: 0 });
  const ahead = clockAhead(response);
  const { deliveries } = (await bodyOfAnswer(response, operation)) as { deliveries: DeliveryEvent[] };
  return deliveries.map((delivery) => arrival(delivery, ahead));
}

/** Returns how many milliseconds the service's clock is ahead of this machine's: leases end by the service's. */
function clockAhead(response: Response): number {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? 0 : date - Date.now();
}

function arrival(delivery: DeliveryEvent, ahead: number): Arrival {
  return { delivery, leaseMs: Date.parse(delivery.lease_expires_at) - Date.now() - ahead };
}
