import {
  type Attributes,
  type Context,
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
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ActionHandler, ActionSchema, Context as CallContext, Middleware } from "moleculer";
import type { Meta } from "../lib/access/caller.ts";
import type { TracingConfig } from "../lib/tracing-settings.ts";
import { identity } from "./identity.ts";
import type { Log } from "./log.ts";
import {
  DESTINATION,
  deliveryAttributes,
  publishAttributes,
  publishedAttributes,
  pushAttributes,
  requestAttributes,
} from "./span-attributes.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";
import type {
  AcknowledgementCounts,
  PushSpan,
  RequestSpan,
  TracedPush,
  TracedRequest,
  Tracing,
} from "./tracing.ts";
import { logDiagnostics, WatchedExporter } from "./watched-exporter.ts";

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

/** Traces by OTLP over HTTP. Contexts are passed explicitly in `ctx.meta`, which also crosses nodes. */
export class OtelTracing implements Tracing {
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

  handedOut(delivery: AcknowledgementCounts): string | undefined {
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
    const attributes: Attributes = publishes ? publishAttributes() : {};
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
  const { traceId: trace_id, spanId: span_id, traceFlags } = span.spanContext();
  return formatTraceparent({ trace_id, span_id, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 });
}
