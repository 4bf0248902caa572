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
  reload(): Promise<void>;
}

/** A list by cursor, page after page. */
export function usePages<T>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<{ items: T[]; next: string | null }>,
  dependencies: DependencyList,
): Pages<T> {
  const first = useLoad((signal) => load(undefined, signal), dependencies);
  const [rest, setRest] = useState<{ of: unknown; items: T[]; next: string | null }>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const current = rest && rest.of === first.data ? rest : undefined;
  const next = current ? current.next : first.data?.next;

  const more = async () => {
    if (busy || !next) return;
    setBusy(true);
    setError(undefined);
    try {
      const page = await load(next, new AbortController().signal);
      setRest({ of: first.data, items: [...(current?.items ?? []), ...page.items], next: page.next });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return {
    items: first.data && [...first.data.items, ...(current?.items ?? [])],
    error: first.error ?? error,
    loading: first.loading || busy,
    more: next ? more : undefined,
    reload: first.reload,
  };
}
