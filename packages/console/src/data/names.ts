import { type Agent, isApiError } from "../../../client/index.ts";
import { api } from "./api.ts";
import { RETRY_MS } from "./live.ts";
import type { Action } from "./may.ts";

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

interface Kind {
  word: string;
  needs: Action;
  /** Reads the name of one. */
  one?(id: string): Promise<void>;
  /** Reads the names of all: of a kind without `one`, or of those that the person may read. */
  all?(): Promise<void>;
}

/** By the beginning of the id. */
const KINDS: Record<string, Kind> = {
  ag: {
    word: "agent",
    needs: "agents.listOwn",
    one: async (agent_id) => agentIs(await api.agents.get({ agent_id })),
    async all() {
      for await (const agent of api.agents.listOwn.all({ limit: 200 })) agentIs(agent);
    },
  },
  usr: {
    word: "person",
    needs: "users.list",
    async all() {
      for await (const { id, display_name } of api.users.list.all({ limit: 200 })) nameIs(id, display_name);
    },
  },
  team: {
    word: "team",
    needs: "teams.list",
    async all() {
      for await (const { id, name } of api.teams.list.all({ limit: 200 })) nameIs(id, name);
    },
  },
  run: titled("run", "runs.get", async (run_id) => (await api.runs.get({ run_id })).goal),
  memory: titled("memory", "memories.get", async (id) => (await api.memories.get({ id })).title),
  document: titled(
    "document",
    "documents.get",
    async (id) => (await api.documents.get({ document_id: id })).filename,
  ),
  output: titled("output", "outputs.get", async (id) => (await api.outputs.get({ output_id: id })).title),
  channel: titled("channel", "channels.get", async (id) => (await api.channels.get({ channel_id: id })).name),
  schedule: titled(
    "schedule",
    "schedules.get",
    async (id) => (await api.schedules.get({ schedule_id: id })).name,
  ),
  key: {
    word: "key",
    needs: "keys.list",
    async one(path) {
      const [agent_id = ""] = path.split("/");
      for await (const { id, prefix } of api.keys.list.all({ agent_id, limit: 200 }))
        nameIs(titledId("key", `${agent_id}/${id}`), `${prefix}…`);
    },
  },
};

/** What has a title. Their names are kept under the kind and the id: `run_0199…`, `key_AGENT/KEY`. */
export type TitledKind = "run" | "memory" | "document" | "output" | "channel" | "schedule" | "key";

export const titledId = (kind: TitledKind, id: string) => `${kind}_${id}`;

function titled(word: TitledKind, needs: Action, read: (id: string) => Promise<string | null>): Kind {
  const one = async (id: string) => {
    const title = await read(id);
    if (title) nameIs(titledId(word, id), title);
  };
  return { word, needs, one };
}

function agentIs({ id, name, owner_user_id }: Agent): void {
  owners.set(id, owner_user_id);
  nameIs(id, name);
}

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
  return KINDS[kind]?.one && (kind !== "ag" || may("agents.list")) ? id : kind;
}

/** A list may name fifty resources, and a browser has six connections. */
const MOST_AT_ONCE = 3;
const waiting: (() => Promise<void>)[] = [];
let running = 0;

function requestName(id: string, may: May): void {
  const name = kindOf(id);
  const kind = KINDS[name];
  const what = whatNames(id, may);
  if (!kind || !may(kind.needs) || performance.now() - (asked.get(what) ?? -REFRESH_MS) < REFRESH_MS) return;
  asked.set(what, performance.now());
  waiting.push(async () => {
    const isOne = what === id;
    await (isOne ? kind.one?.(name === "ag" ? id : id.slice(name.length + 1)) : kind.all?.())?.catch(
      (error) => {
        // It may be deleted.
        if (isApiError(error) && [403, 404].includes(error.status)) asked.set(what, Number.POSITIVE_INFINITY);
        else setTimeout(requestAgain, RETRY_MS, what);
      },
    );
    answered.add(what);
    notify();
  });
  if (running < MOST_AT_ONCE) void work();
}

async function work(): Promise<void> {
  running += 1;
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  running -= 1;
}

/** After a failure that may pass. */
function requestAgain(what: string): void {
  asked.delete(what);
  notify();
}
