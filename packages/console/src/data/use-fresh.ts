import { type DependencyList, useEffect, useRef } from "react";
import { type Resource, useOnChange } from "./live.ts";
import { type Loaded, useLoad } from "./use-load.ts";

type Reloadable = Pick<Loaded<unknown>, "loading" | "reload">;

/** The shortest pause after a reload, however frequent the changes. */
const PAUSE_MS = 1000;
/** The pause after a slow one, as a multiple of its time: pages that follow the server must not load it. */
const PAUSE_FACTOR = 4;

/**
 * Returns a function, for `useOnChange`, that reloads. A call during a reload or the pause after it causes another reload.
 */
export function useReload(loaded: Reloadable, pauseMs = PAUSE_MS): () => void {
  const latest = useRef(loaded);
  const missed = useRef(false);
  const resting = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  latest.current = loaded;
  const look = () => {
    missed.current = latest.current.loading || resting.current;
    if (missed.current) return;
    resting.current = true;
    const began = performance.now();
    void latest.current.reload().finally(() => {
      const pause = Math.max(pauseMs, PAUSE_FACTOR * (performance.now() - began));
      timer.current = setTimeout(() => {
        resting.current = false;
        if (missed.current) look();
      }, pause);
    });
  };
  useEffect(() => {
    if (!loaded.loading && missed.current) look();
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      resting.current = false;
      missed.current = false;
    },
    [],
  );
  return look;
}

interface Followed {
  /** The one whose changes count. Default: any. */
  id?: string;
  /** That of `useLoad`. */
  name?: string;
  /** The shortest pause between two loads. */
  pauseMs?: number;
}

/** Loads as `useLoad` does, and again when the server reports a change of one of the resources. */
export function useFollowed<T>(
  resources: Resource | readonly Resource[],
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: DependencyList,
  { id, name, pauseMs }: Followed = {},
): Loaded<T> {
  const loaded = useLoad(load, dependencies, name);
  useOnChange(resources, id ?? null, true, useReload(loaded, pauseMs));
  return loaded;
}
