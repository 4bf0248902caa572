import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  port: number;
  /** Breaks all connections and refuses new ones, as a network that is down does. */
  cut(): void;
  mend(): void;
  stop(): Promise<void>;
}

/**
 * Passes connections on to a port of 127.0.0.1, as long as it is not cut.
 *
 * @param newReader called for each connection, gives who is shown what comes in on it
 */
export async function startProxy(to: number, newReader?: () => (bytes: Buffer) => void): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let open = true;
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
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on("close", () => outgoing.destroy());
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
    mend: () => {
      open = true;
    },
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
