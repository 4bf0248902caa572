import { type Agent, isApiError } from "../../../client/index.ts";
import { api } from "./api.ts";
import type { Action } from "./may.ts";
import { RETRY_MS } from "./retry.ts";

/** Names of agents, people and teams, and titles of runs, memories and documents, by id. */
const names = new Map<string, string>();
/** Owners of the readable agents. */
const owners = new Map<string, string | null>();
/** Time of each name request; refused ones are not repeated. */
const asked = new Map<string, number>();
/** Answered requests, including refusals. */
const answered = new Set<string>();
const listeners = new Set<() => void>();
let version = 0;

export const namesVersion = () => version;

export function subscribeNames(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  version += 1;
  for (const listener of listeners) listener();
}

/** Stores a name that was read anyway, so that it need not be requested. */
export function nameIs(id: string, name: string): void {
  if (names.get(id) === name) return;
  names.set(id, name);
  notify();
}

export function forgetNames(): void {
  for (const each of [names, owners, asked, answered]) each.clear();
}

const KINDS: Record<string, { word: string; needs: Action }> = {
  ag: { word: "agent", needs: "agents.listOwn" },
  usr: { word: "person", needs: "users.list" },
  team: { word: "team", needs: "teams.list" },
  run: { word: "run", needs: "runs.get" },
  memory: { word: "memory", needs: "memories.get" },
  document: { word: "document", needs: "documents.get" },
};

/** What has a title. Their ids are UUIDs, so names are kept under the kind and the id: `run_0199…`. */
export type TitledKind = "run" | "memory" | "document";

export const titledId = (kind: TitledKind, id: string) => `${kind}_${id}`;

type May = (action: Action) => boolean;

const kindOf = (id: string) => id.split("_", 1)[0] as string;

/** Returns the name; a short form of the id if the person may not know it, and dots while it loads. */
export function nameOf(id: string, may: May): string {
  const name = names.get(id);
  if (name !== undefined) return name;
  requestName(id, may);
  const what = whatNames(id, may);
  return asked.has(what) && !answered.has(what) ? "…" : shortOf(id);
}

/** Returns the name if it is already known. */
export const knownName = (id: string): string | undefined => names.get(id);

/** Returns an agent's owner; undefined if it is not readable or still loading. */
export function ownerOf(agent_id: string, may: May): string | null | undefined {
  if (!owners.has(agent_id)) requestName(agent_id, may);
  return owners.get(agent_id);
}

/** Enough to distinguish ids: "agent …x81k". */
function shortOf(id: string): string {
  const word = KINDS[kindOf(id)]?.word;
  return word ? `${word} …${id.slice(-4)}` : id;
}

/** A new name is in no list read before: lists are reread, but not on every render. */
const REFRESH_MS = 60_000;

/** Other people's agents are requested one by one; own agents, people and teams as a list. */
function whatNames(id: string, may: May): string {
  const kind = kindOf(id);
  return ONE[kind] && (kind !== "ag" || may("agents.list")) ? id : kind;
}

function requestName(id: string, may: May): void {
  const kind = KINDS[kindOf(id)];
  const what = whatNames(id, may);
  if (!kind || !may(kind.needs) || performance.now() - (asked.get(what) ?? -REFRESH_MS) < REFRESH_MS) return;
  asked.set(what, performance.now());
  const request = LISTS[what] ?? (() => nameOne(id));
  void request()
    // It may be deleted.
    .catch((error) => {
      if (isApiError(error) && [403, 404].includes(error.status)) asked.set(what, Number.POSITIVE_INFINITY);
      else setTimeout(requestAgain, RETRY_MS, what);
    })
    .finally(() => {
      answered.add(what);
      notify();
    });
}

/** After a failure that may pass. */
function requestAgain(what: string): void {
  asked.delete(what);
  notify();
}

async function nameOne(id: string): Promise<void> {
  const kind = kindOf(id);
  await ONE[kind]?.(kind === "ag" ? id : id.slice(kind.length + 1));
}

/** Names requested one by one. */
const ONE: Record<string, (id: string) => Promise<void>> = {
  ag: async (agent_id) => agentIs(await api.agents.get({ agent_id })),
  run: async (run_id) => titleIs("run", run_id, (await api.runs.get({ run_id })).goal),
  memory: async (id) => titleIs("memory", id, (await api.memories.get({ id })).title),
  document: async (document_id) =>
    titleIs("document", document_id, (await api.documents.get({ document_id })).filename),
};

const titleIs = (kind: TitledKind, id: string, title: string) => nameIs(titledId(kind, id), title);

function agentIs({ id, name, owner_user_id }: Agent): void {
  owners.set(id, owner_user_id);
  nameIs(id, name);
}

/** Names requested as lists. */
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
