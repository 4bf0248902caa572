import { plural } from "../../data/format.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

/** The state of an event. */
export function EventState({ state, matched }: { state: string; matched: number | null }) {
  if (state === "parked") return <Badge tone="bad">parked</Badge>;
  if (state === "accepted") return <Badge tone="info">accepted</Badge>;
  if (!matched) return <Badge>unmatched</Badge>;
  return <Badge tone="good">{plural(matched, "receiver")}</Badge>;
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
  leased: "in flight",
  ready: "ready",
  waiting: "waiting to retry",
  dead: "dead letter",
};

/** The state of one delivery. */
export function DeliveryState({ state }: { state: string }) {
  return <Badge tone={TONES[state] ?? "neutral"}>{WORDS[state] ?? state}</Badge>;
}
