import { useEffect, useRef } from "react";
import type { Loaded } from "./use-load.ts";

type Reloadable = Pick<Loaded<unknown>, "loading" | "reload">;

/** Looks again; what comes while it looks makes it look once more. To be given to `useOnChange` and its like. */
export function useLookAgain(loaded: Reloadable): () => void {
  const latest = useRef(loaded);
  const missed = useRef(false);
  latest.current = loaded;
  useEffect(() => {
    if (loaded.loading || !missed.current) return;
    missed.current = false;
    void latest.current.reload();
  }, [loaded.loading]);
  return () => {
    if (latest.current.loading) missed.current = true;
    else void latest.current.reload();
  };
}
