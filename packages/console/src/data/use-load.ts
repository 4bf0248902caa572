import { QueryCache, QueryClient, type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { type DependencyList, useCallback, useMemo, useRef } from "react";
import { useLocation } from "react-router";
import { isFinal } from "../../../client/errors.ts";
import { isCredentialRefused } from "../../../client/index.ts";
import { RETRY_MS } from "./retry.ts";

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
  const reload = useCallback(async () => void (await refetch()), [refetch]);
  const set = useCallback((to: T) => void client.setQueryData(queryKey, to), [client, queryKey]);
  return { data, error: useLastError(queryKey, error, data !== undefined), loading: isFetching, reload, set };
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
