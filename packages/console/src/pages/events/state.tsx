import { plural } from "../../data/format.ts";
import { capitalised } from "../../data/text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

/** The state of an event. */
export function EventState({ state, matched }: { state: string; matched: number | null }) {
  if (state === "parked") return <Badge label="Parked" tone="bad" />;
  if (state === "waiting") return <Badge label="Waiting" tone="warn" />;
  if (state === "accepted") return <Badge label="Accepted" tone="info" />;
  if (!matched) return <Badge label="Unmatched" />;
  return <Badge label={plural(matched, "receiver")} tone="good" />;
}

const TONES: Record<string, Tone> = {
  pending: "info",
  ready: "info",
  leased: "accent",
  waiting: "warn",
  acknowledged: "good",
  dead: "bad",
};

const WORDS: Record<string, string> = {
  leased: "In flight",
  waiting: "Waiting to retry",
  dead: "Dead-lettered",
};

/** The state of one delivery. */
export function DeliveryState({ state }: { state: string }) {
  return <Badge label={WORDS[state] ?? capitalised(state)} tone={TONES[state] ?? "neutral"} />;
}
