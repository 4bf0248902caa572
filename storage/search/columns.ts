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
  /** Highest first. */
  readonly #kept: { item: number; score: number }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  offer(item: number, score: number): void {
    const kept = this.#kept;
    if (kept.length === this.#size && score <= this.least) return;
    let at = kept.length;
    while (at > 0 && (kept[at - 1]?.score as number) < score) at--;
    kept.splice(at, 0, { item, score });
    if (kept.length > this.#size) kept.pop();
  }

  /** The score needed to enter; 0 until it is full. */
  get least(): number {
    return this.#kept.length < this.#size ? 0 : (this.#kept.at(-1)?.score as number);
  }

  /** Returns the items, best first. */
  items(): number[] {
    return this.#kept.sort((a, b) => b.score - a.score || a.item - b.item).map(({ item }) => item);
  }
}
