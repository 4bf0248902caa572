import { type DependencyList, useEffect, useRef, useState } from "react";
import { isFinal } from "../../../client/errors.ts";
import { isCredentialRefused, type PagedCall } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";
import { type Resource, useOnChange } from "./live.ts";
import { appendRows, mergeRows } from "./merge-rows.ts";
import { useReload } from "./use-fresh.ts";
import { shownAt, useLoad, usePlace } from "./use-load.ts";

/** Rows that were created since the list was loaded. */
export interface News {
  count: number;
  /** Inserts them. */
  show(): void;
}

export interface Pages<T> {
  items: T[] | undefined;
  error: unknown;
  loading: boolean;
  /** Loads the next page; undefined on the last. */
  more: (() => Promise<void>) | undefined;
  /** Reloads everything shown. */
  reload(): Promise<void>;
  /** Updates the shown rows in place, and counts new ones. */
  refresh(): Promise<void>;
  /** In a live list. */
  news?: News | undefined;
}

interface Page<T> {
  items: T[];
  next: string | null;
}

/** Some pages, from the first. */
interface Shown<T> extends Page<T> {
  pages: number;
}

type LoadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

/** What changes the list; without one, it is not live. */
type Changes = Resource | readonly Resource[];

/**
 * A list loaded page by page. The name is that of `useLoad`. After a change of one of the resources, the shown rows are
 * updated in place, and new ones are counted (`news`).
 */
export function usePages<T extends object>(
  load: LoadPage<T>,
  dependencies: DependencyList,
  name?: string,
  changes: Changes = [],
): Pages<T> {
  const place = usePlace(name);
  const wanted = useRef(1);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [waiting, setWaiting] = useState<{ rows: Shown<T>; count: number }>();
  const { expired } = useSession();
  const asked = useRef(new AbortController());
  // A new question starts with its first page, unless the person goes back to more.
  useEffect(() => {
    wanted.current = shownAt<Shown<T>>(place)?.pages ?? 1;
    asked.current = new AbortController();
    setBusy(false);
    setError(undefined);
    setWaiting(undefined);
    return () => asked.current.abort();
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller knows what the question depends on
  }, dependencies);
  const { data, set, ...loaded } = useLoad(
    async (signal) => {
      const pages = await firstPages(load, wanted.current, signal);
      setWaiting(undefined);
      return pages;
    },
    dependencies,
    name,
  );
  const latest = useRef(loaded);
  latest.current = loaded;
  const shown = useRef(data);
  shown.current = data;

  const refused = (thrown: unknown) => {
    if (isCredentialRefused(thrown)) expired();
  };
  const more = async () => {
    if (busy || !data?.next) return;
    const { signal } = asked.current;
    setBusy(true);
    setError(undefined);
    try {
      const { items, next } = await load(data.next, signal);
      if (signal.aborted) return;
      wanted.current += 1;
      // Do not append this page if the list is reloading.
      if (latest.current.loading) await latest.current.reload();
      else set({ items: appendRows(shown.current?.items ?? [], items), next, pages: wanted.current });
    } catch (thrown) {
      if (signal.aborted) return;
      refused(thrown);
      setError(thrown);
    } finally {
      if (!signal.aborted) setBusy(false);
    }
  };
  const [looking, setLooking] = useState(false);
  /** Reads the shown pages again, for what has changed. */
  const refresh = async () => {
    if (!shown.current) return latest.current.reload();
    const { signal } = asked.current;
    setLooking(true);
    try {
      const rows = await firstPages(load, wanted.current, signal);
      const before = shown.current;
      if (signal.aborted || latest.current.loading) return;
      const merged = mergeRows(before, rows);
      set({ items: merged.rows, next: merged.next, pages: before.pages });
      setWaiting(merged.added > 0 ? { rows, count: merged.added } : undefined);
    } catch (thrown) {
      if (signal.aborted) return;
      refused(thrown);
      // The list stays until the connection is back, but not if it may no longer be read.
      if (isFinal(thrown)) await latest.current.reload();
    } finally {
      setLooking(false);
    }
  };
  const isBusy = loaded.loading || busy || looking;
  useOnChange(changes, null, true, useReload({ loading: isBusy, reload: refresh }));
  const show = () => {
    if (waiting) set(waiting.rows);
    setWaiting(undefined);
  };
  return {
    items: data?.items,
    error: loaded.error ?? error,
    loading: loaded.loading || busy,
    more: data?.next ? more : undefined,
    reload: loaded.reload,
    refresh,
    news: waiting && { count: waiting.count, show },
  };
}

async function firstPages<T>(load: LoadPage<T>, count: number, signal: AbortSignal): Promise<Shown<T>> {
  let all = { ...(await load(undefined, signal)), pages: 1 };
  while (all.pages < count && all.next) {
    const { items, next } = await load(all.next, signal);
    all = { items: [...all.items, ...items], next, pages: all.pages + 1 };
  }
  return all;
}

/** The items of a list operation, page by page. Name and changes are those of `usePages`. */
export function useList<P extends object, A, T extends object>(
  list: PagedCall<P, A, T>,
  params: Omit<P, "cursor" | "offset">,
  name?: string,
  changes?: Changes,
): Pages<T> {
  const { items: field, by } = list.pages;
  return usePages(
    async (cursor, signal) => {
      const page = { limit: 50, ...params, ...(cursor && { [by]: cursor }) };
      const answer = (await list(page as unknown as P, { signal })) as Record<string, unknown>;
      const items = answer[field] as T[];
      if (by === "cursor") return { items, next: answer.next_cursor as string | null };
      const end = Number(cursor ?? 0) + items.length;
      return { items, next: items.length > 0 && end < Number(answer.total) ? String(end) : null };
    },
    [JSON.stringify(params)],
    name,
    changes,
  );
}
