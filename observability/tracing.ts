import type { Middleware } from "moleculer";

/** An HTTP request as the semantic conventions of OpenTelemetry describe it. */
export interface TracedRequest {
  method: string;
  /** With its placeholders, from the origin on: `/v1/events/{event_id}`. */
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

/** The span of one HTTP request that is served. */
export interface RequestSpan {
  /** The span as the parent of what the request causes. */
  readonly traceparent: string;
  /** @param status null when the caller left before it was answered */
  end(status: number | null): void;
}

/** A delivery at the moment its receiver got it. */
export interface HandedOut {
  delivery_id: string;
  event_id: string;
  agent_id: string;
  attempt_count: number;
  /** When it was enqueued. */
  created_at: Date;
  /** Of the publish that caused it, when that was traced. */
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
  /** What the endpoint answered, or the kind of error that kept it from answering. */
  end(outcome: { status: number } | { error: string }): void;
}

/** The traces a node makes. Absent without an exporter: callers hold `Tracing | null` and pay nothing. */
export interface Tracing {
  /** Makes a span of every action that runs for a traced request. */
  readonly middleware: Middleware;
  /** Begins the span of a request, in the caller's trace when it brought one. */
  request(request: TracedRequest, traceparent: string | undefined): RequestSpan;
  /**
   * Makes the consumer span of a delivery, from enqueued to handed out. It begins a trace of its own, linked to the
   * publish: one event has many receivers, at any later time (OpenTelemetry messaging conventions).
   *
   * @returns its context; undefined for a delivery whose publish was not traced
   */
  handedOut(delivery: HandedOut): string | undefined;
  /** Begins the span of a push, below that of its delivery. */
  push(push: TracedPush): PushSpan;
  /** Sends what is not sent yet, if the collector takes it soon. */
  stop(): Promise<void>;
}
