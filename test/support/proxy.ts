import { connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

export interface TcpProxy {
  port: number;
  /** Breaks all connections and refuses new ones, as a network that is down does. */
  cut(): void;
  /** Connections are accepted and stay open, but no data passes, as with a server that hangs. */
  mute(): void;
  /** Holds back each answer for so long, and each request not at all. 0: no longer. */
  delayAnswers(ms: number): void;
  mend(): void;
  stop(): Promise<void>;
}

/**
 * Forwards connections to a port of 127.0.0.1, unless cut or muted.
 *
 * @param newReader called for each connection, gives who is shown what comes in on it
 */
export async function startProxy(to: number, newReader?: () => (bytes: Buffer) => void): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const pairs = new Map<Socket, Socket>();
  let open = true;
  let mute = false;
  let delay = 0;
  const held = () =>
    new Transform({
      transform: (bytes, _encoding, done) =>
        void (delay > 0 ? setTimeout(done, delay, null, bytes) : done(null, bytes)),
    });
  const join = (incoming: Socket, outgoing: Socket) => incoming.pipe(outgoing).pipe(held()).pipe(incoming);
  const keep = (socket: Socket) => {
    sockets.add(socket.setNoDelay());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((incoming) => {
    keep(incoming);
    if (!open) return incoming.destroy();
    const outgoing = connect(to, "127.0.0.1");
    keep(outgoing);
    if (newReader) incoming.on("data", newReader());
    pairs.set(incoming, outgoing);
    if (!mute) join(incoming, outgoing);
    incoming.on("close", () => {
      pairs.delete(incoming);
      outgoing.destroy();
    });
    outgoing.on("close", () => incoming.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    open = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut,
    mute: () => {
      mute = true;
      for (const [incoming, outgoing] of pairs) {
        incoming.unpipe(outgoing).pause();
        outgoing.unpipe().pause();
      }
    },
    delayAnswers: (ms) => {
      delay = ms;
    },
    mend: () => {
      open = true;
      if (mute) for (const [incoming, outgoing] of pairs) join(incoming, outgoing);
      mute = false;
    },
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
