/** A map that keeps the entries used last, at most `capacity` of them. */
export class LruMap<K, V> extends Map<K, V> {
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  override get(key: K): V | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#capacity) this.delete(this.keys().next().value as K);
    return super.set(key, value);
  }
}
