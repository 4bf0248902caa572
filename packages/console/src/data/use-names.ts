import { useSyncExternalStore } from "react";
import { useSession } from "../shell/session.tsx";
import {
  knownName,
  nameOf,
  namesVersion,
  ownerOf,
  subscribeNames,
  type TitledKind,
  titledId,
} from "./names.ts";

/**
 * Returns a function that names agents, people and teams by id, each requested once; without permission it returns a
 * short form of the id.
 */
export function useNames(): (id: string) => string {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  return (id) => nameOf(id, may);
}

/** Returns the title of a resource; undefined until it is known, and if the person cannot read it. */
export function useTitle(kind: TitledKind, id: string): string | undefined {
  const request = useNames();
  request(titledId(kind, id));
  return knownName(titledId(kind, id));
}

/**
 * Returns whether something is the person's: created by them or one of their agents. Admins may treat others' resources
 * like their own.
 */
export function useIsOwn(): (thing: { user_id: string | null; agent_id: string | null }) => boolean {
  const { user, may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  return ({ user_id, agent_id }) => {
    if (user.role === "admin" || user_id === user.id) return true;
    return agent_id !== null && ownerOf(agent_id, may) === user.id;
  };
}
