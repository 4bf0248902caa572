import { useEffect, useRef } from "react";
import { isFinal } from "../../../client/errors.ts";
import type { Loaded } from "./use-load.ts";

type Reloadable = Pick<Loaded<unknown>, "loading" | "error" | "reload">;

/** However often something changes, it is not looked at more often. */
const REST_MS = 1000;
/** What could not be looked at is looked at again. */
const RETRY_MS = 5000;

/**
 * Looks again; what comes while it looks, or rests, makes it look once more, and so does a failure that may pass. To be
 * given to `useOnChange` and its like.
 */
export function useLookAgain(loaded: Reloadable): () => void {
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
    }, REST_MS);
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
