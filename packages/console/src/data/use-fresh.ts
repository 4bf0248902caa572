import { type DependencyList, useCallback, useEffect, useRef } from "react";
import { type Resource, useOnChange } from "./live.ts";
import { type Loaded, useLoad } from "./use-load.ts";

/** The shortest pause after a reload, however frequent the changes. */
const PAUSE_MS = 1000;
/** The pause after a slow one, as a multiple of its time: pages that follow the server must not load it. */
const PAUSE_FACTOR = 4;

/** Returns a function, for `useOnChange`, that reloads: after a call during a reload or the pause after it, once more. */
export function useReload(reload: () => Promise<void>, pauseMs = PAUSE_MS): () => void {
  const latest = useRef(reload);
  latest.current = reload;
  const state = useRef({ busy: false, again: false });
  useEffect(
    () => () => {
      state.current.again = false;
    },
    [],
  );
  return useCallback(async () => {
    const now = state.current;
    now.again = now.busy;
    if (now.busy) return;
    now.busy = true;
    do {
      now.again = false;
      const began = performance.now();
      await latest.current();
      const pause = Math.max(pauseMs, PAUSE_FACTOR * (performance.now() - began));
      await new Promise((done) => setTimeout(done, pause));
    } while (now.again);
    now.busy = false;
  }, [pauseMs]);
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
  useOnChange(resources, id ?? null, true, useReload(loaded.reload, pauseMs));
  return loaded;
}
