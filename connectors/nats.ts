import { type ServiceBroker, Transporters } from "moleculer";
import type { NatsConnection } from "nats";
import { readCredentials } from "../lib/http/address-credentials.ts";

/** The largest message between nodes is a memory: 10 MB as received, and its envelope. */
const NEEDED_BYTES = 12 * 1_048_576;
/** A silent connection is closed after three of these pings: the other end may have gone without notice. */
const PING_MS = 2000;
const CONNECT_MS = 5000;
const RETRY_MS = 250;

/** The NATS server refuses messages of a size that nodes must send; the message is for the operator. */
export class NatsError extends Error {}

/** The socket is private, but the public `reconnect` and `close` first flush bytes that nobody receives. */
interface Inside {
  protocol: { transport: { socket?: { destroy(): void } } };
}

/**
 * Moleculer's transporter for connections that break and recover before the node is missed. Messages in transit are
 * then lost unnoticed, and requesters would wait until their timeout, if they have one. So this node rejects its
 * pending requests, and makes other nodes reject theirs to it.
 */
export class Nats extends Transporters.NATS {
  readonly #onChange: (isConnected: boolean) => void;

  /** @param onChange called when the connection is made, lost and restored, but not when this node ends it */
  constructor(url: string, onChange: (isConnected: boolean) => void) {
    // Moleculer would not decode the credentials.
    const addresses = url.split(",").map((each) => new URL(each));
    const known = addresses.map(readCredentials);
    const user = known.find(({ username }) => username)?.username;
    const pass = known.find(({ password }) => password)?.password;
    const servers = addresses.map(({ host }) => host);
    // Of itself the client uses TLS if the server offers it, which somebody in between may hide.
    const tls = addresses.some(({ protocol }) => protocol === "tls:") ? {} : undefined;
    const times = { pingInterval: PING_MS, timeout: CONNECT_MS, reconnectTimeWait: RETRY_MS };
    super({ servers, user, pass, tls, ...times });
    this.#onChange = onChange;
  }

  override async connect(): Promise<void> {
    await super.connect().catch((err: Error & { code?: string }) => {
      if (err.code !== "SERVER_OPT_NA") throw err;
      throw new NatsError("NATS offers no TLS, which tls:// in NATS_URL requires.", { cause: err });
    });
    this.#onChange(true);
    this.#watch(this.client).catch((err) =>
      this.logger.error("The NATS connection cannot be monitored.", err),
    );
  }

  async #watch(client: NatsConnection): Promise<void> {
    for await (const { type } of client.status()) {
      if (type === "staleConnection") (client as unknown as Inside).protocol.transport.socket?.destroy();
      if (type === "disconnect") this.#lost();
      if (type !== "reconnect") continue;
      this.#onChange(true);
      this.#giveUp();
      // To other nodes, this node leaves and rejoins in one moment.
      await this.transit.sendDisconnectPacket();
      await this.onConnected(true);
    }
  }

  #lost(): void {
    if (!(this.broker as unknown as { stopping: boolean }).stopping) this.#onChange(false);
    this.#giveUp();
  }

  #giveUp(): void {
    for (const { id, local } of this.broker.registry.nodes.toArray())
      if (!local) this.transit.removePendingRequestByNodeID(id);
  }
}

interface NatsTransit {
  tx: { client?: { info?: { max_payload: number } } };
}

/** Throws NatsError if the server of a started broker has too small a `max_payload`. */
export function requireMaxPayload(broker: ServiceBroker): void {
  const transit = broker.transit as unknown as NatsTransit | null;
  const most = transit?.tx.client?.info?.max_payload;
  if (most === undefined || most >= NEEDED_BYTES) return;
  throw new NatsError(
    `The server of NATS_URL accepts messages of at most ${most} bytes; nodes send up to ${NEEDED_BYTES}. Set max_payload: 12MB in its configuration.`,
  );
}
