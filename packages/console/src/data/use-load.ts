import { type DependencyList, useCallback, useEffect, useRef, useState } from "react";
import { useLocation } from "react-router";
import { isFinal } from "../../../client/errors.ts";
import { isCredentialRefused } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";
import { keep, keptAt } from "./kept.ts";
import { RETRY_MS } from "./retry.ts";

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

interface State<T> {
  data?: T | undefined;
  error?: unknown;
  loading: boolean;
}

/**
 * Loads when the dependencies change, and drops answers to outdated requests. With a name, unique on the page, the data
 * is shown at once when the person goes back to the page. Retries after a temporary failure.
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

  const { error, loading } = state;
  useEffect(() => {
    if (loading || error === undefined || isFinal(error)) return;
    const timer = setTimeout(reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [loading, error, reload]);

  return { data: state.data, error: state.error, loading: state.loading, reload, set };
}

/** Key of a named data set: the page and its entry in the browser's history. */
export function usePlace(name: string | undefined): string | undefined {
  const { key, pathname, search } = useLocation();
  return name && `${key} ${pathname}${search} ${name}`;
}

export const shownAt = <T>(place: string | undefined) =>
  place === undefined ? undefined : (keptAt(place) as T | undefined);
