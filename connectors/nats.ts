import { type ServiceBroker, Transporters } from "moleculer";
import type { NatsConnection } from "nats";

/** A batch of events is the largest thing that nodes tell each other: 10 MB as it came, and its envelope. */
const NEEDED_BYTES = 12 * 1_048_576;
/** A connection over which nothing comes any more is given up after three of these: its other end may be gone without a word. */
const PING_MS = 2000;
const CONNECT_MS = 5000;
const RETRY_MS = 250;

/** The NATS server refuses messages that nodes need to send; its message is for the operator. */
export class NatsError extends Error {}

/** What the client keeps to itself of a connection. */
interface Inside {
  protocol: { transport: { socket?: { destroy(): void } } };
}

/**
 * Moleculer's transporter, for connections that break and come back before anybody is missed. What was under way then
 * is lost, and neither end would know: who asked would wait for an answer until its time is over, if it has one. So this
 * node gives up what it asked of others, and tells them to give up what they asked of it.
 */
export class Nats extends Transporters.NATS {
  constructor(url: string) {
    super({ url, pingInterval: PING_MS, timeout: CONNECT_MS, reconnectTimeWait: RETRY_MS });
  }

  override async connect(): Promise<void> {
    await super.connect();
    this.#watch(this.client).catch((err) => this.logger.error("The connection to NATS is not watched.", err));
  }

  async #watch(client: NatsConnection): Promise<void> {
    for await (const { type } of client.status()) {
      // The client would first have its last bytes taken, which nobody does at the other end.
      if (type === "staleConnection") (client as unknown as Inside).protocol.transport.socket?.destroy();
      if (type === "disconnect") this.#giveUp();
      if (type !== "reconnect") continue;
      this.#giveUp();
      // To others this node goes and comes, in one moment.
      await this.transit.sendDisconnectPacket();
      await this.onConnected(true);
    }
  }

  /** Rejects all that other nodes were asked. */
  #giveUp(): void {
    for (const { id, local } of this.broker.registry.nodes.toArray())
      if (!local) this.transit.removePendingRequestByNodeID(id);
  }
}

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
