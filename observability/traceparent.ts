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

export function formatTraceparent({ trace_id, span_id, sampled }: TraceContext): string {
  return `00-${trace_id}-${span_id}-${sampled ? "01" : "00"}`;
}
