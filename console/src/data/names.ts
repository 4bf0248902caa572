import { useSyncExternalStore } from "react";
import { isApiError } from "../../../client/index.ts";
import { api } from "./api.ts";

/** What agents, people and teams are called, by their ids. */
const names = new Map<string, string>();
const listeners = new Set<() => void>();
let version = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notes what somebody is called: what was read anyway need not be asked for. */
export function nameIs(id: string, name: string): void {
  if (names.get(id) === name) return;
  names.set(id, name);
  version += 1;
  for (const listener of listeners) listener();
}

export function forgetNames(): void {
  names.clear();
  asked.clear();
}

/** Names agents, people and teams by their ids, each asked for once; whoever may not know sees the ids. */
export function useNames(): (id: string) => string {
  useSyncExternalStore(subscribe, () => version);
  return (id) => {
    if (!names.has(id)) ask(id);
    return names.get(id) ?? id;
  };
}

/** Who is new is in none of the lists that were read before: they are read again, but not at each drawing. */
const AGAIN_MS = 60_000;
/** When what names somebody was asked for; never again where that was refused. */
const asked = new Map<string, number>();

function ask(id: string): void {
  const [kind = ""] = id.split("_", 1);
  const list = kind === "ag" ? () => nameAgent(id) : LISTS[kind];
  const what = kind === "ag" ? id : kind;
  if (!list || performance.now() - (asked.get(what) ?? -AGAIN_MS) < AGAIN_MS) return;
  asked.set(what, performance.now());
  // Members may not list people; an agent may be gone.
  list().catch((error) => {
    if (isApiError(error) && [403, 404].includes(error.status)) asked.set(what, Number.POSITIVE_INFINITY);
  });
}

async function nameAgent(agent_id: string): Promise<void> {
  const { name } = await api.agents.get({ agent_id });
  nameIs(agent_id, name);
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
