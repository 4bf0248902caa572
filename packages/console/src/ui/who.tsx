import { Link } from "react-router";
import { knownName, ownerOf, titledId } from "../data/names.ts";
import { useNames } from "../data/use-names.ts";
import { useSession } from "../shell/session.tsx";

/**
 * An agent, a person or a team, by name. Without permission, shows a short form of the id, and the id on hover. A
 * readable agent is a link.
 */
export function Who({ id }: { id: string }) {
  const { may } = useSession();
  const name = useNames()(id);
  if (knownName(id) === undefined) return <span title={id}>{name}</span>;
  const canBeRead = id.startsWith("ag_") && (may("agents.list") || ownerOf(id, may) !== undefined);
  return canBeRead ? <Link to={`/agents/${id}`}>{name}</Link> : name;
}

const PATHS = { run: "/runs/", memory: "/memories/", document: "/documents/" };

/** The event whose subject is shown. */
interface Subjected {
  type: string;
  subject?: string | null | undefined;
  data?: unknown;
}

/** Returns what the subject of one of the service's own events names; undefined for other events. */
function kindOfSubject(type: string): keyof typeof PATHS | undefined {
  const [, kind] = /^(?:service\.)?(run|memory|document)\./.exec(type) ?? [];
  return type.startsWith("service.") || type === "memory.cited" ? (kind as keyof typeof PATHS) : undefined;
}

/** The subject of an event: of the service's own events, the title of what they are about, as a link. */
export function Subject({ event }: { event: Subjected }) {
  const { type, subject, data } = event;
  const kind = kindOfSubject(type);
  const name = useNames()(kind && subject ? titledId(kind, subject) : "");
  if (!subject) return "–";
  if (kind) {
    // By a short form of its id if it is deleted or not readable.
    if (knownName(titledId(kind, subject)) === undefined) return <span title={subject}>{name}</span>;
    return <Link to={PATHS[kind] + subject}>{name}</Link>;
  }
  const { agent_id } = (data ?? {}) as { agent_id?: unknown };
  if (type !== "service.delivery.dead_lettered" || typeof agent_id !== "string") return subject;
  return (
    <>
      to <Who id={agent_id} />
    </>
  );
}

/** The same as text, for places that are links themselves. */
export function SubjectText({ event: { type, subject } }: { event: Subjected }) {
  const nameOf = useNames();
  const kind = kindOfSubject(type);
  return kind && subject ? nameOf(titledId(kind, subject)) : subject;
}
