import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Stats } from "../../../client/index.ts";

export interface Live {
  stats: Stats | undefined;
  /** False while the connection is lost; it is made again. */
  connected: boolean;
}

/** What the server tells of between its statistics. Empty `ids` are "some, or all". */
interface Changed {
  resource: "run" | "document" | "device" | "connector";
  ids: string[];
}

interface Listener {
  shown?(): void;
  /** Null when a connection was made: anything may have changed before it was. */
  changed?(what: Changed | null): void;
}

let live: Live = { stats: undefined, connected: true };
let source: EventSource | undefined;
const listeners = new Set<Listener>();
/** They are told of the connection as long as it is there for others. */
const watchers = new Set<() => void>();

function show(to: Live): void {
  live = to;
  for (const { shown } of listeners) shown?.();
  for (const look of watchers) look();
}

function tell(what: Changed | null): void {
  for (const { changed } of listeners) changed?.(what);
}

/** One connection, whoever listens, and as long as somebody does. */
function listen(listener: Listener): () => void {
  listeners.add(listener);
  source ??= connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    source?.close();
    source = undefined;
    show({ ...live, connected: true });
  };
}

function connect(): EventSource {
  const made = new EventSource("/v1/live");
  let isNew = true;
  made.addEventListener("stats", ({ data }) => {
    show({ stats: JSON.parse(data), connected: true });
    if (isNew) tell(null);
    isNew = false;
  });
  made.addEventListener("changed", ({ data }) => tell(JSON.parse(data)));
  made.addEventListener("error", () => {
    isNew = true;
    show({ ...live, connected: false });
    // The browser tries again by itself, but not after an answer that was an error: a proxy's 502, say.
    if (made.readyState === EventSource.CLOSED) setTimeout(reconnect, RETRY_MS, made);
  });
  return made;
}

const RETRY_MS = 5000;

function reconnect(lost: EventSource): void {
  if (source === lost) source = connect();
}

/** How events flow now, as the server tells it every two seconds. */
export const useLive = () => useSyncExternalStore(follow, () => live);

// Not made anew at each drawing: the connection would be, too.
const follow = (shown: () => void) => listen({ shown });

function watch(look: () => void): () => void {
  watchers.add(look);
  return () => watchers.delete(look);
}

/** Whether what is shown follows the server no more, as the connection is lost. Of itself it makes none. */
export const useIsLost = () => useSyncExternalStore(watch, () => !live.connected);

/** Acts when the server tells that something of a kind changed: the one with this id, or any. */
export function useOnChange(
  resource: Changed["resource"],
  id: string | null,
  wanted: boolean,
  act: () => unknown,
): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!wanted) return;
    return listen({
      changed(what) {
        const all = what === null || (what.resource === resource && what.ids.length === 0);
        if (all || (what.resource === resource && (id === null || what.ids.includes(id)))) latest.current();
      },
    });
  }, [resource, id, wanted]);
}

/** Acts when the server's statistics show that events or deliveries moved. */
export function useOnFlow(wanted: boolean, act: () => unknown): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!wanted) return;
    let seen = live.stats && flowOf(live.stats);
    return listen({
      shown() {
        if (!live.stats) return;
        const now = flowOf(live.stats);
        const moved = seen !== undefined && now !== seen;
        seen = now;
        if (moved) latest.current();
      },
      changed: (what) => what === null && latest.current(),
    });
  }, [wanted]);
}

/** What is another whenever something is published, handed out, settled or given up. */
function flowOf({ series, deliveries, recent }: Stats): string {
  const { published, delivered, acknowledged } = series;
  const counts = [published, delivered, acknowledged].map((each) => each.slice(-2));
  const { pending, in_flight, waiting, dead } = deliveries ?? {};
  return JSON.stringify([counts, pending, in_flight, waiting, dead, recent.map(({ state }) => state)]);
}
