import type { IncomingMessage, ServerResponse } from "node:http";
import { callerId, type Meta } from "../../../../lib/access/caller.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { metrics } from "../../../../observability/metrics.ts";
import { parseTraceparent, type RequestSpan, type TracedRequest } from "../../../../observability/tracing.ts";
import type { Runtime } from "../../../runtime.ts";
import { pathOf, VERSION_PREFIX } from "../paths.ts";

/** The status, in log and metrics only, of a request whose caller disconnected before the answer. */
const GONE = 499;

const READINESS = "gateway.readyz";

/** A request's state for observability. */
interface Seen {
  started: number;
  meta: Meta;
  op: Operation | null;
  span: RequestSpan | null;
}

interface SeenRequest extends IncomingMessage {
  $seen?: Seen;
}

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
  begin(req: SeenRequest, res: ServerResponse, meta: Meta): void {
    metrics.requestsInFlight.inc();
    req.$seen = { started: performance.now(), meta, op: null, span: null };
    res.once("close", () => this.#end(req, res));
  }

  /** Starts the request's span once the operation is known, in its caller's trace or a new one. */
  enter(req: SeenRequest, op: Operation, meta: Meta): void {
    const seen = req.$seen as Seen;
    seen.op = op;
    seen.meta = meta;
    const given = req.headers.traceparent;
    if (parseTraceparent(given)) meta.traceparent = given as string;
    const { tracing } = this.#runtime;
    if (!tracing) return;
    seen.span = tracing.request({ ...tracedRequest(req, op, meta), scheme: this.#scheme }, meta.traceparent);
    meta.traceparent = seen.span.traceparent;
  }

  #end(req: SeenRequest, res: ServerResponse): void {
    const seen = req.$seen as Seen;
    const { op, span } = seen;
    const seconds = secondsSince(seen.started);
    const sent = res.headersSent ? res.statusCode : null;
    const status = sent ?? GONE;
    metrics.requestsInFlight.dec();
    if (!op?.stream) observeDuration(op, status, seconds);
    span?.end(sent);
    const { log } = this.#runtime;
    // A node that is not ready has failed no request.
    if (status >= 500 && op?.action !== READINESS)
      log.error(accessLine(req, status, seen, seconds), "request");
    else if (log.isLevelEnabled("debug")) log.debug(accessLine(req, status, seen, seconds), "request");
  }

  /** Measures an operation executed within another request. */
  measure(op: Operation, status: number, started: number): void {
    observeDuration(op, status, secondsSince(started));
  }
}

function observeDuration(op: Operation | null, status: number, seconds: number): void {
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
function accessLine(req: IncomingMessage, status: number, { op, meta }: Seen, seconds: number) {
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
