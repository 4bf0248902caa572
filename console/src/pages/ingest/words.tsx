import { Lock } from "lucide-react";
import type { Connector } from "../../../../client/index.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Empty } from "../../ui/page.tsx";

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
      {connector.state}
    </Badge>
  );
}

export function AdminsOnly({ what }: { what: string }) {
  return (
    <Empty icon={Lock} title="For admins">
      {what} are seen and changed by the organisation’s admins.
    </Empty>
  );
}
