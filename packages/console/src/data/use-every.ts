import { useEffect, useRef } from "react";

/** Calls `act` at an interval while the page is visible, and when it becomes visible again. */
export function useEvery(ms: number, act: () => unknown): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && void latest.current();
    const timer = setInterval(look, ms);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [ms]);
}
