import { useSyncExternalStore } from "react";
import { useSession } from "../shell/session.tsx";
import { nameOf, namesVersion, ownerOf, subscribeNames } from "./names.ts";

/** Names agents, people and teams by their ids, each asked for once; whoever may not know sees a short form of the id. */
export function useNames(): (id: string) => string {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  return (id) => nameOf(id, may);
}

/**
 * Tells whether something is the person's own: they made it, or an agent of theirs did. Admins may do with others' what
 * they may with their own.
 */
export function useIsOwn(): (thing: { user_id: string | null; agent_id: string | null }) => boolean {
  const { user, may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  return ({ user_id, agent_id }) => {
    if (user.role === "admin" || user_id === user.id) return true;
    return agent_id !== null && ownerOf(agent_id, may) === user.id;
  };
}
