// `node --expose-gc shapes.mjs settled|plain CALLS`: answers CALLS requests, collects garbage as after a start, answers
// more, and prints whether V8 holds the last request and its answer as objects or as hash tables.
import { createServer } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { compact } from "../../lib/compact.ts";
import { settleHttpShapes } from "../../lib/http/http-shapes.ts";

const AFTERWARDS = 20;

setFlagsFromString("--allow-natives-syntax");
const isFast = new Function("object", "return %HasFastProperties(object)");
const [, , kind, calls] = process.argv;
const last = {};

if (kind === "settled") await settleHttpShapes();
const server = createServer((req, res) => {
  Object.assign(last, { request: isFast(req), answer: isFast(res) });
  req.resume().on("end", () => res.end());
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

// Not by Node's client: it would make objects of the same classes.
async function call() {
  const socket = connect(server.address().port, "127.0.0.1");
  socket.end("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  for await (const _ of socket);
}

for (let i = 0; i < Number(calls); i++) await call();
// What they were is gone only after this turn.
await new Promise((resolve) => setImmediate(resolve));
compact();
for (let i = 0; i < AFTERWARDS; i++) await call();
process.stdout.write(JSON.stringify(last));
server.close();
