import {
  type Attributes,
  type Context,
  type DiagLogger,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ActionHandler, ActionSchema, Context as CallContext, Middleware } from "moleculer";
import type { Meta } from "../../lib/access/caller.ts";
import type { CloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { identity, type Log } from "../../observability/log.ts";
import { metrics } from "../../observability/metrics.ts";
import {
  type PushSpan,
  parseTraceparent,
  type RequestSpan,
  type TracedDelivery,
  type TracedPush,
  type TracedRequest,
  type Tracing,
} from "../../observability/tracing.ts";
import type { TracingConfig } from "./settings.ts";

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`, which is not a dependency. */
const SUCCESS = 0;

/** A collector that comes and goes is logged at most once in this time. */
const LOG_INTERVAL_MS = 60_000;

/** Exports spans, and logs when the collector is lost and recovers instead of each failed export. */
export class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Log;
  readonly #now: () => number;
  /** Time of the first failure since the last success. */
  #lostAt: number | null = null;
  #lostSpans = 0;
  #isLogged = false;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(exporter: SpanExporter, log: Log, now: () => number = Date.now) {
    this.#exporter = exporter;
    this.#log = log;
    this.#now = now;
  }

  export: SpanExporter["export"] = (spans, done) => {
    this.#exporter.export(spans, ({ code, error }) => {
      if (code === SUCCESS) this.#succeeded();
      else this.#failed(spans.length, error);
      // The processor would log each failure, and retries none.
      done({ code: SUCCESS });
    });
  };

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #failed(spans: number, error: Error | undefined): void {
    const now = this.#now();
    this.#lostAt ??= now;
    this.#lostSpans += spans;
    metrics.spansLost.inc(spans);
    if (this.#isLogged || now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#isLogged = true;
    this.#loggedAt = now;
    const reason = error?.message || (error as NodeJS.ErrnoException | undefined)?.code || "unknown";
    this.#log.warn(
      { reason },
      "tracing: the collector cannot be reached; spans are dropped until it is back",
    );
  }

  #succeeded(): void {
    if (this.#lostAt === null) return;
    const away_seconds = Math.round((this.#now() - this.#lostAt) / 1000);
    this.#lostAt = null;
    if (!this.#isLogged) return;
    this.#log.info({ lost_spans: this.#lostSpans, away_seconds }, "tracing: the collector is back");
    this.#isLogged = false;
    this.#lostSpans = 0;
  }
}

/** Logs OpenTelemetry's other messages. */
function logDiagnostics(log: Log): void {
  const warn = (message: string, ...details: unknown[]) => log.warn({ details }, `tracing: ${message}`);
  const ignore = () => {};
  const logger: DiagLogger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

const EXPORT_TIMEOUT_MS = 2000;
const LAST_EXPORT_MS = 1000;

/** Names the node as in the log: a trace spans several. */
const RESOURCE = {
  "service.name": "sensorium",
  "service.instance.id": identity.instance,
  "sensorium.node": identity.node,
};

/** The actions that make events durable; their spans are linked from deliveries. */
const PUBLISHING = new Set(["events.publish", "events.ingest"]);

/** A node's tracing, by OTLP over HTTP. */
export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(url: string, config: TracingConfig, log: Log) {
    logDiagnostics(log);
    const exporter = new WatchedExporter(
      new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS }),
      log,
    );
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes(RESOURCE))
        .merge(detectResources({ detectors: [envDetector] })),
      sampler: samplerOf(config),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000, maxQueueSize: 8192 })],
    });
    this.#tracer = this.#provider.getTracer("sensorium");
  }

  readonly middleware: Middleware = {
    name: "Tracing of actions",
    localAction: (next: ActionHandler, action: ActionSchema) => this.#traced(next, action.name as string),
  };

  request(request: TracedRequest, traceparent: string | undefined): RequestSpan {
    const options = { kind: SpanKind.SERVER, attributes: requestAttributes(request) };
    const span = this.#tracer.startSpan(
      `${request.method} ${request.route}`,
      options,
      parentContext(traceparent),
    );
    return {
      traceparent: asTraceparent(span),
      end(status) {
        if (status === null) span.setAttribute("error.type", "client_disconnected");
        else span.setAttribute("http.response.status_code", status);
        // 4xx is the client's error and does not fail a server span.
        if (status !== null && status >= 500) fail(span, String(status));
        span.end();
      },
    };
  }

  /**
   * Creates the consumer span of a delivery, from enqueued to delivered. It starts a separate trace, linked to the
   * publish: one event has many receivers, at any later time (OpenTelemetry messaging conventions).
   */
  handedOut(delivery: TracedDelivery): string | undefined {
    const publish = parseContext(delivery.traceparent);
    if (!publish) return undefined;
    const links: Link[] = [{ context: publish }];
    const attributes = deliveryAttributes(delivery);
    const options = {
      kind: SpanKind.CONSUMER,
      ...{ root: true, links, attributes, startTime: delivery.created_at },
    };
    const span = this.#tracer.startSpan(`deliver ${DESTINATION}`, options, ROOT_CONTEXT);
    span.end();
    return asTraceparent(span);
  }

  push(push: TracedPush): PushSpan {
    const options = { kind: SpanKind.CLIENT, attributes: pushAttributes(push) };
    const span = this.#tracer.startSpan("POST", options, parentContext(push.traceparent));
    return {
      traceparent: asTraceparent(span),
      end(outcome) {
        if ("error" in outcome) fail(span, outcome.error);
        else {
          span.setAttribute("http.response.status_code", outcome.status);
          if (outcome.status >= 400) fail(span, String(outcome.status));
        }
        span.end();
      },
    };
  }

  async stop(): Promise<void> {
    // An unreachable collector must not hold up the node; the log reports it.
    const givenUp = new Promise<void>((resolve) => setTimeout(resolve, LAST_EXPORT_MS).unref());
    await Promise.race([this.#provider.shutdown().catch(() => undefined), givenUp]);
  }

  #traced(handler: ActionHandler, name: string): ActionHandler {
    // Despite its type, Moleculer calls it without a service as `this`.
    const next = handler as (ctx: CallContext) => unknown;
    const publishes = PUBLISHING.has(name);
    const kind = publishes ? SpanKind.PRODUCER : SpanKind.INTERNAL;
    const attributes: Attributes = publishes ? PUBLISH : {};
    const spanName = publishes ? `publish ${DESTINATION}` : name;
    return async (ctx: CallContext) => {
      const meta = ctx.meta as Meta;
      const before = meta.traceparent;
      // Sweeps and other work without a request would only be noise.
      if (!before) return next(ctx);
      const span = this.#tracer.startSpan(spanName, { kind, attributes }, parentContext(before));
      meta.traceparent = asTraceparent(span);
      try {
        const result = await next(ctx);
        if (publishes) span.setAttributes(publishedAttributes(ctx.params, result));
        return result;
      } catch (err) {
        const { type, name = "Error" } = err as { type?: string; name?: string };
        fail(span, type ?? name);
        throw err;
      } finally {
        // Moleculer merges a callee's meta into its caller's, which must keep its own span.
        meta.traceparent = before;
        span.end();
      }
    };
  }
}

/** The sampler of these settings. */
export function samplerOf(config: TracingConfig) {
  const [, isParentBased, name] = /^(parentbased_)?(.+)$/.exec(config.OTEL_TRACES_SAMPLER) ?? [];
  const share = { always_on: 1, always_off: 0 }[name as string] ?? config.OTEL_TRACES_SAMPLER_ARG;
  const root = new TraceIdRatioBasedSampler(share);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function parseContext(traceparent: string | undefined) {
  const context = parseTraceparent(traceparent);
  if (!context) return null;
  const { trace_id: traceId, span_id: spanId, sampled } = context;
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

function parentContext(traceparent: string | undefined): Context {
  const context = parseContext(traceparent);
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function asTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? "01" : "00"}`;
}

/** Destination of published and delivered events, in the messaging conventions. */
const DESTINATION = "events";

const MESSAGING: Attributes = {
  "messaging.system": "sensorium",
  "messaging.destination.name": DESTINATION,
};
const PUBLISH: Attributes = {
  ...MESSAGING,
  "messaging.operation.type": "send",
  "messaging.operation.name": "publish",
};

/** Attributes of a server span, without the query, which may contain search terms. */
function requestAttributes(request: TracedRequest): Attributes {
  const { method, route, path, scheme, host, client_address, peer_address } = request;
  const server = host === undefined ? null : URL.parse(`${scheme}://${host}`);
  return {
    "http.request.method": method,
    "http.route": route,
    "url.path": path,
    "url.scheme": scheme,
    "server.address": server?.hostname,
    "server.port": server ? portOf(server) : undefined,
    "client.address": client_address,
    "network.peer.address": peer_address,
    "network.protocol.version": request.protocol_version,
    "user_agent.original": request.user_agent,
  };
}

/** Attributes of a client span, without credentials and the query of the endpoint's address, which may be secrets. */
function pushAttributes({ url: text, delivery_id, attempt_count }: TracedPush): Attributes {
  const url = new URL(text);
  return {
    "http.request.method": "POST",
    "url.full": url.origin + url.pathname,
    "server.address": url.hostname,
    "server.port": portOf(url),
    "sensorium.delivery.id": delivery_id,
    "sensorium.delivery.attempt": attempt_count,
  };
}

/** Attributes of an answered publish: one event, or a batch. */
function publishedAttributes(params: unknown, result: unknown): Attributes {
  const { event, events } = params as { event?: CloudEvent; events?: unknown[] };
  if (events) return { "messaging.batch.message_count": events.length };
  return {
    "messaging.message.id": (result as { event_id?: string } | undefined)?.event_id,
    "cloudevents.event_id": textOrNone(event?.id),
    "cloudevents.event_source": textOrNone(event?.source),
    "cloudevents.event_type": textOrNone(event?.type),
    "cloudevents.event_spec_version": textOrNone(event?.specversion),
  };
}

function deliveryAttributes(delivery: TracedDelivery): Attributes {
  return {
    ...MESSAGING,
    "messaging.operation.type": "receive",
    "messaging.operation.name": "deliver",
    "messaging.destination.subscription.name": delivery.agent_id,
    "messaging.message.id": delivery.event_id,
    "sensorium.delivery.id": delivery.delivery_id,
    "sensorium.delivery.attempt": delivery.attempt_count,
  };
}

function portOf({ port, protocol }: URL): number {
  return port ? Number(port) : protocol === "https:" ? 443 : 80;
}

/** Published events are not validated yet. */
function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
