/** A map that keeps the entries used last, at most `capacity` of them. */
export class LruMap<K, V> extends Map<K, V> {
  readonly #capacity: number;
  /** The key used last: using it again changes nothing. */
  #last: K | undefined;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  override get(key: K): V | undefined {
    const value = super.get(key);
    if (value !== undefined && key !== this.#last) this.set(key, value);
    return value;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#capacity) this.delete(this.keys().next().value as K);
    this.#last = key;
    return super.set(key, value);
  }
}
