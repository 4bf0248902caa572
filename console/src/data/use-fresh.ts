import { useEffect, useRef } from "react";
import { useOnLive } from "./live.ts";
import type { Loaded } from "./use-load.ts";

/**
 * Keeps what was loaded up to date while `wanted`: with every `nth` message of the live stream (one comes each 2 s),
 * and when the person comes back to the page.
 */
export function useFresh(
  loaded: Pick<Loaded<unknown>, "loading" | "reload">,
  wanted: boolean,
  nth = 1,
): void {
  const messages = useRef(0);
  const latest = useRef(loaded);
  latest.current = loaded;
  useOnLive(wanted, () => {
    messages.current += 1;
    if (messages.current % nth === 0 && !latest.current.loading) latest.current.reload();
  });
  useEffect(() => {
    if (!wanted) return;
    const look = () => void latest.current.reload();
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [wanted]);
}
