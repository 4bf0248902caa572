import { atTickEnd } from "./tick-end.ts";

interface Group<T, R> {
  items: T[];
  weight: number;
  resolve(results: R[]): void;
  reject(err: unknown): void;
}

interface BatcherOptions<T, R> {
  /** Executes many items at once; returns one result for each, in order. */
  flush(items: T[]): Promise<R[]>;
  /** The weight of an item, in the unit of `maxWeight`. */
  weight(item: T): number;
  /** Limits of a flush, which only a single larger group may exceed. */
  maxItems: number;
  maxWeight: number;
}

/**
 * Collects the items of one event loop tick and executes them together, so that concurrent requests share one round
 * trip to the store. A flush does not wait for earlier ones: the store's driver batches better.
 */
export class Batcher<T, R> {
  readonly #options: BatcherOptions<T, R>;
  #waiting: Group<T, R>[] = [];

  constructor(options: BatcherOptions<T, R>) {
    this.#options = options;
  }

  /** Adds a group of items that are flushed together. Rejects with the error of their flush. */
  add(items: T[]): Promise<R[]> {
    const weight = items.reduce((sum, item) => sum + this.#options.weight(item), 0);
    if (this.#waiting.length === 0) atTickEnd(() => this.#flushAll());
    return new Promise<R[]>((resolve, reject) => this.#waiting.push({ items, weight, resolve, reject }));
  }

  #flushAll(): void {
    const groups = this.#waiting;
    this.#waiting = [];
    const { maxItems, maxWeight } = this.#options;
    let batch: Group<T, R>[] = [];
    let items = 0;
    let weight = 0;
    for (const group of groups) {
      if (batch.length && (items + group.items.length > maxItems || weight + group.weight > maxWeight)) {
        this.#flush(batch);
        batch = [];
        items = weight = 0;
      }
      batch.push(group);
      items += group.items.length;
      weight += group.weight;
    }
    this.#flush(batch);
  }

  #flush(groups: Group<T, R>[]): void {
    const items =
      groups.length === 1 ? (groups[0] as Group<T, R>).items : groups.flatMap((group) => group.items);
    this.#options.flush(items).then(
      (results) => {
        let at = 0;
        for (const group of groups) {
          group.resolve(results.slice(at, at + group.items.length));
          at += group.items.length;
        }
      },
      (err) => {
        for (const group of groups) group.reject(err);
      },
    );
  }
}
