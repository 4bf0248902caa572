import { type QueryKey, useInfiniteQuery } from "@tanstack/react-query";
import { type DependencyList, useMemo, useRef, useState } from "react";
import { isFinal } from "../../../client/errors.ts";
import type { PagedCall } from "../../../client/index.ts";
import { type Merged, mergeRows } from "./merge-rows.ts";
import { own, type Resources, useLastError, useQuestion, useReadAgain } from "./use-load.ts";

/** Rows that were created since the list was loaded. */
interface News {
  count: number;
  /** Inserts them. */
  show(): void;
}

export interface Pages<T> {
  items: T[] | undefined;
  error: unknown;
  /** Whether the next page is loading. */
  loading: boolean;
  /** Loads the next page; undefined on the last. */
  more: (() => Promise<void>) | undefined;
  /** Reloads everything shown. */
  reload(): Promise<void>;
  /** In a live list. */
  news?: News | undefined;
}

interface Page<T> {
  items: T[];
  next: string | null;
}

/** The pages read so far, as `useInfiniteQuery` has them. */
interface Answer<T> {
  data: { pages: Page<T>[] } | undefined;
  dataUpdatedAt: number;
  isFetchedAfterMount: boolean;
}

type LoadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

/**
 * A list loaded page by page. The name is that of `useFollowed`. After a change of one of the resources, the shown rows
 * are updated in place, and new ones are counted (`news`).
 */
export function usePages<T extends object>(
  load: LoadPage<T>,
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
  const reload = useReadAgain(question.queryKey, refetch);
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
    reload,
    news: merged?.added ? { count: merged.added, show } : undefined,
  };
}

/**
 * Returns the rows to show: those of the first answer, and then the same rows as later answers have them. After a change
 * by the person, and when asked to `show` them, new rows are included.
 */
function useShown<T extends object>(
  question: QueryKey,
  { data, dataUpdatedAt, isFetchedAfterMount }: Answer<T>,
) {
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
