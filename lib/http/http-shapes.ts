import { duplexPair } from "node:stream";
import { createServer } from "./node-http.ts";

/** V8 observes the first seven objects of a class; the eighth already uses the result. */
const EXCHANGES = 8;
const REQUEST = "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\na";

/**
 * Lets V8 fix the memory layout of Node's requests and responses, by a few exchanges over an in-memory connection.
 *
 * V8 gives the first objects of a class spare space and then shrinks it to the space these used. A full collection
 * after the first few requests, like the one after the start, discards this measurement: later objects get no space
 * and become hash tables, and publishing an event costs a fifth more CPU.
 */
export async function settleHttpShapes(): Promise<void> {
  const server = createServer((req, res) => {
    req.on("data", () => {});
    req.on("end", () => {
      res.writeHead(200, { "Content-Type": "text/plain" });
      res.end("a");
    });
  });
  const [client, connection] = duplexPair();
  const ended = new Promise((resolve) => client.once("close", resolve));
  server.emit("connection", connection);
  client.resume();
  client.end(REQUEST.repeat(EXCHANGES));
  await ended;
}
