import { useEffect, useRef } from "react";

const FIRST_MS = 700;
const LONGEST_MS = 10_000;

/**
 * Loads again when the person comes back to the page; and, while something is `underway`, after pauses that grow as
 * long as nothing changes (`state` says what would be a change).
 */
export function useFresh(reload: () => Promise<void>, underway: boolean, state: unknown): void {
  const pause = useRef(FIRST_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `state` is what starts it anew
  useEffect(() => {
    pause.current = FIRST_MS;
  }, [state]);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && void reload();
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, [reload]);
  useEffect(() => {
    if (!underway) return;
    let timer: ReturnType<typeof setTimeout>;
    const later = () => {
      timer = setTimeout(async () => {
        if (document.visibilityState === "visible") await reload();
        pause.current = Math.min(LONGEST_MS, pause.current * 1.5);
        later();
      }, pause.current);
    };
    later();
    return () => clearTimeout(timer);
  }, [reload, underway]);
}
