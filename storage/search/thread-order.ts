import { grown } from "./columns.ts";

const NONE = -1;

/** Rows of each thread in order of time, then id: each knows the previous and the next one. */
export class ThreadOrder {
  #before = new Int32Array(0);
  #after = new Int32Array(0);
  #times = new Float64Array(0);
  readonly #ids: string[] = [];
  readonly #keys: (string | null)[] = [];
  readonly #last = new Map<string, number>();

  /** @param key the thread; null for a single row */
  add(row: number, key: string | null, { id, created_at: time }: { id: string; created_at: number }): void {
    this.#before = grown(this.#before, row + 1);
    this.#after = grown(this.#after, row + 1);
    this.#times = grown(this.#times, row + 1);
    this.#keys[row] = key;
    this.#times[row] = time;
    this.#ids[row] = id;
    this.#before[row] = this.#after[row] = NONE;
    if (key === null) return;
    let before = this.#last.get(key) ?? NONE;
    let after = NONE;
    const isLater = (other: number) =>
      (this.#times[other] as number) > time ||
      (this.#times[other] === time && (this.#ids[other] as string) > id);
    while (before !== NONE && isLater(before)) {
      after = before;
      before = this.#before[before] as number;
    }
    this.#join(key, before, row);
    this.#join(key, row, after);
  }

  remove(row: number): void {
    const key = this.#keys[row];
    if (key == null) return;
    const [before, after] = [this.before(row), this.after(row)];
    if (before === NONE && after === NONE) this.#last.delete(key);
    else this.#join(key, before, after);
    this.#keys[row] = null;
    this.#before[row] = this.#after[row] = NONE;
  }

  /** The previous row, -1 without one. */
  before(row: number): number {
    return this.#before[row] as number;
  }

  after(row: number): number {
    return this.#after[row] as number;
  }

  #join(key: string, before: number, after: number): void {
    if (before !== NONE) this.#after[before] = after;
    if (after !== NONE) this.#before[after] = before;
    else this.#last.set(key, before);
  }
}
