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
