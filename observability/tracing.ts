import type { Middleware } from "moleculer";
import type { Config } from "../config.ts";
import type { Log } from "./log.ts";

/** The span of one HTTP request. */
export interface RequestSpan {
  /** The span as the parent of what the request causes. */
  readonly traceparent: string;
  end(status: number): void;
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

/** The traces a node makes. Absent without an exporter: callers hold `Tracing | null` and pay nothing. */
export interface Tracing {
  /** Makes a span of every action that runs for a traced request. */
  readonly middleware: Middleware;
  /** Begins the span of a request, in the caller's trace when it brought one. */
  request(method: string, route: string, traceparent: string | undefined): RequestSpan;
  /**
   * Makes the consumer span of a delivery, from enqueued to handed out. It begins a trace of its own, linked to the
   * publish: one event has many receivers, at any later time (OpenTelemetry messaging conventions).
   */
  handedOut(delivery: HandedOut): void;
  /** Sends what is not sent yet, if the collector takes it soon. */
  stop(): Promise<void>;
}

/** Starts tracing when `OTEL_EXPORTER_OTLP_ENDPOINT` is set. The OpenTelemetry SDK is loaded only then. */
export async function startTracing(config: Config, log: Log): Promise<Tracing | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint) return null;
  const { OtelTracing } = await import("./otel.ts");
  return new OtelTracing(endpoint, log);
}
