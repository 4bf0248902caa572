import { grown } from "./columns.ts";
import { dotsIn } from "./kernel.ts";

/** Rows that are kept, and compared, together. */
const BLOCK_ROWS = 64;
const PAGE_BYTES = 65_536;
/** The first page holds the query, and the products of one block. */
const QUERY_AT = 0;
const PRODUCTS_AT = PAGE_BYTES - BLOCK_ROWS * 4;
const GROW_PAGES = 64;
/** A query has 16 bits a component: what is lost of a cosine is lost by the rows' 8 bits alone, about 0.001. */
const QUERY_STEPS = 2047;
const ROW_STEPS = 127;

/** The most dimensions a vector may have. */
export const MAX_DIMENSIONS = 8192;

/** A vector of length one in 8 bits a component; the component is the integer times `scale`. */
export interface Quantised {
  integers: Int8Array;
  scale: number;
}

/** @param dims the result's length, a multiple of 8; what the vector lacks is 0 */
export function quantise(vector: Float32Array, dims: number): Quantised {
  const { unit, largest } = normalise(vector);
  const scale = largest / ROW_STEPS || 1;
  const integers = new Int8Array(dims);
  for (let i = 0; i < unit.length; i++) integers[i] = Math.round((unit[i] as number) / scale);
  return { integers, scale };
}

function normalise(vector: Float32Array): { unit: Float32Array; largest: number } {
  let squares = 0;
  let largest = 0;
  for (const x of vector) {
    squares += x * x;
    largest = Math.max(largest, Math.abs(x));
  }
  const norm = Math.sqrt(squares) || 1;
  return { unit: vector.map((x) => x / norm), largest: largest / norm };
}

/** Memory for vectors of one model, which all tables share: tenants come and go, and their blocks are used again. */
export class VectorMemory {
  /** Components of a row: the model's dimensions, filled up to a multiple of 8. */
  readonly dims: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #dots = dotsIn(this.#memory);
  readonly #free: number[] = [];
  #used = PAGE_BYTES;

  constructor(dimensions: number) {
    this.dims = (dimensions + 7) & ~7;
  }

  /** The address of a block of zeros. */
  take(): number {
    const freed = this.#free.pop();
    if (freed !== undefined) return freed;
    const at = this.#used;
    this.#used += BLOCK_ROWS * this.dims;
    while (this.#used > this.#memory.buffer.byteLength) this.#memory.grow(GROW_PAGES);
    return at;
  }

  give(block: number): void {
    new Int8Array(this.#memory.buffer, block, BLOCK_ROWS * this.dims).fill(0);
    this.#free.push(block);
  }

  write(block: number, index: number, integers: Int8Array): void {
    new Int8Array(this.#memory.buffer, block + index * this.dims, this.dims).set(integers);
  }

  read(block: number, index: number): Int8Array {
    return new Int8Array(this.#memory.buffer, block + index * this.dims, this.dims).slice();
  }

  /** Sets the vector that `products` compares with; gives what a product has to be multiplied by. */
  ask(vector: Float32Array): number {
    const { unit, largest } = normalise(vector);
    const step = largest / QUERY_STEPS || 1;
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.dims).fill(0);
    for (let i = 0; i < unit.length; i++) query[i] = Math.round((unit[i] as number) / step);
    return step;
  }

  /** Products of the block's rows with what was asked. Good until the next call. */
  products(block: number): Int32Array {
    this.#dots(QUERY_AT, this.dims, block, BLOCK_ROWS, PRODUCTS_AT);
    return new Int32Array(this.#memory.buffer, PRODUCTS_AT, BLOCK_ROWS);
  }
}

/** The vectors of one index by row. */
export class VectorTable {
  readonly #memory: VectorMemory;
  readonly #blocks: number[] = [];
  #scales = new Float32Array(0);
  /** Rows that have a vector. */
  count = 0;

  constructor(memory: VectorMemory) {
    this.#memory = memory;
  }

  has(row: number): boolean {
    return (this.#scales[row] ?? 0) > 0;
  }

  set(row: number, { integers, scale }: Quantised): void {
    const block = Math.floor(row / BLOCK_ROWS);
    while (this.#blocks.length <= block) this.#blocks.push(this.#memory.take());
    this.#scales = grown(this.#scales, row + 1);
    if (!this.has(row)) this.count++;
    this.#scales[row] = scale;
    this.#memory.write(this.#blocks[block] as number, row % BLOCK_ROWS, integers);
  }

  remove(row: number): void {
    if (!this.has(row)) return;
    this.#scales[row] = 0;
    this.count--;
  }

  /** The row's vector; null without one. */
  quantised(row: number): Quantised | null {
    if (!this.has(row)) return null;
    const block = this.#blocks[Math.floor(row / BLOCK_ROWS)] as number;
    return { integers: this.#memory.read(block, row % BLOCK_ROWS), scale: this.#scales[row] as number };
  }

  /** The cosine of each of the first `rows` rows with a vector; NaN where a row has none. */
  cosines(vector: Float32Array, rows: number): Float32Array {
    const result = new Float32Array(rows).fill(Number.NaN);
    if (this.count === 0) return result;
    const step = this.#memory.ask(vector);
    this.#blocks.forEach((block, n) => {
      const products = this.#memory.products(block);
      const first = n * BLOCK_ROWS;
      const last = Math.min(first + BLOCK_ROWS, rows, this.#scales.length);
      for (let row = first; row < last; row++) {
        const scale = this.#scales[row] as number;
        if (scale > 0) result[row] = Math.min(1, (products[row - first] as number) * scale * step);
      }
    });
    return result;
  }

  /** Gives the memory back. */
  release(): void {
    for (const block of this.#blocks.splice(0)) this.#memory.give(block);
    this.#scales = new Float32Array(0);
    this.count = 0;
  }
}
