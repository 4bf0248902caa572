import { type DependencyList, useCallback, useEffect, useRef, useState } from "react";
import { useLocation } from "react-router";
import { isCredentialRefused } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";
import { keep, keptAt } from "./kept.ts";

export interface Loaded<T> {
  /** The last data; remains during a reload. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload(): Promise<void>;
  /** Replaces the data with the answer to a change. */
  set(data: T): void;
}

interface State<T> {
  data?: T | undefined;
  error?: unknown;
  loading: boolean;
}

/**
 * Loads when the dependencies change, and drops answers to outdated requests. With a name, unique on the page, the data
 * is shown at once when the person goes back to the page.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
  name?: string,
): Loaded<T> {
  const place = usePlace(name);
  const [state, setState] = useState<State<T>>(() => ({ data: shownAt(place), loading: true }));
  const running = useRef<AbortController>(undefined);
  const { expired, returns } = useSession();
  const returned = useRef(returns);

  const set = useCallback(
    (data: T) => {
      if (place) keep(place, data);
      setState({ data, loading: false });
    },
    [place],
  );
  const reload = useCallback(async () => {
    running.current?.abort();
    const abort = new AbortController();
    const { signal } = abort;
    running.current = abort;
    setState((old) => ({ ...old, loading: true }));
    try {
      const data = await load(signal);
      if (!signal.aborted) set(data);
    } catch (error) {
      if (signal.aborted) return;
      if (isCredentialRefused(error)) expired();
      setState((old) => ({ ...old, error, loading: false }));
    }
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller knows what the question depends on
  }, dependencies);

  // The answer to another question must not be shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is another question only with others
  useEffect(() => {
    setState({ data: shownAt(place), loading: true });
    reload();
    return () => running.current?.abort();
  }, [reload]);

  useEffect(() => {
    if (returned.current === returns) return;
    returned.current = returns;
    void reload();
  }, [returns, reload]);

  return { data: state.data, error: state.error, loading: state.loading, reload, set };
}

/** Key of a named data set: the page and its entry in the browser's history. */
function usePlace(name: string | undefined): string | undefined {
  const { key, pathname, search } = useLocation();
  return name && `${key} ${pathname}${search} ${name}`;
}

const shownAt = <T>(place: string | undefined) =>
  place === undefined ? undefined : (keptAt(place) as T | undefined);

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

/** A list paged by cursor. The name is that of `useLoad`. */
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

const SIZE = 50;

/** A list paged by offset. */
export function useOffsetPages<T>(
  load: (
    page: { offset: number; limit: number },
    signal: AbortSignal,
  ) => Promise<{ items: T[]; total: number }>,
  dependencies: DependencyList,
  name?: string,
): Pages<T> {
  return usePages(
    async (cursor, signal) => {
      const offset = Number(cursor ?? 0);
      const { items, total } = await load({ offset, limit: SIZE }, signal);
      const end = offset + items.length;
      return { items, next: items.length > 0 && end < total ? String(end) : null };
    },
    dependencies,
    name,
  );
}
