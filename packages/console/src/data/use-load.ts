import { QueryCache, QueryClient, type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { type DependencyList, useCallback, useEffect, useMemo, useRef } from "react";
import { useLocation } from "react-router";
import { isFinal } from "../../../client/errors.ts";
import { isCredentialRefused } from "../../../client/index.ts";
import { RETRY_MS, type Resource, useOnChange } from "./live.ts";

/** Returns a cache for one person's data: it must end with their session. Calls `expired` when the session has ended. */
export const newCache = (expired: () => void) =>
  new QueryClient({
    queryCache: new QueryCache({ onError: (error) => isCredentialRefused(error) && expired() }),
    defaultOptions: {
      queries: {
        retry: false,
        // The server reports changes (live.ts); only failures that may pass are asked about again.
        refetchInterval: ({ state: { error, fetchMeta } }) =>
          error !== null && !isFinal(error) && !fetchMeta?.fetchMore && RETRY_MS,
        refetchIntervalInBackground: true,
        refetchOnWindowFocus: false,
        networkMode: "always",
      },
    },
  });

export interface Loaded<T> {
  /** The last data; remains during a reload. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload(): Promise<void>;
  /** Replaces the data with the answer to a change. */
  set(data: T): void;
}

/** Whether there is something to show: data, or why there is none. */
export const isSettled = ({ data, error }: Pick<Loaded<unknown>, "data" | "error">) =>
  data !== undefined || error !== undefined;

/**
 * Loads when the dependencies change, and drops answers to outdated requests. With a name, unique on the page, the data
 * is shown at once when the person comes back to the page.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
  name?: string,
): Loaded<T> {
  const client = useQueryClient();
  const question = useQuestion(dependencies, name);
  const { queryKey } = question;
  const { data, error, isFetching, refetch } = useQuery({
    ...question,
    queryFn: ({ signal }) => load(signal),
  });
  const reload = useReadAgain(queryKey, refetch);
  const set = useCallback((to: T) => void client.setQueryData(queryKey, to), [client, queryKey]);
  return { data, error: useLastError(queryKey, error, data !== undefined), loading: isFetching, reload, set };
}

/**
 * Returns a function that reads again. `refetch` joins a first read under way, which may be older than the change that
 * is the reason to read: that one is waited for.
 */
export function useReadAgain(queryKey: QueryKey, refetch: () => Promise<unknown>): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(async () => {
    const state = client.getQueryState(queryKey);
    if (state?.fetchStatus === "fetching" && state.data === undefined) await refetch();
    await refetch();
  }, [client, queryKey, refetch]);
}

let asked = 0;
/** How long unnamed data is kept after use. Not zero: a page may be rendered some time before it is shown. */
const UNUSED_MS = 1000;

/** Returns what identifies the data in the cache. Without a name, it is kept only as long as it is shown. */
export function useQuestion(dependencies: DependencyList, name: string | undefined) {
  const { pathname } = useLocation();
  return useMemo(
    (): { queryKey: QueryKey; gcTime?: number } =>
      name === undefined
        ? { queryKey: [++asked], gcTime: UNUSED_MS }
        : { queryKey: [pathname, name, ...dependencies] },
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller knows what the question depends on
    dependencies,
  );
}

/** Returns the error of a question; it remains while the retry runs. */
export function useLastError(queryKey: QueryKey, error: unknown, hasData: boolean): unknown {
  const last = useRef<{ of: QueryKey; error: unknown }>(undefined);
  if (error !== null) last.current = { of: queryKey, error };
  else if (hasData || last.current?.of !== queryKey) last.current = undefined;
  return last.current?.error;
}

/** The shortest pause after a reload, however frequent the changes. */
const PAUSE_MS = 1000;
/** The pause after a slow one, as a multiple of its time: pages that follow the server must not load it. */
const PAUSE_FACTOR = 4;

/** Returns a function, for `useOnChange`, that reloads: after a call during a reload or the pause after it, once more. */
export function useReload(reload: () => Promise<void>, pauseMs = PAUSE_MS): () => void {
  const latest = useRef(reload);
  latest.current = reload;
  const state = useRef({ busy: false, again: false });
  useEffect(
    () => () => {
      state.current.again = false;
    },
    [],
  );
  return useCallback(async () => {
    const now = state.current;
    now.again = now.busy;
    if (now.busy) return;
    now.busy = true;
    do {
      now.again = false;
      const began = performance.now();
      await latest.current();
      const pause = Math.max(pauseMs, PAUSE_FACTOR * (performance.now() - began));
      await new Promise((done) => setTimeout(done, pause));
    } while (now.again);
    now.busy = false;
  }, [pauseMs]);
}

interface Followed {
  /** The one whose changes count. Default: any. */
  id?: string;
  /** That of `useLoad`. */
  name?: string;
  /** The shortest pause between two loads. */
  pauseMs?: number;
}

/** Loads as `useLoad` does, and again when the server reports a change of one of the resources. */
export function useFollowed<T>(
  resources: Resource | readonly Resource[],
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
  { id, name, pauseMs }: Followed = {},
): Loaded<T> {
  const loaded = useLoad(load, dependencies, name);
  useOnChange(resources, id ?? null, true, useReload(loaded.reload, pauseMs));
  return loaded;
}

/** Reads by an operation, and again when one of the resources changes. */
export const useRead = <P, T>(
  read: (params: P, options: { signal: AbortSignal }) => Promise<T>,
  params: P,
  resources: Resource | readonly Resource[] = [],
  how?: Followed,
): Loaded<T> => useFollowed(resources, (signal) => read(params, { signal }), [JSON.stringify(params)], how);
