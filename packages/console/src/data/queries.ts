import {
  type InfiniteData,
  keepPreviousData,
  QueryCache,
  QueryClient,
  QueryClientContext,
  type QueryFilters,
  type QueryKey,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useQuery,
} from "@tanstack/react-query";
import { type DependencyList, useContext, useMemo, useRef, useState } from "react";
import { useLocation } from "react-router";
import { isFinal } from "../../../client/errors.ts";
import { isCredentialRefused, type PagedCall } from "../../../client/index.ts";
import { type Followed, isMeant, RETRY_MS, type Resource } from "./live.ts";
import { type Merged, mergeRows } from "./merge-rows.ts";

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
  reload(): Promise<unknown>;
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
type Resources = Resource | readonly Resource[];

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
    reload: refetch,
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

/** How many changes the person has made: what a list shows after another one includes new rows. */
const own = { changes: 0 };

/** Returns a function that reads again what is shown and follows changes, after a change by the person. */
export function useReadShown(): () => Promise<void> {
  const cache = useContext(QueryClientContext);
  return async () => {
    own.changes++;
    const shown: QueryFilters = { type: "active", predicate: (query) => isMeant(query, null) };
    // Reads under way may be older than the change.
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
function useQuestion(dependencies: DependencyList, name: string | undefined) {
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
function useLastError(queryKey: QueryKey, error: unknown, hasData: boolean): unknown {
  const last = useRef<{ of: QueryKey; error: unknown }>(undefined);
  if (error !== null) last.current = { of: queryKey, error };
  else if (hasData || last.current?.of !== queryKey) last.current = undefined;
  return last.current?.error;
}

export interface Pages<T> {
  items: T[] | undefined;
  error: unknown;
  /** Whether the next page is loading. */
  loading: boolean;
  /** Loads the next page; undefined on the last. */
  more: (() => Promise<void>) | undefined;
  reload(): Promise<unknown>;
  /** In a live list: the rows that were created since it was loaded, and a function that inserts them. */
  news?: { count: number; show(): void } | undefined;
}

interface Page<T> {
  items: T[];
  next: string | null;
}

type Read<T> = UseInfiniteQueryResult<InfiniteData<Page<T>>>;

/**
 * A list loaded page by page. The name is that of `useFollowed`. After a change of one of the resources, the shown rows
 * are updated in place, and new ones are counted (`news`).
 */
export function usePages<T extends object>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  dependencies: DependencyList,
  name?: string,
  resources: Resources = [],
): Pages<T> {
  const question = useQuestion(dependencies, name);
  const query = useInfiniteQuery({
    ...question,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: Page<T>) => next,
    meta: { followed: { resources: [resources].flat() } },
  });
  const { data, isFetching, refetch, fetchNextPage } = query;
  const { merged, show } = useShown(question.queryKey, query);
  const error = useLastError(question.queryKey, query.error, data !== undefined);
  const more = async () => {
    // A page under way must not be lost, nor read twice.
    if (isFetching) await refetch({ cancelRefetch: false });
    await fetchNextPage();
  };
  return {
    items: merged?.items,
    // The list stays until the connection is back, but not if it may no longer be read.
    error: data && !query.isFetchNextPageError && !isFinal(error) ? undefined : error,
    loading: query.isFetchingNextPage,
    more: merged?.next ? more : undefined,
    reload: refetch,
    news: merged?.added ? { count: merged.added, show } : undefined,
  };
}

/**
 * Returns the rows to show: those of the first answer, and then the same rows as later answers have them. After a change
 * by the person, and when asked to `show` them, new rows are included.
 */
function useShown<T extends object>(question: QueryKey, query: Read<T>) {
  const { data, dataUpdatedAt, isFetchedAfterMount } = query;
  const last = useRef<{ of: QueryKey; changes: number; merged: Merged<T> }>(undefined);
  const [shows, setShows] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer counts also if nothing has changed
  const merged = useMemo(() => {
    if (!data) return undefined;
    const fresh = { items: data.pages.flatMap(({ items }) => items), next: data.pages.at(-1)?.next ?? null };
    const before = last.current;
    const { changes } = own;
    const isSame = before?.of === question && before.changes === changes;
    const now: Merged<T> = isSame ? mergeRows(before.merged, fresh) : { ...fresh, added: 0 };
    // Rows of an earlier visit are not what the person sees now.
    if (isFetchedAfterMount) last.current = { of: question, changes, merged: now };
    return now;
  }, [question, data, dataUpdatedAt, isFetchedAfterMount, shows]);
  const show = () => {
    last.current = undefined;
    setShows(shows + 1);
  };
  return { merged, show };
}

/** The items of a list operation, page by page. Name and resources are those of `usePages`. */
export function useList<P extends object, A, T extends object>(
  list: PagedCall<P, A, T>,
  params: Omit<P, "cursor" | "offset">,
  name?: string,
  resources?: Resources,
): Pages<T> {
  const { items: field, by } = list.pages;
  return usePages(
    async (cursor, signal) => {
      const page = { limit: 50, ...params, ...(cursor && { [by]: cursor }) };
      const answer = (await list(page as unknown as P, { signal })) as Record<string, unknown>;
      const items = answer[field] as T[];
      if (by === "cursor")
        return { items, next: (answer.next ?? answer.next_cursor ?? null) as string | null };
      const end = Number(cursor ?? 0) + items.length;
      return { items, next: items.length > 0 && end < Number(answer.total) ? String(end) : null };
    },
    [JSON.stringify(params)],
    name,
    resources,
  );
}
