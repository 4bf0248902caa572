import { kernelIn } from "./kernel.ts";

/** Rows that are kept, and compared, together. */
export const BLOCK_ROWS = 64;
const PAGE_BYTES = 65_536;
const GROW_PAGES = 64;
/** The first page holds the query, its signs, and the results for one block. */
const QUERY_AT = 0;
const SIGNS_AT = 32_768;
const RESULTS_AT = PAGE_BYTES - BLOCK_ROWS * 4;
/** A query has 16 bits a component: what is lost of a cosine is lost by the rows' 8 bits alone, about 0.001. */
const QUERY_STEPS = 2047;
const ROW_STEPS = 127;

/** A vector of length one in 8 bits a component; the component is the integer times `scale`. */
export interface Quantised {
  integers: Int8Array;
  scale: number;
}

/** @param dims how many integers there are to be; those that the vector lacks are 0 */
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

/**
 * Memory for the vectors of one model, which all tenants' tables share: they come and go, and their blocks are used
 * again. A block holds rows, and after them room for the rows' signs: one bit a component, set where it is above the
 * same component of a center.
 */
export class VectorMemory {
  /** Components of a row: the model's, filled up to a multiple of 8. */
  readonly dims: number;
  readonly #signBytes: number;
  readonly #blockBytes: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #kernel = kernelIn(this.#memory);
  readonly #free: number[] = [];
  #used = PAGE_BYTES;

  constructor(dimensions: number) {
    this.dims = (dimensions + 7) & ~7;
    this.#signBytes = Math.ceil(this.dims / 128) * 16;
    this.#blockBytes = BLOCK_ROWS * (this.dims + this.#signBytes);
  }

  /** The address of a block. */
  take(): number {
    const freed = this.#free.pop();
    if (freed !== undefined) return freed;
    const at = this.#used;
    this.#used += this.#blockBytes;
    while (this.#used > this.#memory.buffer.byteLength) this.#memory.grow(GROW_PAGES);
    return at;
  }

  give(block: number): void {
    this.#free.push(block);
  }

  write(block: number, index: number, integers: Int8Array): void {
    this.#row(block, index).set(integers);
  }

  /** Notes the signs of a row. */
  sign(block: number, index: number, scale: number, center: Float32Array): void {
    const signs = this.#bytes(this.#signsOf(block) + index * this.#signBytes, this.#signBytes);
    writeSigns(signs, this.#row(block, index), scale, center);
  }

  /** A copy of a row. */
  read(block: number, index: number): Int8Array {
    return this.#row(block, index).slice();
  }

  /** Sets the vector that the others are compared with; gives what a product has to be multiplied by. */
  ask(vector: Float32Array): number {
    const { unit, largest } = normalise(vector);
    const step = largest / QUERY_STEPS || 1;
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.dims).fill(0);
    for (let i = 0; i < unit.length; i++) query[i] = Math.round((unit[i] as number) / step);
    return step;
  }

  /** Sets the signs that others are compared with: those of the vector that was asked with, of this step. */
  askSigns(step: number, center: Float32Array): void {
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.dims);
    writeSigns(this.#bytes(SIGNS_AT, this.#signBytes), query, step, center);
  }

  /** Products of a block's rows with the query. Good until the next call. */
  products(block: number): Int32Array {
    this.#kernel.dots(QUERY_AT, this.dims, block, BLOCK_ROWS, RESULTS_AT);
    return new Int32Array(this.#memory.buffer, RESULTS_AT, BLOCK_ROWS);
  }

  product(block: number, index: number): number {
    return this.#kernel.dot(QUERY_AT, this.dims, block + index * this.dims);
  }

  /** In how many signs a block's rows differ from the query. Good until the next call. */
  distances(block: number): Int32Array {
    this.#kernel.distances(SIGNS_AT, this.#signBytes, this.#signsOf(block), BLOCK_ROWS, RESULTS_AT);
    return new Int32Array(this.#memory.buffer, RESULTS_AT, BLOCK_ROWS);
  }

  #signsOf(block: number): number {
    return block + BLOCK_ROWS * this.dims;
  }

  #row(block: number, index: number): Int8Array {
    return new Int8Array(this.#memory.buffer, block + index * this.dims, this.dims);
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, at, length);
  }
}

function writeSigns(
  bytes: Uint8Array,
  integers: Int8Array | Int16Array,
  scale: number,
  center: Float32Array,
): void {
  bytes.fill(0);
  for (let i = 0; i < integers.length; i++)
    if ((integers[i] as number) * scale > (center[i] as number))
      bytes[i >> 3] = (bytes[i >> 3] as number) | (1 << (i & 7));
}
