import type { Middleware } from "moleculer";

/** Creates and exports the spans of a node. Contexts are passed explicitly in `ctx.meta`, which also crosses nodes. */
export interface Tracing {
  /** Creates a span for every action of a traced request. */
  readonly middleware: Middleware;
  /** Starts the span of a request, in the caller's trace if there is one. */
  request(request: TracedRequest, traceparent: string | undefined): RequestSpan;
  /** Creates the span of a delivery. Returns its context; undefined for one whose publish was not traced. */
  handedOut(delivery: TracedDelivery): string | undefined;
  /** Starts the span of a push, as a child of its delivery's. */
  push(push: TracedPush): PushSpan;
  /** Sends pending spans, if the collector accepts them soon. */
  stop(): Promise<void>;
}

/** An HTTP request, in the terms of OpenTelemetry's semantic conventions. */
export interface TracedRequest {
  method: string;
  /** The path with its placeholders: `/v1/events/{event_id}`. */
  route: string;
  path: string;
  scheme: string;
  /** The header `Host`. */
  host: string | undefined;
  client_address: string | undefined;
  peer_address: string | undefined;
  protocol_version: string;
  user_agent: string | undefined;
}

/** The span of one HTTP request. */
export interface RequestSpan {
  /** The span as the parent of the request's further spans. */
  readonly traceparent: string;
  /** @param status null if the caller left before the answer */
  end(status: number | null): void;
}

/** A delivery when its receiver got it. */
export interface TracedDelivery {
  delivery_id: string;
  event_id: string;
  agent_id: string;
  attempt_count: number;
  /** When it was enqueued. */
  created_at: Date;
  /** Of the publish that caused it, if traced. */
  traceparent?: string | undefined;
}

/** One attempt to push a delivery. */
export interface TracedPush {
  url: string;
  delivery_id: string;
  attempt_count: number;
  /** The delivery's own span. */
  traceparent: string;
}

/** The span of one push. */
export interface PushSpan {
  readonly traceparent: string;
  /** Ends the span with the endpoint's status, or the kind of error that prevented one. */
  end(outcome: { status: number } | { error: string }): void;
}

/** A parsed W3C trace context (`traceparent`). */
interface TraceContext {
  trace_id: string;
  span_id: string;
  sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 0x01;

/** Parses a `traceparent`; null if missing or malformed (W3C Trace Context, "Versioning of traceparent"). */
export function parseTraceparent(text: unknown): TraceContext | null {
  const parts = typeof text === "string" ? TRACEPARENT.exec(text) : null;
  if (!parts) return null;
  const [, version, trace_id, span_id, flags, rest] = parts as unknown as string[];
  const unknownVersion = version === "ff" || (version === "00" && rest !== undefined);
  if (unknownVersion || /^0+$/.test(trace_id as string) || /^0+$/.test(span_id as string)) return null;
  return {
    trace_id: trace_id as string,
    span_id: span_id as string,
    sampled: (Number.parseInt(flags as string, 16) & SAMPLED) === SAMPLED,
  };
}
