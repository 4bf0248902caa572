import { type QueryClient, useQueries, useQueryClient } from "@tanstack/react-query";
import { isApiError } from "../../../client/index.ts";
import { api } from "./api.ts";
import type { Action } from "./may.ts";
import { type SessionValue, useSession } from "./session.ts";

/** An agent, a person or a team, or what has a title. */
interface Named {
  name: string;
  /** Of an agent that the person may read. */
  owner_user_id?: string | null;
}

interface Kind {
  word: string;
  needs: Action;
  /** Reads one. Null if it has no name. */
  one?(id: string): Promise<Named | null>;
  /** Reads all: of a kind without `one`, or those that the person may read. */
  all?(): AsyncIterable<Named & { id: string }>;
}

const limit = 200;

type Titled = [needs: Action, read: (id: string) => Promise<string | null>];

/** Resources with a title: the operation needed, and how the title is read. */
const TITLED = {
  run: ["runs.get", async (run_id) => (await api.runs.get({ run_id })).goal],
  memory: ["memories.get", async (id) => (await api.memories.get({ id })).title],
  document: ["documents.get", async (document_id) => (await api.documents.get({ document_id })).filename],
  output: ["outputs.get", async (output_id) => (await api.outputs.get({ output_id })).title],
  channel: ["channels.get", async (channel_id) => (await api.channels.get({ channel_id })).name],
  schedule: ["schedules.get", async (schedule_id) => (await api.schedules.get({ schedule_id })).name],
  key: ["keys.list", prefixOf],
} satisfies Record<string, Titled>;

/** A thing with a title. It is asked for by the kind and the id: `run_0199…`, `key_AGENT/KEY`. */
export type TitledKind = keyof typeof TITLED;

export const titledId = (kind: TitledKind, id: string) => `${kind}_${id}`;

async function prefixOf(path: string): Promise<string | null> {
  const [agent_id = "", key_id] = path.split("/");
  for await (const { id, prefix } of api.keys.list.all({ agent_id, limit }))
    if (id === key_id) return `${prefix}…`;
  return null;
}

function titled([word, [needs, read]]: [string, Titled]): [string, Kind] {
  const one = async (id: string) => {
    const name = await read(id.slice(word.length + 1));
    return name ? { name } : null;
  };
  return [word, { word, needs, one }];
}

/** By the beginning of the id. */
const KINDS: Record<string, Kind> = {
  ag: {
    word: "agent",
    needs: "agents.listOwn",
    one: (agent_id) => api.agents.get({ agent_id }),
    all: () => api.agents.listOwn.all({ limit }),
  },
  usr: {
    word: "person",
    needs: "users.list",
    async *all() {
      for await (const { id, display_name: name } of api.users.list.all({ limit })) yield { id, name };
    },
  },
  team: { word: "team", needs: "teams.list", all: () => api.teams.list.all({ limit }) },
  ...Object.fromEntries(Object.entries<Titled>(TITLED).map(titled)),
};

const kindOf = (id: string) => id.split("_", 1)[0] as string;

const keyOf = (id: string) => ["name", id];

/** Stores a name that was read anyway, so that it need not be requested. */
export const nameIs = (cache: QueryClient, id: string, named: Named) => {
  cache.setQueryData(keyOf(id), named);
};

/** Returns the name if it is already known. */
export const knownName = (cache: QueryClient, id: string) => cache.getQueryData<Named>(keyOf(id))?.name;

/** A new name is in no list read before: lists are reread, but not on every render. */
const REFRESH_MS = 60_000;

/** Other people's agents are requested one by one; own agents, people and teams as a list. */
function queryOf(id: string, cache: QueryClient, { user, may }: Pick<SessionValue, "user" | "may">) {
  const kind = KINDS[kindOf(id)];
  const { one, all } = kind ?? {};
  const asks = one && (!all || may("agents.list")) ? () => inTurn(() => one(id)) : undefined;
  return {
    queryKey: keyOf(id),
    queryFn: async () => {
      if (asks) return asks().catch(nullIfGone);
      const queryFn = () => Array.fromAsync(all?.() ?? []);
      const listed = await cache.fetchQuery({ queryKey: keyOf(kindOf(id)), queryFn, staleTime: REFRESH_MS });
      return listed.find((each) => each.id === id) ?? null;
    },
    ...(id === user.id && { initialData: { name: user.display_name } }),
    enabled: kind !== undefined && may(kind.needs),
    staleTime: ({ state: { data } }: { state: { data: unknown } }) => (asks || data ? Infinity : REFRESH_MS),
    gcTime: Infinity,
    retryOnMount: false,
  };
}

/** Ignores that something is deleted, or that only others may read it. */
export function nullIfGone(error: unknown): null {
  if (isApiError(error) && [403, 404].includes(error.status)) return null;
  throw error;
}

/** A list may name fifty resources, and a browser has six connections. */
const lanes: Promise<unknown>[] = Array.from({ length: 3 }, () => Promise.resolve());
let turn = 0;

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const lane = turn++ % lanes.length;
  const result = (lanes[lane] as Promise<unknown>).then(work);
  lanes[lane] = result.catch(() => {});
  return result;
}

/** Returns what is known of each id, and how to call it: by its name, or by a short form of the id. */
function useNamed(ids: readonly string[]): { known: Named | undefined; name: string }[] {
  const session = useSession();
  const cache = useQueryClient();
  const found = useQueries({ queries: ids.map((id) => queryOf(id, cache, session)) });
  return ids.map((id, at) => {
    const known = found[at]?.data ?? undefined;
    return { known, name: known?.name ?? (found[at]?.isLoading ? "…" : shortOf(id)) };
  });
}

/** Enough to distinguish ids: "agent …x81k". */
function shortOf(id: string): string {
  const word = KINDS[kindOf(id)]?.word;
  return word ? `${word} …${id.slice(-4)}` : id;
}

/**
 * Returns the name of an agent, a person, a team or what has a title, and what else is known of it; without permission
 * a short form of the id.
 */
export const useName = (id: string) => useNamed([id])[0] as ReturnType<typeof useNamed>[number];

/** The same for several ids: returns a function that names each. */
export function useNames(ids: readonly string[]): (id: string) => string {
  const named = useNamed(ids);
  return (id) => named[ids.indexOf(id)]?.name ?? id;
}

/** Returns the title of a resource; undefined until it is known, and if the person cannot read it. */
export const useTitle = (kind: TitledKind, id: string) => useName(titledId(kind, id)).known?.name;

/**
 * Returns whether something is the person's: created by them or one of their agents. Admins may treat others' resources
 * like their own.
 */
export function useIsOwn(thing: { user_id: string | null; agent_id: string | null } | undefined): boolean {
  const { user } = useSession();
  const isOwn = user.role === "admin" || thing?.user_id === user.id;
  const [agent] = useNamed(thing?.agent_id && !isOwn ? [thing.agent_id] : []);
  return isOwn || agent?.known?.owner_user_id === user.id;
}
