import { Link } from "react-router";
import type { Approval, EvidenceCard } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { isWebLink } from "../../data/links.ts";
import { useRead } from "../../data/queries.ts";
import { Diff } from "../../ui/diff.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { Load } from "../../ui/table.tsx";
import { Badge, type Tone } from "../../ui/text.tsx";
import "./evidence.css";

const PLACES = { event: "events", memory: "memories", output: "outputs", document: "documents" } as const;

const STATES: Record<NonNullable<EvidenceCard["state"]>, { label: string; tone: Tone }> = {
  unchanged: { label: "Unchanged since asked", tone: "neutral" },
  changed: { label: "Changed since asked", tone: "warn" },
  superseded: { label: "Superseded", tone: "warn" },
  forgotten: { label: "Forgotten", tone: "bad" },
  unavailable: { label: "Deleted, or not shared with you", tone: "neutral" },
};

/** The evidence of a question as cards, with its changes since the question was asked. */
export function Evidence({ of: { id, evidence } }: { of: Approval }) {
  const cards = useRead(api.approvals.evidence, { id }, [
    "approval",
    "memory",
    "output",
    "document",
    "event",
  ]);
  if (evidence.length === 0) return null;
  return (
    <Load of={cards}>
      {(read) => (
        <ul className="evidence" aria-label="Evidence">
          {read.evidence.map((card) => (
            <EvidenceItem key={`${card.kind} ${card.id}`} card={card} />
          ))}
        </ul>
      )}
    </Load>
  );
}

function EvidenceItem({ card }: { card: EvidenceCard }) {
  const { kind, id, state, text, title, current } = card;
  return (
    <li>
      <div className="row">
        <span className="muted small grow">{capitalised(kind)}</span>
        {state && <Badge {...STATES[state]} />}
      </div>
      <p className="evidence-title">
        <EvidenceLink kind={kind} id={id} label={title ?? id} />
      </p>
      {text && <p className={kind === "event" ? "evidence-text code" : "evidence-text"}>{text}</p>}
      {state === "changed" && !current && (
        <p className="muted small">This is its present text: the one before was not kept.</p>
      )}
      {current && (
        <details>
          <summary>What has changed</summary>
          {current.id !== id && (
            <p className="small">
              Now: <EvidenceLink kind={kind} id={current.id} label={current.title} />
            </p>
          )}
          <Diff before={text ?? ""} after={current.text} />
        </details>
      )}
    </li>
  );
}

function EvidenceLink({ kind, id, label }: Pick<EvidenceCard, "kind" | "id"> & { label: string }) {
  if (kind === "link") return isWebLink(id) ? <OutsideLink to={id}>{label}</OutsideLink> : id;
  return <Link to={`/${PLACES[kind]}/${id}`}>{label}</Link>;
}
