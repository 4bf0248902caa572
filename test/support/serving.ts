import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of a test's own on this machine, answered by `handler`. */
export async function serving(handler: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const own = createServer(handler).listen(0, "127.0.0.1");
  await once(own, "listening");
  const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      own.close(() => resolve());
      own.closeAllConnections();
    });
  return { url, close };
}
