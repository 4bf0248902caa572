import type { AuditEntry } from "../../../../client/index.ts";
import { capitalised } from "../../data/text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Who } from "../../ui/who.tsx";

/** Who did it; without a person or an agent, the operator or the service. */
export function Actor({ entry: { actor_id, actor_kind } }: { entry: AuditEntry }) {
  if (!actor_id) return capitalised(actor_kind);
  return (
    <>
      <Who id={actor_id} />{" "}
      <span className="faint small">{actor_kind === "user" ? "person" : actor_kind}</span>
    </>
  );
}

const TONE: Record<AuditEntry["outcome"], Tone> = {
  begun: "warn",
  done: "good",
  refused: "bad",
  failed: "bad",
};

export function Outcome({ entry: { outcome, error } }: { entry: AuditEntry }) {
  return (
    <span title={error ?? undefined}>
      <Badge label={capitalised(outcome)} tone={TONE[outcome]} />
    </span>
  );
}
