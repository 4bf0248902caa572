import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Stats } from "../../../client/index.ts";

export interface Live {
  stats: Stats | undefined;
  /** False while the connection is lost; it reconnects. */
  connected: boolean;
}

/**
 * A resource that changes, as the server names it. Changes of events and deliveries come with the statistics, as does
 * `clock` every few seconds, for what changes as time passes.
 */
export type Resource =
  | "agent"
  | "approval"
  | "audit"
  | "channel"
  | "clock"
  | "connector"
  | "device"
  | "document"
  | "event"
  | "exemplar"
  | "ingest"
  | "interest"
  | "key"
  | "memory"
  | "merge"
  | "output"
  | "project"
  | "relationship"
  | "run"
  | "schedule"
  | "session"
  | "specialist"
  | "team"
  | "template"
  | "user";

/** A change that the server reports. Empty `ids` mean "some, or all". */
interface Changed {
  resource: string;
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

/** Whether something changed while the page was hidden: nobody looks, so it is loaded when it is shown again. */
let missed = false;

function notify(what: Changed | null): void {
  if (document.hidden) missed = true;
  else for (const { changed } of listeners) changed?.(what);
}

function catchUp(): void {
  if (document.hidden || !missed) return;
  missed = false;
  notify(null);
}

/** How long an unused connection stays open: the next page uses it, and need not load twice. */
const UNUSED_MS = 2000;

/** Adds a listener to the shared connection, which is open while there are any. */
function listen(listener: Listener): () => void {
  listeners.add(listener);
  source ??= connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) setTimeout(closeUnused, UNUSED_MS);
  };
}

function closeUnused(): void {
  if (listeners.size > 0) return;
  source?.close();
  source = undefined;
  show({ ...live, connected: true });
}

/** Ends one person's connection before the next signs in. */
export function forgetLive(): void {
  source?.close();
  source = undefined;
  live = { stats: undefined, connected: true };
}

const CLOCK_MS = 5000;

function connect(): EventSource {
  const made = new EventSource("/v1/live");
  document.addEventListener("visibilitychange", catchUp);
  let isNew = true;
  let ticked = performance.now();
  made.addEventListener("stats", ({ data }) => {
    const stats: Stats = JSON.parse(data);
    const hasMoved = live.stats?.changes !== stats.changes;
    show({ stats, connected: true });
    if (isNew) notify(null);
    else if (hasMoved) notify({ resource: "event", ids: [] });
    isNew = false;
    if (performance.now() - ticked < CLOCK_MS) return;
    ticked = performance.now();
    notify({ resource: "clock", ids: [] });
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

/**
 * Calls `act` when the server reports a change of one of the resources: of the one with this id, or of any. Also after a
 * new connection.
 */
export function useOnChange(
  resources: Resource | readonly Resource[],
  id: string | null,
  wanted: boolean,
  act: () => unknown,
): void {
  const latest = useRef(act);
  latest.current = act;
  const kinds = [resources].flat().join(" ");
  useEffect(() => {
    if (!wanted || kinds === "") return;
    return listen({
      changed(what) {
        const isMeant = what === null || kinds.split(" ").includes(what.resource);
        if (isMeant && (!what?.ids.length || id === null || what.ids.includes(id))) latest.current();
      },
    });
  }, [kinds, id, wanted]);
}

/** Retry interval after a failure that may pass, such as an outage. */
export const RETRY_MS = 5000;
