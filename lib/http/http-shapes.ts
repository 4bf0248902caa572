import { duplexPair } from "node:stream";
import { createServer } from "./node-http.ts";

/** V8 watches the first seven objects of a class; one more has an eighth made when all are decided. */
const EXCHANGES = 8;
const REQUEST = "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\na";

/**
 * Has V8 decide how Node's requests and answers are laid out in memory, by a few exchanges over a connection that leads
 * nowhere.
 *
 * V8 gives the first objects of a class spare room and then cuts it to what these used. What they used is forgotten when a
 * full collection finds them gone: with one after the first few requests, as ours after the start, all later ones would get
 * no room, and become hash tables. An event that is published then costs a fifth more CPU.
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
