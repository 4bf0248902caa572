import { readFileSync } from "node:fs";

/** Rows that are stored and compared together. */
export const BLOCK_ROWS = 64;
const PAGE_BYTES = 65_536;
const GROW_PAGES = 64;
/** Rows compared per call. */
const AT_ONCE = 1024;
/** The first page holds the query, its signs, lists of rows with their products, and the histogram of distances. */
const QUERY_AT = 0;
const SIGNS_AT = 16_384;
const LIST_AT = 20_480;
const RESULTS_AT = LIST_AT + AT_ONCE * 4;
const HISTOGRAM_AT = RESULTS_AT + AT_ONCE * 4;
/** A query has 16 bits per component: the error of a cosine, about 0.001, comes only from the rows' 8 bits. */
const QUERY_STEPS = 2047;
const ROW_STEPS = 127;

/** A unit vector in 8 bits per component: the integer times `scale`, which is 0 for a vector of zeros. */
export interface Quantised {
  integers: Int8Array;
  scale: number;
}

/** @param dims number of integers; missing components are 0 */
export function quantise(vector: Float32Array, dims: number): Quantised {
  const { unit, largest } = normalise(vector);
  const scale = largest / ROW_STEPS;
  const integers = new Int8Array(dims);
  if (scale === 0) return { integers, scale };
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
 * Memory for the vectors of one model, shared by all tenants' tables, whose freed blocks are reused. A block holds
 * rows, followed by space for the rows' signs: one bit per component, set if it is above the same component of a
 * center.
 */
export class VectorMemory {
  /** Components of a row: the model's, padded to a multiple of 8. */
  readonly dims: number;
  readonly #signBytes: number;
  readonly #blockBytes: number;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #kernel = kernelIn(this.#memory);
  readonly #free: number[] = [];
  #used = PAGE_BYTES;
  #center: { at: number; of: Float32Array | null } | undefined;
  /** The buffers for comparing the signs of `rows` rows. */
  #scan = { rows: 0, mask: 0, distances: 0, found: 0 };

  constructor(dimensions: number) {
    this.dims = (dimensions + 7) & ~7;
    this.#signBytes = Math.ceil(this.dims / 128) * 16;
    this.#blockBytes = BLOCK_ROWS * (this.dims + this.#signBytes);
  }

  /** Allocates a block and returns its address. */
  take(): number {
    return this.#free.pop() ?? this.#reserve(this.#blockBytes);
  }

  give(block: number): void {
    this.#free.push(block);
  }

  write(block: number, index: number, integers: Int8Array): void {
    this.#row(block, index).set(integers);
  }

  /** Stores the signs of a row. */
  sign(block: number, index: number, scale: number, center: Float32Array): void {
    const signs = this.#signsOf(block) + index * this.#signBytes;
    this.#bytes(signs, this.#signBytes).fill(0);
    this.#kernel.signs(this.addressOf(block, index), this.dims, scale, this.#centerAt(center), signs);
  }

  /** Returns the center's address; the table in use seldom changes. */
  #centerAt(center: Float32Array): number {
    this.#center ??= { at: this.#reserve(this.dims * 4), of: null };
    if (this.#center.of !== center) new Float32Array(this.#memory.buffer, this.#center.at).set(center);
    this.#center.of = center;
    return this.#center.at;
  }

  /** Returns a copy of a row. */
  read(block: number, index: number): Int8Array {
    return this.#row(block, index).slice();
  }

  /** Sets the vector to compare with; returns the factor for products. */
  ask(vector: Float32Array): number {
    const { unit, largest } = normalise(vector);
    const step = largest / QUERY_STEPS || 1;
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.dims).fill(0);
    for (let i = 0; i < unit.length; i++) query[i] = Math.round((unit[i] as number) / step);
    return step;
  }

  /** Sets the signs to compare with: those of the query's vector, with this step. */
  askSigns(step: number, center: Float32Array): void {
    const query = new Int16Array(this.#memory.buffer, QUERY_AT, this.dims);
    const signs = this.#bytes(SIGNS_AT, this.#signBytes).fill(0);
    for (let i = 0; i < query.length; i++)
      if ((query[i] as number) * step > (center[i] as number))
        signs[i >> 3] = (signs[i >> 3] as number) | (1 << (i & 7));
  }

  /** Computes the products of rows with the query; `addressOf` gives the address of the n-th. */
  products(
    count: number,
    addressOf: (n: number) => number,
    tell: (n: number, product: number) => void,
  ): void {
    for (let from = 0; from < count; from += AT_ONCE) {
      const some = Math.min(AT_ONCE, count - from);
      const list = new Int32Array(this.#memory.buffer, LIST_AT, (some + 3) & ~3);
      // The last group of four is padded with rows whose products are ignored.
      for (let i = 0; i < list.length; i++) list[i] = addressOf(from + Math.min(i, some - 1));
      this.#kernel.dots(QUERY_AT, this.dims, LIST_AT, list.length, RESULTS_AT);
      const results = new Int32Array(this.#memory.buffer, RESULTS_AT, some);
      for (let i = 0; i < some; i++) tell(from + i, results[i] as number);
    }
  }

  product(row: number): number {
    return this.#kernel.dot(QUERY_AT, this.dims, row);
  }

  /** Returns the address of a block's row. */
  addressOf(block: number, index: number): number {
    return block + index * this.dims;
  }

  /** Returns the mask of rows to scan, for the caller to set to 1 or 0. */
  scanned(rows: number): Uint8Array {
    if (rows > this.#scan.rows) this.#makeRoom(rows + (rows >> 1));
    return this.#bytes(this.#scan.mask, rows);
  }

  /**
   * Counts the signs in which each row of the blocks differs from the query; returns how many rows differ in how many.
   * `nearest` refers to this scan.
   */
  scan(blocks: readonly number[]): Int32Array {
    const histogram = new Int32Array(this.#memory.buffer, HISTOGRAM_AT, this.dims + 1).fill(0);
    for (const [n, block] of blocks.entries()) {
      const first = n * BLOCK_ROWS;
      this.#kernel.distances(
        SIGNS_AT,
        this.#signBytes,
        this.#signsOf(block),
        BLOCK_ROWS,
        this.#scan.mask + first,
        this.#scan.distances + first * 2,
        HISTOGRAM_AT,
      );
    }
    return histogram;
  }

  /** Returns the rows that differ in fewer signs than `edge`, and up to `room` that differ in exactly as many. */
  nearest(rows: number, edge: number, room: number): Int32Array {
    const { distances, found } = this.#scan;
    const count = this.#kernel.nearest(distances, rows, edge, room, found);
    return new Int32Array(this.#memory.buffer, found, count).slice();
  }

  // The old buffers are small and not reused.
  #makeRoom(atLeast: number): void {
    const rows = Math.ceil(atLeast / BLOCK_ROWS) * BLOCK_ROWS;
    const [distances, found] = [this.#reserve(rows * 2), this.#reserve(rows * 4)];
    this.#scan = { rows, distances, found, mask: this.#reserve(rows) };
  }

  #reserve(bytes: number): number {
    const at = this.#used;
    this.#used += bytes;
    const lacking = this.#used - this.#memory.buffer.byteLength;
    if (lacking > 0) this.#memory.grow(Math.max(GROW_PAGES, Math.ceil(lacking / PAGE_BYTES)));
    return at;
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

/** The functions of kernel.wat. Addresses are bytes of the memory. */
interface Kernel {
  /** Computes products of the query, in 16-bit integers, with the rows at the listed addresses, in 8-bit integers. */
  dots(query: number, dims: number, list: number, count: number, out: number): void;
  dot(query: number, dims: number, row: number): number;
  /** Computes the signs of a row in 8-bit integers, relative to a center in 32-bit floats. */
  signs(row: number, dims: number, scale: number, center: number, out: number): void;
  /** Counts the bits in which each row differs from the query, and how many rows differ in how many bits. */
  distances(
    query: number,
    bytes: number,
    from: number,
    rows: number,
    mask: number,
    out: number,
    histogram: number,
  ): void;
  /** Lists the rows nearer than the edge, and some at the edge; returns their number. */
  nearest(distances: number, rows: number, edge: number, room: number, out: number): number;
}

const module = new WebAssembly.Module(readFileSync(new URL("./kernel.wasm", import.meta.url)));

function kernelIn(memory: WebAssembly.Memory): Kernel {
  return new WebAssembly.Instance(module, { host: { memory } }).exports as unknown as Kernel;
}
