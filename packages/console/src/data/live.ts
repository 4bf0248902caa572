import type { Query, QueryClient } from "@tanstack/react-query";
import type { OPERATIONS } from "../../../client/generated/operations.ts";
import type { Stats } from "../../../client/index.ts";
import { newStore } from "./store.ts";

export interface Live {
  stats: Stats | undefined;
  /** False while the connection is lost; it reconnects. */
  connected: boolean;
}

/**
 * A resource that changes, as the server names it: in the singular of its service. Changes of events and deliveries come
 * with the statistics, as does `clock` every few seconds, for what changes as time passes.
 */
export type Resource = Singular<keyof typeof OPERATIONS> | "clock";
type Singular<S> = S extends `${infer N}ies` ? `${N}y` : S extends `${infer N}s` ? N : S;

/** The changes after which a query is read again, in its `meta`. */
export interface Followed {
  resources: readonly Resource[];
  /** The one whose changes count. Default: any. */
  id?: string | undefined;
  /** The shortest pause between two reads. */
  pauseMs?: number | undefined;
}

declare module "@tanstack/react-query" {
  interface Register {
    queryMeta: { followed?: Followed };
  }
}

/** A change that the server reports. Empty `ids` mean "some, or all". */
interface Changed {
  resource: string;
  ids: string[];
}

const live = newStore<Live>({ stats: undefined, connected: true });

/** The current flow of events, from the server's statistics every two seconds. */
export const useLive = () => live.use((now) => now);

/** Whether the page no longer follows the server because the connection is lost. */
export const useIsLost = () => live.use(({ connected }) => !connected);

const CLOCK_MS = 5000;
/** Retry interval after a failure that may pass, such as an outage. */
export const RETRY_MS = 5000;

/**
 * Connects to the server for one person, and reads the shown queries of the cache again as what they follow changes.
 * Returns a function that ends the connection.
 */
export function follow(cache: QueryClient): () => void {
  let source: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;
  /** Whether something changed while the page was hidden: nobody looks, so it is read when the page is shown again. */
  let missed = false;
  /** @param what null after a new connection: anything may have changed before it */
  const notify = (what: Changed | null) => {
    if (document.hidden) missed = true;
    else
      for (const query of cache.getQueryCache().findAll({ type: "active" }))
        if (isMeant(query, what)) void readAgain(query);
  };
  const catchUp = () => {
    if (document.hidden || !missed) return;
    missed = false;
    notify(null);
  };
  const connect = () => {
    source = new EventSource("/v1/live");
    let isNew = true;
    let ticked = performance.now();
    source.addEventListener("stats", ({ data }) => {
      const stats: Stats = JSON.parse(data);
      const hasMoved = live.get().stats?.changes !== stats.changes;
      live.set({ stats, connected: true });
      if (isNew) notify(null);
      else if (hasMoved) notify({ resource: "event", ids: [] });
      isNew = false;
      if (performance.now() - ticked < CLOCK_MS) return;
      ticked = performance.now();
      notify({ resource: "clock", ids: [] });
    });
    source.addEventListener("changed", ({ data }) => notify(JSON.parse(data)));
    source.addEventListener("error", () => {
      isNew = true;
      live.set({ ...live.get(), connected: false });
      // The browser reconnects by itself, but not after an error answer, such as a proxy's 502.
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MS);
    });
  };
  connect();
  document.addEventListener("visibilitychange", catchUp);
  return () => {
    document.removeEventListener("visibilitychange", catchUp);
    clearTimeout(retry);
    source.close();
    live.set({ stats: undefined, connected: true });
  };
}

/** Whether a query follows a change; null for any. */
export function isMeant({ meta }: Pick<Query, "meta">, what: Changed | null): boolean {
  const { resources = [], id }: Partial<Followed> = meta?.followed ?? {};
  if (what === null) return resources.length > 0;
  const isOfKind = (resources as readonly string[]).includes(what.resource);
  return isOfKind && (what.ids.length === 0 || id === undefined || what.ids.includes(id));
}

/** The shortest pause after a read, however frequent the changes. */
const PAUSE_MS = 1000;
/** The pause after a slow one, as a multiple of its time: pages that follow the server must not load it. */
const PAUSE_FACTOR = 4;

/** Queries that are being read again or pause after it, and whether they must be read another time then. */
const reading = new WeakMap<Query, boolean>();

async function readAgain(query: Query): Promise<void> {
  const isBusy = reading.has(query);
  reading.set(query, isBusy);
  if (isBusy) return;
  do {
    reading.set(query, false);
    const began = performance.now();
    // Neither cancel what the person waits for, nor miss what has changed since it was sent.
    if (query.state.fetchStatus === "fetching") await query.promise?.catch(() => {});
    await query.fetch(undefined, { cancelRefetch: false }).catch(() => {});
    const pause = Math.max(
      query.meta?.followed?.pauseMs ?? PAUSE_MS,
      PAUSE_FACTOR * (performance.now() - began),
    );
    await new Promise((done) => setTimeout(done, pause));
  } while (reading.get(query) && query.isActive());
  reading.delete(query);
}
