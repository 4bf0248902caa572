import { useEffect, useSyncExternalStore } from "react";
import { useSession } from "../shell/session.tsx";
import { api } from "./api.ts";
import type { Action } from "./may.ts";
import { knownName, nameIs, namesVersion, subscribeNames } from "./names.ts";

/** Resources that have a title, and the operation that reads it. Reading a memory would count as use. */
const KINDS = {
  document: {
    needs: "documents.get",
    read: async (id) => (await api.documents.get({ document_id: id })).filename,
  },
  run: { needs: "runs.get", read: async (id) => (await api.runs.get({ run_id: id })).goal },
  output: { needs: "outputs.get", read: async (id) => (await api.outputs.get({ output_id: id })).title },
  channel: { needs: "channels.get", read: async (id) => (await api.channels.get({ channel_id: id })).name },
  schedule: {
    needs: "schedules.get",
    read: async (id) => (await api.schedules.get({ schedule_id: id })).name,
  },
  key: {
    needs: "keys.list",
    async read(id, agent_id) {
      for await (const key of api.keys.list.all({ agent_id, limit: 200 })) nameIs(key.id, `${key.prefix}…`);
      return knownName(id);
    },
  },
} satisfies Record<
  string,
  { needs: Action; read(id: string, agent_id: string): Promise<string | null | undefined> }
>;

export type TitledKind = keyof typeof KINDS;

export const isTitled = (kind: string): kind is TitledKind => Object.hasOwn(KINDS, kind);

/** A resource that could not be read is not requested again soon. */
const REFRESH_MS = 60_000;
/** A list may name fifty resources, and a browser has six connections. */
const MOST_AT_ONCE = 3;
const asked = new Map<string, number>();
const waiting: (() => Promise<void>)[] = [];
let running = 0;

function request(kind: TitledKind, id: string, agent_id: string): void {
  if (performance.now() - (asked.get(id) ?? -REFRESH_MS) < REFRESH_MS) return;
  asked.set(id, performance.now());
  waiting.push(async () => {
    const title = await KINDS[kind].read(id, agent_id).catch(() => undefined);
    if (title) nameIs(id, title);
  });
  while (running < MOST_AT_ONCE && waiting.length > 0) void work();
}

async function work(): Promise<void> {
  running += 1;
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  running -= 1;
}

/** Returns the title of a resource; undefined until it is known, and if the person cannot read it. */
export function useTitle(kind: TitledKind, id: string, agent_id = ""): string | undefined {
  const { may } = useSession();
  useSyncExternalStore(subscribeNames, namesVersion);
  const title = knownName(id);
  const isWanted = title === undefined && may(KINDS[kind].needs);
  useEffect(() => {
    if (isWanted) request(kind, id, agent_id);
  }, [isWanted, kind, id, agent_id]);
  return title;
}
