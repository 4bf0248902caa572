import { useEffect, useRef } from "react";
import { isFinal } from "../../../client/errors.ts";
import type { Loaded } from "./use-load.ts";

type Reloadable = Pick<Loaded<unknown>, "loading" | "error" | "reload">;

/** The shortest time between two reloads, however frequent the changes. */
const PAUSE_MS = 1000;
/** Retry interval after a failed reload. */
const RETRY_MS = 5000;

/**
 * Returns a function, for `useOnChange` and similar hooks, that reloads. A call during a reload or the pause after it
 * causes another reload, as does a temporary failure.
 */
export function useReload(loaded: Reloadable): () => void {
  const latest = useRef(loaded);
  const missed = useRef(false);
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);
  latest.current = loaded;
  const look = () => {
    missed.current = latest.current.loading || resting.current !== undefined;
    if (missed.current) return;
    resting.current = setTimeout(() => {
      resting.current = undefined;
      if (missed.current) look();
    }, PAUSE_MS);
    void latest.current.reload();
  };
  useEffect(() => {
    if (!loaded.loading && missed.current) look();
  });
  const { loading, error } = loaded;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failure by itself
  useEffect(() => {
    if (loading || error === undefined || isFinal(error)) return;
    const timer = setTimeout(look, RETRY_MS);
    return () => clearTimeout(timer);
  }, [loading, error]);
  useEffect(
    () => () => {
      clearTimeout(resting.current);
      resting.current = undefined;
    },
    [],
  );
  return look;
}
