import { useSyncExternalStore } from "react";
import { useSession } from "../shell/session.tsx";
import { nameOf, namesVersion, ownerOf, subscribeNames } from "./names.ts";

/**
 * Returns a function that names agents, people and teams by id, each requested once; without permission it returns a
 * short form of the id.
 */
export function useNames(): (id: string) => string {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  return (id) => nameOf(id, may);
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
