import {
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
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { ActionHandler, ActionSchema, Context as CallContext, Middleware } from "moleculer";
import type { Meta } from "../lib/caller.ts";
import type { Log } from "./log.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";
import type { HandedOut, RequestSpan, Tracing } from "./tracing.ts";

const EXPORT_TIMEOUT_MS = 2000;
const LAST_EXPORT_MS = 1000;

/** The action in which an event becomes durable: the span that its deliveries link to. */
const PUBLISH = "events.publish";

/** Traces by OTLP over HTTP. Contexts are passed by hand, in `ctx.meta`, which also crosses nodes. */
export class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  /** @param endpoint Base address of the collector, as `OTEL_EXPORTER_OTLP_ENDPOINT` has it. */
  constructor(endpoint: string, log: Log) {
    diag.setLogger(toldTo(log), DiagLogLevel.WARN);
    const url = `${endpoint.replace(/\/$/, "")}/v1/traces`;
    const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ "service.name": "afferent" }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000, maxQueueSize: 8192 })],
    });
    this.#tracer = this.#provider.getTracer("afferent");
  }

  readonly middleware: Middleware = {
    name: "Tracing of actions",
    localAction: (next: ActionHandler, action: ActionSchema) => this.#traced(next, action.name as string),
  };

  request(method: string, route: string, traceparent: string | undefined): RequestSpan {
    const attributes = { "http.request.method": method, "http.route": route };
    const span = this.#tracer.startSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes },
      parentOf(traceparent),
    );
    return {
      traceparent: asTraceparent(span),
      end(status) {
        span.setAttribute("http.response.status_code", status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  handedOut({ delivery_id, event_id, agent_id, attempt_count, created_at, traceparent }: HandedOut): void {
    const publish = contextOf(traceparent);
    if (!publish) return;
    const links: Link[] = [{ context: publish }];
    const attributes = {
      "messaging.system": "afferent",
      "messaging.operation.type": "receive",
      "messaging.operation.name": "deliver",
      "messaging.destination.name": agent_id,
      "messaging.message.id": event_id,
      "afferent.delivery.id": delivery_id,
      "afferent.delivery.attempt": attempt_count,
    };
    const options = { kind: SpanKind.CONSUMER, root: true, links, attributes, startTime: created_at };
    this.#tracer.startSpan("deliver", options, ROOT_CONTEXT).end();
  }

  async stop(): Promise<void> {
    // A collector that is away must not keep the node: the log says that it is.
    const givenUp = new Promise<void>((resolve) => setTimeout(resolve, LAST_EXPORT_MS).unref());
    await Promise.race([this.#provider.shutdown().catch(() => undefined), givenUp]);
  }

  #traced(handler: ActionHandler, name: string): ActionHandler {
    // Moleculer calls it without a service as `this`, whatever its type says.
    const next = handler as (ctx: CallContext) => unknown;
    const kind = name === PUBLISH ? SpanKind.PRODUCER : SpanKind.INTERNAL;
    const attributes = kind === SpanKind.PRODUCER ? PUBLISH_ATTRIBUTES : {};
    return async (ctx: CallContext) => {
      const meta = ctx.meta as Meta;
      const before = meta.traceparent;
      // Sweeps and other work that no request caused would only be noise.
      if (!before) return next(ctx);
      const span = this.#tracer.startSpan(name, { kind, attributes }, parentOf(before));
      meta.traceparent = asTraceparent(span);
      try {
        return await next(ctx);
      } catch (err) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: (err as { type?: string }).type ?? "" });
        throw err;
      } finally {
        // Moleculer merges a callee's meta into its caller's: the caller's own span has to stay there.
        meta.traceparent = before;
        span.end();
      }
    };
  }
}

const PUBLISH_ATTRIBUTES = {
  "messaging.system": "afferent",
  "messaging.operation.type": "send",
  "messaging.operation.name": "publish",
};

/** What OpenTelemetry has to say: mostly that the collector cannot be reached. */
function toldTo(log: Log): DiagLogger {
  const tell = (message: string, ...details: unknown[]) => log.warn({ details }, `tracing: ${message}`);
  return { error: tell, warn: tell, info: () => {}, debug: () => {}, verbose: () => {} };
}

function contextOf(traceparent: string | undefined) {
  const context = parseTraceparent(traceparent);
  if (!context) return null;
  const { trace_id: traceId, span_id: spanId, sampled } = context;
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

function parentOf(traceparent: string | undefined): Context {
  const context = contextOf(traceparent);
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function asTraceparent(span: Span): string {
  const { traceId: trace_id, spanId: span_id, traceFlags } = span.spanContext();
  return formatTraceparent({ trace_id, span_id, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 });
}
