import { type DependencyList, useEffect, useRef, useState } from "react";
import { isCredentialRefused, type PagedCall } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";
import { shownAt, useLoad, usePlace } from "./use-load.ts";

export interface Pages<T> {
  items: T[] | undefined;
  error: unknown;
  loading: boolean;
  /** Loads the next page; undefined on the last. */
  more: (() => Promise<void>) | undefined;
  /** Reloads everything shown. */
  reload(): Promise<void>;
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

/** A list loaded page by page. The name is that of `useLoad`. */
export function usePages<T>(load: LoadPage<T>, dependencies: DependencyList, name?: string): Pages<T> {
  const place = usePlace(name);
  const wanted = useRef(1);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { expired } = useSession();
  const asked = useRef(new AbortController());
  // A new question starts with its first page, unless the person goes back to more.
  useEffect(() => {
    wanted.current = shownAt<Shown<T>>(place)?.pages ?? 1;
    asked.current = new AbortController();
    setBusy(false);
    setError(undefined);
    return () => asked.current.abort();
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller knows what the question depends on
  }, dependencies);
  const { data, set, ...loaded } = useLoad(
    (signal) => firstPages(load, wanted.current, signal),
    dependencies,
    name,
  );
  const latest = useRef(loaded);
  latest.current = loaded;
  const shown = useRef(data);
  shown.current = data;

  const more = async () => {
    if (busy || !data?.next) return;
    const { signal } = asked.current;
    setBusy(true);
    setError(undefined);
    try {
      const { items, next } = await load(data.next, signal);
      if (signal.aborted) return;
      wanted.current += 1;
      // Do not append this page if the list was reloaded meanwhile, or is reloading.
      if (shown.current !== data || latest.current.loading) await latest.current.reload();
      else set({ items: [...data.items, ...items], next, pages: wanted.current });
    } catch (thrown) {
      if (signal.aborted) return;
      if (isCredentialRefused(thrown)) expired();
      setError(thrown);
    } finally {
      if (!signal.aborted) setBusy(false);
    }
  };
  return {
    items: data?.items,
    error: loaded.error ?? error,
    loading: loaded.loading || busy,
    more: data?.next ? more : undefined,
    reload: loaded.reload,
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

/** The items of a list operation, page by page. The name is that of `useLoad`. */
export function useList<P extends object, A, T>(
  list: PagedCall<P, A, T>,
  params: Omit<P, "cursor" | "offset">,
  name?: string,
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
  );
}
