import type { Config } from "../config.ts";
import type { Log } from "./log.ts";
import type { Tracing } from "./tracing.ts";

/** Starts tracing if `OTEL_EXPORTER_OTLP_ENDPOINT` is set, and only then loads the OpenTelemetry SDK. */
export async function startTracing(config: Config, log: Log): Promise<Tracing | null> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint) return null;
  const { OtelTracing } = await import("./otel.ts");
  return new OtelTracing(endpoint, log);
}
