import type { Connector, WebhookRequest } from "../../../../client/index.ts";
import { capitalised } from "../../data/text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

const TONE: Record<Connector["state"], Tone> = {
  connecting: "info",
  consuming: "good",
  paused: "neutral",
  retrying: "warn",
  failed: "bad",
};

export function ConnectorState({ connector }: { connector: Connector }) {
  return <Badge label={capitalised(connector.state)} tone={TONE[connector.state]} dot />;
}

export const OUTCOMES: Record<WebhookRequest["outcome"], { label: string; tone: Tone }> = {
  accepted: { label: "Accepted", tone: "good" },
  duplicate: { label: "Duplicate", tone: "neutral" },
  dead_lettered: { label: "Dead-lettered", tone: "warn" },
  challenge: { label: "Address verified", tone: "good" },
  refused: { label: "Refused", tone: "bad" },
};

export function RequestOutcome({ request: { outcome } }: { request: WebhookRequest }) {
  const { label, tone } = OUTCOMES[outcome];
  return <Badge label={label} tone={tone} dot />;
}
