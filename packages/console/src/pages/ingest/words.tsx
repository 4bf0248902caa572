import type { Connector } from "../../../../client/index.ts";
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
  return (
    <Badge tone={TONE[connector.state]} dot>
      {capitalised(connector.state)}
    </Badge>
  );
}
