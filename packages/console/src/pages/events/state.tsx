import { plural } from "../../data/format.ts";
import { capitalised } from "../../data/text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

/** The state of an event. */
export function EventState({ state, matched }: { state: string; matched: number | null }) {
  if (state === "parked") return <Badge tone="bad">Parked</Badge>;
  if (state === "waiting") return <Badge tone="warn">Waiting</Badge>;
  if (state === "accepted") return <Badge tone="info">Accepted</Badge>;
  if (!matched) return <Badge>Unmatched</Badge>;
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
  leased: "In flight",
  waiting: "Waiting to retry",
  dead: "Dead-lettered",
};

/** The state of one delivery. */
export function DeliveryState({ state }: { state: string }) {
  return <Badge tone={TONES[state] ?? "neutral"}>{WORDS[state] ?? capitalised(state)}</Badge>;
}
