import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Stats } from "../../../client/index.ts";

export interface Live {
  stats: Stats | undefined;
  /** False while the connection is lost; it reconnects. */
  connected: boolean;
}

/** A change that the server reports between its statistics. Empty `ids` mean "some, or all". */
interface Changed {
  resource: "run" | "document" | "device" | "connector";
  ids: string[];
}

interface Listener {
  shown?(): void;
  /** Null after a new connection: anything may have changed before it. */
  changed?(what: Changed | null): void;
}

let live: Live = { stats: undefined, connected: true };
let source: EventSource | undefined;
const listeners = new Set<Listener>();
/** Notified about the connection as long as it exists for other listeners. */
const watchers = new Set<() => void>();

function show(to: Live): void {
  live = to;
  for (const { shown } of listeners) shown?.();
  for (const look of watchers) look();
}

function notify(what: Changed | null): void {
  for (const { changed } of listeners) changed?.(what);
}

/** Adds a listener to the shared connection, which is open while there are any. */
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
    if (isNew) notify(null);
    isNew = false;
  });
  made.addEventListener("changed", ({ data }) => notify(JSON.parse(data)));
  made.addEventListener("error", () => {
    isNew = true;
    show({ ...live, connected: false });
    // The browser reconnects by itself, but not after an error answer, such as a proxy's 502.
    if (made.readyState === EventSource.CLOSED) setTimeout(reconnect, RETRY_MS, made);
  });
  return made;
}

const RETRY_MS = 5000;

function reconnect(lost: EventSource): void {
  if (source === lost) source = connect();
}

/** The current flow of events, from the server's statistics every two seconds. */
export const useLive = () => useSyncExternalStore(follow, () => live);

// Defined once: a new function on each render would reconnect.
const follow = (shown: () => void) => listen({ shown });

function watch(look: () => void): () => void {
  watchers.add(look);
  return () => watchers.delete(look);
}

/** Whether the page no longer follows the server because the connection is lost. Opens no connection itself. */
export const useIsLost = () => useSyncExternalStore(watch, () => !live.connected);

/** Calls `act` when the server reports a change of a kind: of the resource with this id, or of any. */
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

/** Calls `act` when the server's statistics show movement of events or deliveries. */
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

/** Differs whenever an event is published, or a delivery is delivered, settled or dead-lettered. */
function flowOf({ series, deliveries, recent }: Stats): string {
  const { published, delivered, acknowledged } = series;
  const counts = [published, delivered, acknowledged].map((each) => each.slice(-2));
  const { pending, in_flight, waiting, dead } = deliveries ?? {};
  return JSON.stringify([counts, pending, in_flight, waiting, dead, recent.map(({ state }) => state)]);
}
