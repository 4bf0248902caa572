import { grown, Highest } from "./columns.ts";
import { BLOCK_ROWS, type Quantised, type VectorMemory } from "./vector-memory.ts";

/** Up to so many vectors each is compared; of more, those whose signs are most like the query's. */
const ALL_COMPARED = 10_000;
/** The share of them that is compared then: on sentences all of the best 10 are in it, and 99 in 100 of the best 100. */
const COMPARED_SHARE = 0.02;
/** So many more of their signs may differ than those of two such vectors do on average: five times the deviation. */
const SIGNS_SPARE = 0.08;
/** Of so many at the most the cosine is told, when it is near-duplicates that are looked for. */
const NEAR_MOST = 1000;
/** What the center is the mean of. */
const SAMPLE = 2000;

/** The vectors of one index by row. */
export class VectorTable {
  readonly #memory: VectorMemory;
  readonly #blocks: number[] = [];
  #scales = new Float32Array(0);
  #count = 0;
  /** Of very many vectors: where their middle is. Signs are told from there, for models whose vectors point one way. */
  #center: Float32Array | null = null;

  constructor(memory: VectorMemory) {
    this.#memory = memory;
  }

  set(row: number, { integers, scale }: Quantised): void {
    const block = Math.floor(row / BLOCK_ROWS);
    while (this.#blocks.length <= block) this.#blocks.push(this.#memory.take());
    this.#scales = grown(this.#scales, this.#blocks.length * BLOCK_ROWS);
    if (!this.#has(row)) this.#count++;
    this.#scales[row] = scale;
    this.#memory.write(this.#blocks[block] as number, row % BLOCK_ROWS, integers);
    if (this.#center) this.#sign(row, this.#center);
  }

  remove(row: number): void {
    if (!this.#has(row)) return;
    this.#scales[row] = 0;
    this.#count--;
  }

  /** The row's vector; null without one. */
  get(row: number): Quantised | null {
    if (!this.#has(row)) return null;
    const block = this.#blocks[Math.floor(row / BLOCK_ROWS)] as number;
    return { integers: this.#memory.read(block, row % BLOCK_ROWS), scale: this.#scales[row] as number };
  }

  /** Compares with a vector. Only the latest comparison of all tables of a memory is good. */
  compare(vector: Float32Array): Comparison {
    if (this.#count > ALL_COMPARED) this.#center ??= this.#findCenter();
    const [memory, blocks, scales, center] = [this.#memory, this.#blocks, this.#scales, this.#center];
    const step = memory.ask(vector);
    if (center) memory.askSigns(step, center);
    return new Comparison({ memory, blocks, scales, center }, step);
  }

  /** Gives the memory back. */
  release(): void {
    for (const block of this.#blocks.splice(0)) this.#memory.give(block);
    this.#scales = new Float32Array(0);
    this.#count = 0;
    this.#center = null;
  }

  /** Finds the middle, and tells all signs from there. */
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
}

interface Parts {
  memory: VectorMemory;
  blocks: readonly number[];
  /** 0 where a row has no vector. */
  scales: Float32Array;
  /** Where signs are told from; null: there are none. */
  center: Float32Array | null;
}

/** How like a vector the rows of a table are. */
export class Comparison {
  readonly #parts: Parts;
  readonly #step: number;

  constructor(parts: Parts, step: number) {
    this.#parts = parts;
    this.#step = step;
  }

  /** The cosine to a row; null where it has no vector. */
  cosine(row: number): number | null {
    const { memory, blocks, scales } = this.#parts;
    const scale = scales[row] ?? 0;
    if (scale === 0) return null;
    const block = blocks[Math.floor(row / BLOCK_ROWS)] as number;
    return Math.min(1, memory.product(block, row % BLOCK_ROWS) * scale * this.#step);
  }

  /** The rows of the highest cosines, best first, of those that are allowed; and how many those are. */
  best(allowed: Uint8Array, size: number): { rows: number[]; matched: number } {
    const highest = new Highest(size);
    let matched = 0;
    if (!this.#parts.center) {
      this.#products(allowed, (row, cosine) => {
        matched++;
        highest.offer(row, cosine);
      });
    } else {
      const distances = this.#distances(allowed);
      matched = distances.counted;
      const wanted = Math.max(size, Math.ceil(matched * COMPARED_SHARE));
      for (const row of nearest(distances, wanted)) highest.offer(row, this.cosine(row) as number);
    }
    return { rows: highest.items(), matched };
  }

  /** The rows whose cosine is `least` or more; it should be near 1. */
  near(least: number): { row: number; cosine: number }[] {
    const { center, memory } = this.#parts;
    const found: { row: number; cosine: number }[] = [];
    const look = (row: number, cosine: number) => {
      if (cosine >= least) found.push({ row, cosine });
    };
    if (!center) this.#products(null, look);
    else {
      const most = memory.dims * (shareOfSigns(least, center) + SIGNS_SPARE);
      for (const row of nearest(this.#distances(null), NEAR_MOST, most))
        look(row, this.cosine(row) as number);
    }
    return found;
  }

  #products(allowed: Uint8Array | null, tell: (row: number, cosine: number) => void): void {
    const { memory, blocks, scales } = this.#parts;
    for (const [n, block] of blocks.entries()) {
      const products = memory.products(block);
      const first = n * BLOCK_ROWS;
      const last = Math.min(first + BLOCK_ROWS, allowed?.length ?? scales.length);
      for (let row = first; row < last; row++) {
        const scale = scales[row] as number;
        if (scale > 0 && (!allowed || allowed[row]))
          tell(row, Math.min(1, (products[row - first] as number) * scale * this.#step));
      }
    }
  }

  #distances(allowed: Uint8Array | null): Distances {
    const { memory, blocks, scales } = this.#parts;
    const of = new Uint16Array(allowed?.length ?? scales.length).fill(0xffff);
    const histogram = new Int32Array(memory.dims + 1);
    let counted = 0;
    for (const [n, block] of blocks.entries()) {
      const distances = memory.distances(block);
      const first = n * BLOCK_ROWS;
      const last = Math.min(first + BLOCK_ROWS, allowed?.length ?? scales.length);
      for (let row = first; row < last; row++) {
        if (scales[row] === 0 || (allowed && !allowed[row])) continue;
        const distance = distances[row - first] as number;
        of[row] = distance;
        histogram[distance] = (histogram[distance] as number) + 1;
        counted++;
      }
    }
    return { of, histogram, counted };
  }
}

interface Distances {
  /** By row; the largest there is where a row is not compared. */
  of: Uint16Array;
  /** How many rows are at each distance. */
  histogram: Int32Array;
  counted: number;
}

/** The `wanted` rows of the least distances, none above `most`. */
function nearest({ of, histogram }: Distances, wanted: number, most = histogram.length): number[] {
  let edge = 0;
  let within = histogram[0] as number;
  while (within < wanted && edge + 1 < histogram.length && edge < most) within += histogram[++edge] as number;
  // Of those at the edge only as many as there is room for.
  let room = wanted - (within - (histogram[edge] as number));
  const rows: number[] = [];
  for (let row = 0; row < of.length; row++) {
    const distance = of[row] as number;
    if (distance < edge || (distance === edge && room-- > 0)) rows.push(row);
  }
  return rows;
}

/** The share of signs, told from a center, in which two vectors of length one and this cosine differ on average. */
function shareOfSigns(cosine: number, center: Float32Array): number {
  const radius = Math.sqrt(Math.max(0.01, 1 - center.reduce((sum, x) => sum + x * x, 0)));
  return (2 * Math.asin(Math.min(1, Math.sqrt(2 - 2 * cosine) / 2 / radius))) / Math.PI;
}
