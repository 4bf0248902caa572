import { type DependencyList, useCallback, useEffect, useRef, useState } from "react";
import { isApiError } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";

export interface Loaded<T> {
  /** What came last; stays while it is loaded anew. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload(): Promise<void>;
  /** Puts something in its place, for what a change answered. */
  set(data: T): void;
}

/** Loads when the dependencies change; an answer that comes after a newer question is dropped. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: unknown; loading: boolean }>({ loading: true });
  const running = useRef<AbortController>(undefined);
  const { expired } = useSession();

  const reload = useCallback(async () => {
    running.current?.abort();
    const abort = new AbortController();
    const { signal } = abort;
    running.current = abort;
    setState((old) => ({ ...old, loading: true }));
    try {
      const data = await load(signal);
      if (!signal.aborted) setState({ data, loading: false });
    } catch (error) {
      if (signal.aborted) return;
      if (isApiError(error, "authentication_failed")) expired();
      setState((old) => ({ ...old, error, loading: false }));
    }
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller knows what the question depends on
  }, dependencies);

  // What belongs to another question must not be shown as the answer to this one.
  useEffect(() => {
    setState({ loading: true });
    reload();
    return () => running.current?.abort();
  }, [reload]);

  const set = useCallback((data: T) => setState({ data, loading: false }), []);
  return { data: state.data, error: state.error, loading: state.loading, reload, set };
}

export interface Pages<T> {
  items: T[] | undefined;
  error: unknown;
  loading: boolean;
  /** Loads the next page; undefined on the last. */
  more: (() => Promise<void>) | undefined;
  /** Loads all that is shown anew. */
  reload(): Promise<void>;
}

interface Page<T> {
  items: T[];
  next: string | null;
}

type LoadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

/** A list by cursor, page after page. */
export function usePages<T>(load: LoadPage<T>, dependencies: DependencyList): Pages<T> {
  const shown = useRef(1);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // Another question begins with its first page.
  useEffect(() => {
    shown.current = 1;
    setError(undefined);
    // biome-ignore lint/correctness/useExhaustiveDependencies: the caller knows what the question depends on
  }, dependencies);
  const { data, set, ...loaded } = useLoad((signal) => firstPages(load, shown.current, signal), dependencies);

  const more = async () => {
    if (busy || !data?.next) return;
    setBusy(true);
    setError(undefined);
    try {
      const page = await load(data.next, new AbortController().signal);
      shown.current += 1;
      set({ items: [...data.items, ...page.items], next: page.next });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
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

async function firstPages<T>(load: LoadPage<T>, count: number, signal: AbortSignal): Promise<Page<T>> {
  let all = await load(undefined, signal);
  for (let page = 1; page < count && all.next; page++) {
    const { items, next } = await load(all.next, signal);
    all = { items: [...all.items, ...items], next };
  }
  return all;
}

const SIZE = 50;

/** A list by offset, page after page. */
export function useOffsetPages<T>(
  load: (
    page: { offset: number; limit: number },
    signal: AbortSignal,
  ) => Promise<{ items: T[]; total: number }>,
  dependencies: DependencyList,
): Pages<T> {
  return usePages(async (cursor, signal) => {
    const offset = Number(cursor ?? 0);
    const { items, total } = await load({ offset, limit: SIZE }, signal);
    const end = offset + items.length;
    return { items, next: items.length > 0 && end < total ? String(end) : null };
  }, dependencies);
}
