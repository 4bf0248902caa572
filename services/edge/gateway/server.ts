import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Fault, unavailable } from "../../../lib/contract/faults.ts";
import { originAt } from "../../../lib/http/origin.ts";
import { newId } from "../../../lib/ids.ts";
import { errorAnswer } from "./answer/respond.ts";

// An import would read all exports of the module, and so load Node's own client for `fetch`: 4 % of a start.
const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

/** The port is unavailable: the service reports it in one line and does not start. */
export class ListenError extends Error {}

// Longer than the usual 60 s of a load balancer, so that the balancer closes idle connections.
const KEEP_ALIVE_MS = 65_000;
/** A stop waits for requests as long as one ends within this time, counted in looks as in bin/main.ts. */
const STALL_MS = 3500;
const IDLE_LOOK_MS = 50;

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** The HTTP server of a node: listening, malformed requests and shutdown. */
export class HttpServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #closed: Promise<void> | undefined;

  /** @param limits times for receiving a request, other than Node's */
  constructor(handle: Handler, limits: ServerOptions = {}) {
    // A missing Host is answered here, with the envelope.
    this.#server = createServer({ ...limits, requireHostHeader: false }, (req, res) => {
      if (req.headers.host === undefined && req.httpVersion === "1.1")
        refuse(req.socket, malformed("has no Host header"));
      else handle(originForm(req), res);
    });
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#server.on("clientError", (err, socket) => refuse(socket as Socket, faultOf(err)));
    // Answer requests with an unknown Expect too; without a listener Node sends a bare 417.
    this.#server.on("checkExpectation", (req, res) => handle(originForm(req), res));
  }

  /** @throws ListenError that names the problem with the port. */
  async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (err: NodeJS.ErrnoException) => {
        const why =
          err.code === "EADDRINUSE" ? "is in use by another process" : `cannot be bound (${err.code})`;
        reject(new ListenError(`Port ${port} on ${host} ${why}. Set PORT or HOST to another.`));
      });
      this.#server.listen(port, host, resolve);
    });
  }

  /** The local address: `http://127.0.0.1:3000`. */
  get origin(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return originAt(address, port);
  }

  /** Stops accepting connections and waits for requests in progress; cuts off the rest if none has ended for 3.5 s. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      let left = Number.POSITIVE_INFINITY;
      let stalledMs = 0;
      const look = setInterval(() => {
        // Node would keep a connection whose stream or poll just ended open for another request.
        this.#server.closeIdleConnections();
        // Connections that a client opened and has not used are not idle to Node.
        for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
        this.#server.getConnections((_err, count) => {
          stalledMs = count < left ? 0 : stalledMs + IDLE_LOOK_MS;
          left = count;
          if (stalledMs > STALL_MS) this.#server.closeAllConnections();
        });
      }, IDLE_LOOK_MS);
      this.#server.close(() => {
        clearInterval(look);
        resolve();
      });
    });
    return this.#closed;
  }
}

/** A proxy may send an absolute URL in the request line (RFC 9112, 3.2.2): its origin is ignored. */
function originForm(req: IncomingMessage): IncomingMessage {
  const { url = "/" } = req;
  if (url.startsWith("/")) return req;
  const [origin] = /^https?:\/\/[^/?#]+/i.exec(url) ?? [];
  if (origin === undefined) return req;
  const rest = url.slice(origin.length);
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
  return req;
}

function faultOf({ code }: NodeJS.ErrnoException): Fault {
  if (code === "HPE_HEADER_OVERFLOW") return malformed("has more than 16 KB of headers");
  // Perhaps it was sent whole, and this node was too busy to read it.
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return unavailable("The request was not received in time. Retry in 1 s.");
  return malformed("is not HTTP/1.1");
}

function malformed(why: string): Fault {
  const details = { field: "", value: null, expected: "an HTTP/1.1 request", example: null };
  return new Fault("validation_failed", `The request ${why}.`, details);
}

const LINGER_MS = 1000;

/** Answers a request that Node has rejected: written by hand, because there is no response object yet. */
function refuse(socket: Socket, fault: Fault): void {
  if (!socket.writable || isAnswering(socket)) return void socket.destroy();
  const request_id = newId("req");
  const { status, body, headers } = errorAnswer(fault, request_id);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${request_id}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body as string)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Node's timeouts cover only requests: a caller that never hangs up would keep the socket open.
  socket.setTimeout(LINGER_MS, () => socket.destroy());
}

/** Whether an answer has started on this connection; nothing else may be written into it. */
function isAnswering(socket: Socket): boolean {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true;
}
