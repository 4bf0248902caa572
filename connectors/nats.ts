import type { ServiceBroker } from "moleculer";

/** A batch of events is the largest thing that nodes tell each other: 10 MB as it came, and its envelope. */
const NEEDED_BYTES = 12 * 1_048_576;

/** The NATS server refuses messages that nodes need to send; its message is for the operator. */
export class NatsError extends Error {}

interface NatsTransit {
  tx: { client?: { info?: { max_payload: number } } };
}

/** Throws NatsError when the server that a started broker is connected to takes too little (`max_payload`). */
export function requireMaxPayload(broker: ServiceBroker): void {
  const transit = broker.transit as unknown as NatsTransit | null;
  const most = transit?.tx.client?.info?.max_payload;
  if (most === undefined || most >= NEEDED_BYTES) return;
  throw new NatsError(
    `NATS_URL's server takes messages of at most ${most} bytes and nodes send up to ${NEEDED_BYTES}: set max_payload: 12MB in its configuration.`,
  );
}
