import { describe, expect, test } from "@jest/globals";
import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from "@opentelemetry/api";
import { SamplingDecision } from "@opentelemetry/sdk-trace";
import { valuesOf } from "../../../../config.ts";
import { readAllSettings } from "../../../../services/extensions.ts";
import { samplerOf } from "../../otel.ts";
import { TRACING_SETTINGS, tracesUrl } from "../../settings.ts";

const read = (env: object) => valuesOf(readAllSettings(env as NodeJS.ProcessEnv), TRACING_SETTINGS);

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector:4318/otlp/" };

const OWN = "https://collector/own?tenant=a";
test.each([
  [{}, null],
  [ON, "https://collector:4318/otlp/v1/traces"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }, "http://collector:4318/v1/traces"],
  [{ ...ON, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: OWN }, OWN],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: OWN }, OWN],
  [
    { ...ON, OTEL_TRACES_EXPORTER: "otlp", OTEL_SDK_DISABLED: "false" },
    `${ON.OTEL_EXPORTER_OTLP_ENDPOINT}v1/traces`,
  ],
  [{ ...ON, OTEL_TRACES_EXPORTER: "none" }, null],
  [{ ...ON, OTEL_SDK_DISABLED: "true" }, null],
])("where traces are sent: %j: %s", (env, url) => expect(tracesUrl(read(env))).toBe(url));

test.each([
  ["0.25", 0.25],
  ["1e-05", 0.00001],
])("a share as YAML writes it: %s", (given, share) =>
  expect(read({ OTEL_TRACES_SAMPLER_ARG: given }).OTEL_TRACES_SAMPLER_ARG).toBe(share),
);

describe("what the SDK would ignore is refused", () => {
  const HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";
  test.each([
    [{ [HEADERS]: "Authorization" }, /^OTEL_EXPORTER_OTLP_HEADERS is malformed: expected NAME=VALUE/],
    [{ [HEADERS]: "a=1,=2" }, /HEADERS is malformed/],
    [{ [HEADERS]: "a=" }, /HEADERS is malformed/],
    [{ [HEADERS]: "a b=1" }, /HEADERS is malformed/],
    [{ [HEADERS]: "a=100%" }, /HEADERS is malformed/],
    [{ [HEADERS]: "a=line%0Abreak" }, /HEADERS is malformed/],
    [{ [HEADERS]: "a=1;b=2" }, /HEADERS is malformed/],
    [{ OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a" }, /OTEL_EXPORTER_OTLP_TRACES_HEADERS is malformed/],
    [{ OTEL_RESOURCE_ATTRIBUTES: "team" }, /OTEL_RESOURCE_ATTRIBUTES is "team": expected NAME=VALUE/],
    [{ OTEL_RESOURCE_ATTRIBUTES: "team=a=b" }, /OTEL_RESOURCE_ATTRIBUTES is "team=a=b"/],
    [{ OTEL_RESOURCE_ATTRIBUTES: "team=100%" }, /OTEL_RESOURCE_ATTRIBUTES is "team=100%"/],
    [
      { OTEL_TRACES_SAMPLER: "xray" },
      /OTEL_TRACES_SAMPLER is "xray": expected one of always_on, always_off, traceidratio, parentbased_/,
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: "10" }, /OTEL_TRACES_SAMPLER_ARG is "10": expected a number from 0 to 1/],
    [{ OTEL_TRACES_SAMPLER_ARG: "half" }, /OTEL_TRACES_SAMPLER_ARG is "half"/],
    [{ OTEL_TRACES_SAMPLER_ARG: " " }, /OTEL_TRACES_SAMPLER_ARG is " "/],
    [{ OTEL_TRACES_EXPORTER: "console" }, /OTEL_TRACES_EXPORTER is "console": expected one of otlp, none/],
  ])("%j", (env, message) => expect(() => read({ ...ON, ...env })).toThrow(message));

  test("with no value of a header in the error", () => {
    const env = { ...ON, [HEADERS]: "Authorization=Bearer s3cret%" };
    expect(() => read(env)).toThrow(/^(?!.*s3cret)/);
  });

  test.each([
    [HEADERS, "Authorization=Basic%20YTpi==, x-scope = a%2Cb%3B ,"],
    ["OTEL_RESOURCE_ATTRIBUTES", "service.namespace=shop, k8s.pod.name=web-1,note=a%3Db,empty="],
  ])("but not %s=%s", (name, value) =>
    expect(read({ ...ON, [name]: value })).toMatchObject({ [name]: value }),
  );

  test("nothing of it without a collector", () => {
    const env = { OTEL_RESOURCE_ATTRIBUTES: "team", OTEL_EXPORTER_OTLP_HEADERS: "team" };
    expect(read(env)).toMatchObject(env);
  });
});

/** The XOR of its four parts is what a share is compared with: 0.25 and 0.75 of the largest. */
const IDS = { low: `40000000${"0".repeat(23)}1`, high: `c0000000${"0".repeat(23)}1` };
const isSampled = (env: Record<string, string>, traceId: string, parent?: TraceFlags) => {
  const context =
    parent === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, {
          ...{ traceId, spanId: "1".repeat(16), isRemote: true },
          traceFlags: parent,
        });
  const { decision } = samplerOf(read(env)).shouldSample(context, traceId, "x", SpanKind.SERVER, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
};
const HALF = { OTEL_TRACES_SAMPLER_ARG: "0.5" };

test.each([
  // New traces with a low and a high id, and those of callers who sample, and who do not.
  [{}, [true, true, true, false]],
  [{ OTEL_TRACES_SAMPLER: "parentbased_always_on" }, [true, true, true, false]],
  [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, [false, false, true, false]],
  [{ OTEL_TRACES_SAMPLER: "parentbased_traceidratio", ...HALF }, [true, false, true, false]],
  [{ OTEL_TRACES_SAMPLER: "always_on", ...HALF }, [true, true, true, true]],
  [{ OTEL_TRACES_SAMPLER: "always_off" }, [false, false, false, false]],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", ...HALF }, [true, false, false, true]],
  [{ OTEL_TRACES_SAMPLER: "traceidratio" }, [true, true, true, true]],
])("samplers: %j", (env, expected) =>
  expect([
    ...[isSampled(env, IDS.low), isSampled(env, IDS.high), isSampled(env, IDS.high, TraceFlags.SAMPLED)],
    isSampled(env, IDS.low, TraceFlags.NONE),
  ]).toEqual(expected),
);
