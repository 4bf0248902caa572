import { useSyncExternalStore } from "react";

/** A value outside of React that components follow. */
interface Store<T> {
  get(): T;
  set(to: T): void;
  /** Returns what a component needs of it, and renders the component again when that is another. */
  use<S>(select: (value: T) => S): S;
}

export function newStore<T>(value: T): Store<T> {
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get: () => value,
    set(to) {
      value = to;
      for (const listener of listeners) listener();
    },
    use: (select) => useSyncExternalStore(subscribe, () => select(value)),
  };
}
