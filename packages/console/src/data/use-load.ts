import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  QueryClientContext,
  type QueryFilters,
  type QueryKey,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type DependencyList, useContext, useMemo, useRef } from "react";
import { useLocation } from "react-router";
import { isFinal } from "../../../client/errors.ts";
import { isCredentialRefused } from "../../../client/index.ts";
import { type Followed, isMeant, RETRY_MS, type Resource } from "./live.ts";

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
}

/** Whether there is something to show: data, or why there is none. */
export const isSettled = ({ data, error }: Pick<Loaded<unknown>, "data" | "error">) =>
  data !== undefined || error !== undefined;

interface How extends Omit<Followed, "resources"> {
  /** Unique on the page: the data is shown at once when the person comes back to the page. */
  name?: string | undefined;
  /** The last data remains until that of other dependencies is loaded. */
  keeps?: boolean | undefined;
}

/** One kind of resource, or several. */
export type Resources = Resource | readonly Resource[];

/**
 * Loads when the dependencies change, and again when the server reports a change of one of the resources. Drops answers
 * to outdated requests.
 */
export function useFollowed<T>(
  resources: Resources,
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
  { name, keeps, ...which }: How = {},
): Loaded<T> {
  const question = useQuestion(dependencies, name);
  const { queryKey } = question;
  const { data, error, isFetching, refetch } = useQuery({
    ...question,
    queryFn: ({ signal }) => load(signal),
    ...(keeps && { placeholderData: keepPreviousData }),
    meta: { followed: { resources: [resources].flat(), ...which } },
  });
  return {
    data,
    error: useLastError(queryKey, error, data !== undefined),
    loading: isFetching,
    reload: useReadAgain(queryKey, refetch),
  };
}

/** Loads as `useFollowed` does, whatever changes. */
export const useLoad = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
  name?: string,
): Loaded<T> => useFollowed([], load, dependencies, { name });

/** Reads by an operation, and again when one of the resources changes. */
export const useRead = <P, T>(
  read: (params: P, options: { signal: AbortSignal }) => Promise<T>,
  params: P,
  resources: Resources = [],
  how?: How,
): Loaded<T> => useFollowed(resources, (signal) => read(params, { signal }), [JSON.stringify(params)], how);

/**
 * Returns a function that reads again. `refetch` would join a first read under way, which may be older than the change
 * that is the reason to read.
 */
export function useReadAgain(queryKey: QueryKey, refetch: () => Promise<unknown>): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.cancelQueries({ queryKey, exact: true });
    await refetch();
  };
}

/** How many changes the person has made: what a list shows after another one includes new rows. */
export const own = { changes: 0 };

/** Returns a function that reads again what is shown and follows changes, after a change by the person. */
export function useReadShown(): () => Promise<void> {
  const cache = useContext(QueryClientContext);
  return async () => {
    own.changes++;
    const shown: QueryFilters = { type: "active", predicate: (query) => isMeant(query, null) };
    // What is under way may be older than the change.
    await cache?.cancelQueries(shown);
    await cache?.refetchQueries(shown);
  };
}

/** Waits for a pause in typing. Throws if something else is asked for meanwhile. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
  signal.throwIfAborted();
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
