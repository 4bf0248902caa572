import { useSyncExternalStore } from "react";
import { api } from "./api.ts";

/** What agents, people and teams are called, by their ids; null where it cannot be known. */
const names = new Map<string, string | null>();
const listeners = new Set<() => void>();
let version = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notes what somebody is called: what was read anyway need not be asked for. */
export function nameIs(id: string, name: string | null): void {
  if (names.get(id) === name) return;
  names.set(id, name);
  version += 1;
  for (const listener of listeners) listener();
}

export function forgetNames(): void {
  names.clear();
  listed.clear();
}

/** Names agents, people and teams by their ids, each asked for once; whoever may not know sees the ids. */
export function useNames(): (id: string) => string {
  useSyncExternalStore(subscribe, () => version);
  return (id) => {
    if (!names.has(id)) ask(id);
    return names.get(id) ?? id;
  };
}

function ask(id: string): void {
  names.set(id, null);
  const [kind = ""] = id.split("_", 1);
  if (kind === "ag") void nameAgent(id);
  const list = LISTS[kind];
  if (!list || listed.has(kind)) return;
  listed.add(kind);
  // Members may not list them.
  list().catch(() => {});
}

async function nameAgent(agent_id: string): Promise<void> {
  const agent = await api.agents.get({ agent_id }).catch(() => null);
  if (agent) nameIs(agent_id, agent.name);
}

/** Those of which one alone cannot be read. */
const LISTS: Record<string, () => Promise<void>> = {
  async usr() {
    for await (const { id, display_name } of api.users.list.all({ limit: 200 })) nameIs(id, display_name);
  },
  async team() {
    for await (const { id, name } of api.teams.list.all({ limit: 200 })) nameIs(id, name);
  },
};
const listed = new Set<string>();
