/** Returns a function that computes a value once for each key, and forgets it with the key. */
export function oncePer<K extends WeakKey, V>(compute: (key: K) => V): (key: K) => V {
  const values = new WeakMap<K, V>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) {
      value = compute(key);
      values.set(key, value);
    }
    return value;
  };
}

/**
 * Returns a function that begins a look once for each key in a tick of the event loop: all that ask for it then share its
 * result. One that joined later could miss a change since.
 */
export function oncePerTick<V>(): (key: string, begin: () => Promise<V>) => Promise<V> {
  const begun = new Map<string, Promise<V>>();
  return (key, begin) => {
    const shared = begun.get(key) ?? begin();
    if (!begun.has(key)) setImmediate(() => begun.delete(key));
    begun.set(key, shared);
    return shared;
  };
}
