import { useSyncExternalStore } from "react";
import { Link } from "react-router";
import { knownName, nameOf, namesVersion, ownerOf, subscribeNames } from "../data/names.ts";
import { useSession } from "../shell/session.tsx";

/**
 * An agent, a person or a team, by name. Without permission, shows a short form of the id, and the id on hover. A
 * readable agent is a link.
 */
export function Who({ id }: { id: string }) {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  const name = nameOf(id, may);
  if (knownName(id) === undefined) return <span title={id}>{name}</span>;
  const canBeRead = id.startsWith("ag_") && (may("agents.list") || ownerOf(id, may) !== undefined);
  return canBeRead ? <Link to={`/agents/${id}`}>{name}</Link> : name;
}
