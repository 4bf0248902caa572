type Numbers = Int8Array | Uint8Array | Int32Array | Float32Array | Float64Array;

/** Returns the array, or a larger copy with capacity for at least `size`. */
export function grown<T extends Numbers>(array: T, size: number): T {
  if (array.length >= size) return array;
  const room = Math.max(size, 64, Math.ceil(array.length * 1.5));
  const copy = new (array.constructor as new (length: number) => T)(room);
  copy.set(array);
  return copy;
}

/** Numbers for repeated strings, stored in columns. 0 is null. */
export class Names {
  readonly #numbers = new Map<string, number>();

  /** Returns the string's number, a new one if needed. */
  add(name: string | null): number {
    if (name === null) return 0;
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#numbers.size + 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  /** Returns a table, by number, that marks the numbers of these strings. */
  table(names: readonly (string | null)[]): Uint8Array {
    const table = new Uint8Array(this.#numbers.size + 1);
    for (const name of names) {
      const number = name === null ? 0 : this.#numbers.get(name);
      if (number !== undefined) table[number] = 1;
    }
    return table;
  }
}

/** Keeps the `size` items of the highest scores. */
export class Highest {
  readonly #size: number;
  readonly #items: Int32Array;
  readonly #scores: Float32Array;
  #count = 0;

  constructor(size: number) {
    this.#size = size;
    this.#items = new Int32Array(size);
    this.#scores = new Float32Array(size);
  }

  offer(item: number, score: number): void {
    if (this.#count < this.#size) this.#rise(this.#count++, item, score);
    else if (score > (this.#scores[0] as number)) this.#sink(item, score);
  }

  /** The score needed to enter; 0 until it is full. */
  get least(): number {
    return this.#count < this.#size ? 0 : (this.#scores[0] as number);
  }

  /** Returns the items, best first. */
  items(): number[] {
    const order = Array.from({ length: this.#count }, (_, i) => i);
    const scores = this.#scores;
    order.sort((a, b) => (scores[b] as number) - (scores[a] as number) || this.#item(a) - this.#item(b));
    return order.map((i) => this.#item(i));
  }

  #item(at: number): number {
    return this.#items[at] as number;
  }

  #put(at: number, item: number, score: number): void {
    this.#items[at] = item;
    this.#scores[at] = score;
  }

  // The lowest score is at the root.
  #rise(from: number, item: number, score: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#scores[parent] as number) <= score) break;
      this.#put(at, this.#item(parent), this.#scores[parent] as number);
      at = parent;
    }
    this.#put(at, item, score);
  }

  #sink(item: number, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (this.#scores[child + 1] as number) < (this.#scores[child] as number))
        child++;
      if ((this.#scores[child] as number) >= score) break;
      this.#put(at, this.#item(child), this.#scores[child] as number);
      at = child;
    }
    this.#put(at, item, score);
  }
}
