import type { IncomingMessage } from "node:http";
import { callerId, type Meta } from "../../../../lib/access/caller.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { metrics } from "../../../../observability/metrics.ts";
import { parseTraceparent, type TracedRequest } from "../../../../observability/tracing.ts";
import type { Runtime } from "../../../runtime.ts";
import type { EarlyHttpExchange, HttpExchange } from "../http-exchange.ts";
import { pathOf, VERSION_PREFIX } from "../router.ts";

/** The status, in log and metrics only, of a request whose caller disconnected before the answer. */
const GONE = 499;

const READINESS = "gateway.readyz";

/** Measures, traces and logs every request of the gateway. */
export class RequestObserver {
  readonly #runtime: Runtime;
  /** The callers' scheme: behind a proxy that terminates TLS the connection does not show it. */
  readonly #scheme: string;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#scheme = runtime.config.PUBLIC_URL?.startsWith("https:") ? "https" : "http";
  }

  /** Observes a new request until it is answered or its caller disconnects. */
  begin(exchange: EarlyHttpExchange, meta: Meta): void {
    metrics.requestsInFlight.inc();
    exchange.res.once("close", () => this.#end(exchange, meta));
  }

  /** Starts the request's span once the operation is known, in its caller's trace or a new one. */
  enter(exchange: HttpExchange): void {
    const { req, op } = exchange;
    const { meta } = exchange.ctx;
    const header = req.headers.traceparent;
    if (header && parseTraceparent(header)) meta.traceparent = header as string;
    const { tracing } = this.#runtime.hooks;
    if (!tracing) return;
    const traced = { ...tracedRequest(req, op, meta), scheme: this.#scheme };
    exchange.span = tracing.request(traced, meta.traceparent);
    meta.traceparent = exchange.span.traceparent;
  }

  #end(exchange: EarlyHttpExchange, meta: Meta): void {
    const { res, op, span } = exchange;
    const seconds = secondsSince(exchange.started);
    const sent = res.headersSent ? res.statusCode : null;
    const status = sent ?? GONE;
    metrics.requestsInFlight.dec();
    if (!op?.stream) observeDuration(op, status, seconds);
    span?.end(sent);
    const { log } = this.#runtime;
    // A node that is not ready has failed no request.
    if (status >= 500 && op?.action !== READINESS)
      log.error(accessLine(exchange, meta, status, seconds), "request");
    else if (log.isLevelEnabled("debug")) log.debug(accessLine(exchange, meta, status, seconds), "request");
  }

  /** Measures an operation executed within another request. */
  measure(op: Operation, status: number, started: number): void {
    observeDuration(op, status, secondsSince(started));
  }
}

function observeDuration(op: Operation | undefined, status: number, seconds: number): void {
  const labels = { operation: op?.action ?? "none", status: `${Math.floor(status / 100)}xx` };
  metrics.requestSeconds.observe(labels, seconds);
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}

function tracedRequest(req: IncomingMessage, op: Operation, { ip }: Meta): Omit<TracedRequest, "scheme"> {
  const { remoteAddress: peer_address } = req.socket;
  const route = op.root ? op.url : VERSION_PREFIX + op.url;
  return {
    method: req.method as string,
    route,
    // The path of a public operation may contain a credential, such as a device's code.
    path: op.access.by === "public" ? route : pathOf(req),
    host: req.headers.host,
    client_address: ip,
    peer_address,
    protocol_version: req.httpVersion,
    user_agent: req.headers["user-agent"],
  };
}

/** The route, never the path: some paths contain a secret (`/w/…`). */
function accessLine({ req, op, ctx }: EarlyHttpExchange, early: Meta, status: number, seconds: number) {
  const meta = ctx?.meta ?? early;
  const { caller } = meta;
  return {
    request_id: meta.request_id,
    tenant_id: caller?.tenant_id,
    trace_id: parseTraceparent(meta.traceparent)?.trace_id,
    method: req.method,
    route: op?.url ?? null,
    status,
    duration_ms: Math.round(seconds * 1e6) / 1e3,
    caller: caller && callerId(caller),
    ip: meta.ip,
  };
}
