import { type Agent, isApiError } from "../../../client/index.ts";
import { api } from "./api.ts";
import type { Action } from "./may.ts";

/** What agents, people and teams are called, by their ids. */
const names = new Map<string, string>();
/** Whose agents those are that could be read. */
const owners = new Map<string, string | null>();
/** When what names somebody was asked for; never again where that was refused. */
const asked = new Map<string, number>();
/** What was answered, be it with a refusal. */
const answered = new Set<string>();
const listeners = new Set<() => void>();
let version = 0;

export const namesVersion = () => version;

export function subscribeNames(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  version += 1;
  for (const listener of listeners) listener();
}

/** Notes what somebody is called: what was read anyway need not be asked for. */
export function nameIs(id: string, name: string): void {
  if (names.get(id) === name) return;
  names.set(id, name);
  tell();
}

export function forgetNames(): void {
  for (const each of [names, owners, asked, answered]) each.clear();
}

const KINDS: Record<string, { word: string; needs: Action }> = {
  ag: { word: "agent", needs: "agents.listOwn" },
  usr: { word: "person", needs: "users.list" },
  team: { word: "team", needs: "teams.list" },
};

type May = (action: Action) => boolean;

const kindOf = (id: string) => id.split("_", 1)[0] as string;

/** What somebody is called; a short form of the id where the person may not know, and dots until that is clear. */
export function nameOf(id: string, may: May): string {
  const name = names.get(id);
  if (name !== undefined) return name;
  ask(id, may);
  const what = whatNames(id, may);
  return asked.has(what) && !answered.has(what) ? "…" : shortOf(id);
}

/** What somebody is called, if it was told before. */
export const knownName = (id: string): string | undefined => names.get(id);

/** Whose an agent is; undefined where it cannot be read, or not yet. */
export function ownerOf(agent_id: string, may: May): string | null | undefined {
  if (!owners.has(agent_id)) ask(agent_id, may);
  return owners.get(agent_id);
}

/** Enough to tell one from another: "agent …x81k". */
export function shortOf(id: string): string {
  const word = KINDS[kindOf(id)]?.word;
  return word ? `${word} …${id.slice(-4)}` : id;
}

/** Who is new is in none of the lists that were read before: they are read again, but not at each drawing. */
const AGAIN_MS = 60_000;

/** Of all agents each is asked for by itself; one's own, people and teams all at once. */
const whatNames = (id: string, may: May) => (kindOf(id) === "ag" && may("agents.list") ? id : kindOf(id));

function ask(id: string, may: May): void {
  const kind = KINDS[kindOf(id)];
  const what = whatNames(id, may);
  if (!kind || !may(kind.needs) || performance.now() - (asked.get(what) ?? -AGAIN_MS) < AGAIN_MS) return;
  asked.set(what, performance.now());
  const list = LISTS[what] ?? (() => nameAgent(id));
  void list()
    // An agent may be gone.
    .catch((error) => {
      if (isApiError(error) && [403, 404].includes(error.status)) asked.set(what, Number.POSITIVE_INFINITY);
    })
    .finally(() => {
      answered.add(what);
      tell();
    });
}

async function nameAgent(agent_id: string): Promise<void> {
  agentIs(await api.agents.get({ agent_id }));
}

function agentIs({ id, name, owner_user_id }: Agent): void {
  owners.set(id, owner_user_id);
  nameIs(id, name);
}

/** What is asked for all at once. */
const LISTS: Record<string, () => Promise<void>> = {
  async ag() {
    for await (const agent of api.agents.listOwn.all({ limit: 200 })) agentIs(agent);
  },
  async usr() {
    for await (const { id, display_name } of api.users.list.all({ limit: 200 })) nameIs(id, display_name);
  },
  async team() {
    for await (const { id, name } of api.teams.list.all({ limit: 200 })) nameIs(id, name);
  },
};
