import type { ValuesOf } from "../../config.ts";
import { ConfigError, flag, number, type Setting, text, web } from "../../lib/settings.ts";

// Not imported, as in services/edge/gateway/server.ts.
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

const SAMPLERS = ["always_on", "always_off", "traceidratio"];

/**
 * The variables of OpenTelemetry, with the meaning of its specification. Its SDK itself reads those of headers and of
 * the resource.
 */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: web(
    "OTLP collector (HTTP, JSON) to which traces are sent, at `/v1/traces` below this address. Default: none, tracing is off.",
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: web(
    "The full address to which traces are sent, instead of one below `OTEL_EXPORTER_OTLP_ENDPOINT`.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: text(
    null,
    "Headers of requests to the collector, comma-separated: `Authorization=Bearer%20TOKEN`. Values are percent-encoded.",
    { secret: true },
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: text(
    null,
    "Headers for traces alone, in addition to `OTEL_EXPORTER_OTLP_HEADERS`.",
    { secret: true },
  ),
  OTEL_SERVICE_NAME: text(null, "The attribute `service.name` of traces. Default: `sensorium`."),
  OTEL_RESOURCE_ATTRIBUTES: text(
    null,
    "Further attributes of traces, comma-separated and percent-encoded: `deployment.environment.name=staging`.",
  ),
  OTEL_TRACES_SAMPLER: text(
    "parentbased_always_on",
    "Which traces are sent. With `parentbased_`, the trace of a caller is sent if the caller sends it.",
    { oneOf: ["", "parentbased_"].flatMap((prefix) => SAMPLERS.map((name) => prefix + name)) },
  ) as Setting<string>,
  OTEL_TRACES_SAMPLER_ARG: number(1, "Share of traces that `traceidratio` sends.", 0, 1),
  OTEL_TRACES_EXPORTER: text("otlp", "`none` sends no traces.", {
    oneOf: ["otlp", "none"],
  }) as Setting<string>,
  OTEL_SDK_DISABLED: flag(false, "Whether tracing is off, whatever the other settings say."),
};

export type TracingConfig = ValuesOf<typeof TRACING_SETTINGS>;

/** Returns the address that traces are sent to, null if none are. */
export function tracesUrl(config: TracingConfig): string | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = config;
  if (config.OTEL_SDK_DISABLED || config.OTEL_TRACES_EXPORTER === "none") return null;
  return own ?? (base && `${base.replace(/\/$/, "")}/v1/traces`);
}

/** @throws ConfigError for what the SDK would ignore without a word */
export function checkTracing(config: TracingConfig): void {
  if (!tracesUrl(config)) return;
  for (const name of ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"] as const)
    if (!everyPair(config[name], isHeader))
      throw new ConfigError(
        `${name} is malformed: expected NAME=VALUE, comma-separated. Write a comma as %2C, ; as %3B and % as %25.`,
      );
  const { OTEL_RESOURCE_ATTRIBUTES: attributes } = config;
  if (!everyPair(attributes, (name, value) => !`${name}${value}`.includes("=")))
    throw new ConfigError(
      `OTEL_RESOURCE_ATTRIBUTES is ${JSON.stringify(attributes)}: expected NAME=VALUE, comma-separated. Write a comma as %2C, = as %3D and % as %25.`,
    );
}

/** Whether every pair is encoded well, and passes `is` as it was given. */
function everyPair(text: string | null, is: (name: string, value: string) => boolean): boolean {
  const pairs = (text ?? "").split(",").filter((pair) => pair.trim());
  return pairs.every((pair) => {
    const [, name = "", value = ""] = /^\s*([^=]*[^=\s])\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    try {
      decodeURIComponent(pair);
      return name !== "" && is(name, value);
    } catch {
      return false;
    }
  });
}

function isHeader(name: string, value: string): boolean {
  validateHeaderName(decodeURIComponent(name));
  validateHeaderValue(name, decodeURIComponent(value));
  return value !== "" && !value.includes(";");
}
