import { useMemo } from "react";

const HOUR_MS = 3_600_000;
/** Ranges that end now, by their name in the address. */
const LAST: Record<string, number> = {
  "1h": HOUR_MS,
  "24h": 24 * HOUR_MS,
  "7d": 168 * HOUR_MS,
  "30d": 720 * HOUR_MS,
};

export const RANGES = [
  { value: "", label: "Any time" },
  { value: "1h", label: "Last hour" },
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "custom", label: "From … until …" },
] as const;

/** Returns the bounds of the range in the address, as the API takes them. A range that ends now begins once. */
export function useTimeRange(search: URLSearchParams): { since?: string; until?: string } {
  const [range, from, until] = ["range", "since", "until"].map((name) => search.get(name) ?? "");
  return useMemo(() => {
    const last = LAST[range ?? ""];
    if (last) return { since: new Date(Date.now() - last).toISOString() };
    if (range !== "custom") return {};
    const [first, end] = [toIso(from), toIso(until)];
    return { ...(first && { since: first }), ...(end && { until: end }) };
  }, [range, from, until]);
}

/** Converts the value of a `datetime-local` field, in this browser's time zone. */
function toIso(local = ""): string | undefined {
  const at = new Date(local);
  return local && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
}
