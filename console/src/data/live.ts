import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Stats } from "../../../client/index.ts";

export interface Live {
  stats: Stats | undefined;
  /** False while the connection is lost; the browser makes it again by itself. */
  connected: boolean;
}

let live: Live = { stats: undefined, connected: true };
let source: EventSource | undefined;
const listeners = new Set<() => void>();

function change(to: Live): void {
  live = to;
  for (const listener of listeners) listener();
}

/** One connection, whoever watches, and as long as somebody does. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  source ??= connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    source?.close();
    source = undefined;
  };
}

function connect(): EventSource {
  const made = new EventSource("/v1/live");
  made.addEventListener("stats", ({ data }) => change({ stats: JSON.parse(data), connected: true }));
  made.addEventListener("error", () => {
    change({ ...live, connected: false });
    // The browser tries again by itself, but not after an answer that was an error: a proxy's 502, say.
    if (made.readyState === EventSource.CLOSED) setTimeout(reconnect, RETRY_MS, made);
  });
  return made;
}

const RETRY_MS = 5000;

function reconnect(lost: EventSource): void {
  if (source === lost) source = connect();
}

/** How events flow now, every two seconds. */
export function useLive(): Live {
  return useSyncExternalStore(subscribe, () => live);
}

/** Does something with every message of the stream, while `wanted`: what is shown follows what happens. */
export function useOnLive(wanted: boolean, act: (stats: Stats) => unknown): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!wanted) return;
    return subscribe(() => live.stats && latest.current(live.stats));
  }, [wanted]);
}
