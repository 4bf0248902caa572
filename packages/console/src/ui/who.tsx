import { useSyncExternalStore } from "react";
import { Link } from "react-router";
import { knownName, nameOf, namesVersion, ownerOf, subscribeNames } from "../data/names.ts";
import { useSession } from "../shell/session.tsx";

/**
 * An agent, a person or a team, by name. Whoever may not know it sees a part of the id, and all of it on hover. An agent
 * that can be looked at is a link.
 */
export function Who({ id }: { id: string }) {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  const name = nameOf(id, may);
  if (knownName(id) === undefined) return <span title={id}>{name}</span>;
  const canBeRead = id.startsWith("ag_") && (may("agents.list") || ownerOf(id, may) !== undefined);
  return canBeRead ? <Link to={`/agents/${id}`}>{name}</Link> : name;
}
