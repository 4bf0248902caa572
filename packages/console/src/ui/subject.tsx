import { useSyncExternalStore } from "react";
import { Link } from "react-router";
import { knownName, nameOf, namesVersion, subscribeNames, type TitledKind, titledId } from "../data/names.ts";
import { useSession } from "../shell/session.tsx";
import { Who } from "./who.tsx";

const PATHS: Record<TitledKind, string> = { run: "/runs/", memory: "/memories/", document: "/documents/" };

/** The event whose subject is shown. */
interface Subjected {
  type: string;
  subject?: string | null | undefined;
  data?: unknown;
}

/** Returns what the subject of one of the service's own events names; undefined for other events. */
function kindOfSubject(type: string): TitledKind | undefined {
  const [, kind] = /^(?:service\.)?(run|memory|document)\./.exec(type) ?? [];
  return type.startsWith("service.") || type === "memory.cited"
    ? (kind as TitledKind | undefined)
    : undefined;
}

/** The subject of an event: of the service's own events, the title of what they are about, as a link. */
export function Subject({ event }: { event: Subjected }) {
  const { type, subject, data } = event;
  if (!subject) return "–";
  const kind = kindOfSubject(type);
  if (kind) return <TitleOf kind={kind} id={subject} />;
  const { agent_id } = (data ?? {}) as { agent_id?: unknown };
  if (type === "service.delivery.dead_lettered" && typeof agent_id === "string")
    return (
      <>
        to <Who id={agent_id} />
      </>
    );
  return subject;
}

/** The same as text, for places that are links themselves. */
export function SubjectText({ event }: { event: Subjected }) {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  const { type, subject } = event;
  const kind = kindOfSubject(type);
  return kind && subject ? nameOf(titledId(kind, subject), may) : subject;
}

/** A run, memory or document by its title; by a short form of its id if it is deleted or not readable. */
function TitleOf({ kind, id }: { kind: TitledKind; id: string }) {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  const name = nameOf(titledId(kind, id), may);
  if (knownName(titledId(kind, id)) === undefined) return <span title={id}>{name}</span>;
  return <Link to={PATHS[kind] + id}>{name}</Link>;
}
