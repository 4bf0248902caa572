import { grown, Highest } from "./columns.ts";
import { BLOCK_ROWS, type Quantised, type VectorMemory } from "./vector-memory.ts";

/** Up to this many vectors are all compared; of more, those whose signs are most similar to the query's. */
const ALL_COMPARED = 10_000;
/** The share compared then: on sentences it contains all of the best 10, and 99 of the best 100. */
const COMPARED_SHARE = 0.02;
/** Additional share of differing signs above the average of two such vectors: five times the deviation. */
const SIGNS_SPARE = 0.08;
/** Limit of cosines computed when looking for near-duplicates. */
const NEAR_MOST = 1000;
/** Sample size for the center. */
const SAMPLE = 2000;

/** The vectors of one index by row, and their similarity to another. */
export class VectorTable {
  readonly #memory: VectorMemory;
  readonly #blocks: number[] = [];
  #scales = new Float32Array(0);
  #count = 0;
  /** The mean of many vectors. Signs are relative to it, for models whose vectors point in similar directions. */
  #center: Float32Array | null = null;
  /** The factor for products with the vector to compare with. */
  #step = 0;

  constructor(memory: VectorMemory) {
    this.#memory = memory;
  }

  /** A vector of zeros carries no meaning and counts as none. */
  set(row: number, { integers, scale }: Quantised): void {
    if (scale === 0) {
      this.remove(row);
      return;
    }
    const block = Math.floor(row / BLOCK_ROWS);
    while (this.#blocks.length <= block) this.#blocks.push(this.#memory.take());
    this.#scales = grown(this.#scales, this.#blocks.length * BLOCK_ROWS);
    if (!this.#has(row)) this.#count++;
    this.#scales[row] = scale;
    this.#memory.write(this.#blocks[block] as number, row % BLOCK_ROWS, integers);
    if (this.#center) this.#sign(row, this.#center);
    else if (this.#count > ALL_COMPARED) this.#center = this.#findCenter();
  }

  remove(row: number): void {
    if (!this.#has(row)) return;
    this.#scales[row] = 0;
    this.#count--;
  }

  /** Returns the row's vector; null without one. */
  get(row: number): Quantised | null {
    if (!this.#has(row)) return null;
    const block = this.#blocks[Math.floor(row / BLOCK_ROWS)] as number;
    return { integers: this.#memory.read(block, row % BLOCK_ROWS), scale: this.#scales[row] as number };
  }

  /** Sets the vector to compare with, until that of another table of the same memory is set. */
  ask(vector: Float32Array): void {
    this.#step = this.#memory.ask(vector);
    if (this.#center) this.#memory.askSigns(this.#step, this.#center);
  }

  /** Frees the memory. */
  release(): void {
    for (const block of this.#blocks.splice(0)) this.#memory.give(block);
    this.#scales = new Float32Array(0);
    this.#count = 0;
    this.#center = null;
  }

  /** Computes the center, and all signs relative to it. */
  #findCenter(): Float32Array {
    const center = new Float32Array(this.#memory.dims);
    const rows = Array.from(this.#scales.keys()).filter((row) => this.#has(row));
    const sample = rows.filter((_, i) => i % Math.ceil(rows.length / SAMPLE) === 0);
    for (const row of sample) {
      const { integers, scale } = this.get(row) as Quantised;
      for (let i = 0; i < center.length; i++)
        center[i] = (center[i] as number) + ((integers[i] as number) * scale) / sample.length;
    }
    for (const row of rows) this.#sign(row, center);
    return center;
  }

  #sign(row: number, center: Float32Array): void {
    const block = this.#blocks[Math.floor(row / BLOCK_ROWS)] as number;
    this.#memory.sign(block, row % BLOCK_ROWS, this.#scales[row] as number, center);
  }

  #has(row: number): boolean {
    return (this.#scales[row] ?? 0) > 0;
  }

  cosine(row: number): number | null {
    if (!this.#has(row)) return null;
    return this.#cosineOf(this.#memory.product(this.#addressOf(row)), row);
  }

  /** Returns the allowed rows with the highest cosines, best first, and how many are allowed. */
  best(allowed: Uint8Array, size: number): { rows: number[]; matched: number } {
    const highest = new Highest(size);
    const { compared, matched } = this.#center
      ? this.#nearest(allowed, (count) => Math.max(size, Math.ceil(count * COMPARED_SHARE)))
      : this.#all(allowed);
    this.#cosines(compared, (row, cosine) => highest.offer(row, cosine));
    return { rows: highest.items(), matched };
  }

  /** Returns the rows with a cosine of at least `least`, which should be near 1. */
  near(least: number): { row: number; cosine: number }[] {
    const center = this.#center;
    const neighbours: { row: number; cosine: number }[] = [];
    const most = center ? this.#memory.dims * (shareOfSigns(least, center) + SIGNS_SPARE) : 0;
    const { compared } = center ? this.#nearest(null, () => NEAR_MOST, most) : this.#all(null);
    this.#cosines(compared, (row, cosine) => {
      if (cosine >= least) neighbours.push({ row, cosine });
    });
    return neighbours;
  }

  #cosines(rows: ArrayLike<number>, tell: (row: number, cosine: number) => void): void {
    this.#memory.products(
      rows.length,
      (n) => this.#addressOf(rows[n] as number),
      (n, product) => {
        const row = rows[n] as number;
        tell(row, this.#cosineOf(product, row));
      },
    );
  }

  #cosineOf(product: number, row: number): number {
    return Math.min(1, product * (this.#scales[row] as number) * this.#step);
  }

  #addressOf(row: number): number {
    return this.#memory.addressOf(this.#blocks[Math.floor(row / BLOCK_ROWS)] as number, row % BLOCK_ROWS);
  }

  /** Returns all allowed rows with a vector. */
  #all(allowed: Uint8Array | null): Compared {
    const compared: number[] = [];
    for (let row = 0; row < this.#scales.length; row++)
      if (this.#has(row) && (!allowed || allowed[row])) compared.push(row);
    return { compared, matched: compared.length };
  }

  /** Returns the allowed rows whose signs are most similar to the query's. @param most signs that may differ */
  #nearest(allowed: Uint8Array | null, wanted: (of: number) => number, most?: number): Compared {
    const mask = this.#memory.scanned(this.#blocks.length * BLOCK_ROWS);
    for (let row = 0; row < mask.length; row++)
      mask[row] = this.#scales[row] !== 0 && (!allowed || allowed[row] === 1) ? 1 : 0;
    const histogram = this.#memory.scan(this.#blocks);
    const matched = histogram.reduce((sum, count) => sum + count, 0);
    const { edge, room } = findEdge(histogram, wanted(matched), most);
    return { compared: this.#memory.nearest(mask.length, edge, room), matched };
  }
}

interface Compared {
  compared: ArrayLike<number>;
  /** Rows to compare, or to skip because of their signs. */
  matched: number;
}

/** Returns the distance of the last wanted row, and how many rows at that distance are still wanted. */
function findEdge(histogram: Int32Array, wanted: number, most = histogram.length) {
  let edge = 0;
  let within = histogram[0] as number;
  while (within < wanted && edge + 1 < histogram.length && edge < most) within += histogram[++edge] as number;
  return { edge, room: wanted - (within - (histogram[edge] as number)) };
}

/** Returns the average share of signs, relative to a center, in which two unit vectors with this cosine differ. */
function shareOfSigns(cosine: number, center: Float32Array): number {
  const radius = Math.sqrt(Math.max(0.01, 1 - center.reduce((sum, x) => sum + x * x, 0)));
  return (2 * Math.asin(Math.min(1, Math.sqrt(2 - 2 * cosine) / 2 / radius))) / Math.PI;
}
