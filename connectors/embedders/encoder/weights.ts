import { MOST_WEIGHT, PANEL, PANEL_SCALES_BYTES } from "./kernel.ts";
import type { Tensor } from "./tensors.ts";

const PAGE_BYTES = 65_536;
const ALIGNED_BYTES = 16;
const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Address and size of a matrix of 8-bit weights, in panels as `multiply` of kernel.wat reads them. */
export interface Matrix {
  at: number;
  depth: number;
  columns: number;
}

/** Addresses of scale and bias for numbers of mean 0 and deviation 1. */
export interface Norm {
  scale: number;
  bias: number;
  width: number;
}

/** Numbers in the memory. */
export interface Block {
  at: number;
  values: Float32Array;
}

/** A model's numbers in its kernel's memory, with space for working values. */
export class Weights {
  readonly memory: WebAssembly.Memory;
  readonly #tensors: ReadonlyMap<string, Tensor>;
  #used = 0;

  /** @param room bytes for working values */
  constructor(tensors: ReadonlyMap<string, Tensor>, room: number) {
    this.#tensors = tensors;
    const bytes = tensors.values().reduce((sum, tensor) => sum + mostBytes(tensor), room);
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE_BYTES) });
  }

  /** Returns the address of so many bytes. */
  claim(bytes: number): number {
    const at = this.#used;
    this.#used += Math.ceil(bytes / ALIGNED_BYTES) * ALIGNED_BYTES;
    return at;
  }

  block(count: number): Block {
    const at = this.claim(count * NUMBER_BYTES);
    return { at, values: new Float32Array(this.memory.buffer, at, count) };
  }

  norm(name: string): Norm {
    const values = (part: string) =>
      this.tensor(`${name}/layer_prepostprocess/layer_norm/layer_norm_${part}`).values;
    const copied = (part: string) => {
      const block = this.block(values(part).length);
      block.values.set(values(part));
      return block.at;
    };
    return { scale: copied("scale"), bias: copied("bias"), width: values("scale").length };
  }

  /** Rounds a matrix to 8 bits, with a scale per column. */
  matrix(name: string): Matrix {
    const { shape, values } = this.tensor(name);
    const bias = this.tensor(`${name}/bias`).values;
    const [depth, columns] = shape.slice(-2) as [number, number];
    const panelBytes = depth * PANEL + PANEL_SCALES_BYTES;
    const at = this.claim((panelBytes * columns) / PANEL);
    const most = new Float32Array(columns);
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      const column = i % columns;
      if (value > (most[column] as number)) most[column] = value;
      else if (-value > (most[column] as number)) most[column] = -value;
    }
    for (let first = 0; first < columns; first += PANEL) {
      const panel = at + (first / PANEL) * panelBytes;
      const weights = new Int8Array(this.memory.buffer, panel, depth * PANEL);
      const sums = new Int32Array(this.memory.buffer, panel + depth * PANEL, PANEL);
      const scales = new Float32Array(this.memory.buffer, panel + depth * PANEL, 3 * PANEL).subarray(PANEL);
      for (let column = 0; column < PANEL; column++) {
        scales[column] = (most[first + column] as number) / MOST_WEIGHT;
        scales[PANEL + column] = bias[first + column] as number;
      }
      for (let row = 0; row < depth; row++)
        for (let column = 0; column < PANEL; column++) {
          const weight = (values[row * columns + first + column] as number) / (scales[column] as number);
          // Four weights of a column are next to each other, as the kernel multiplies them.
          const to = (row - (row % 4)) * PANEL + column * 4 + (row % 4);
          // The array cuts off decimals: this rounds to the nearest.
          weights[to] = weight + (weight < 0 ? -0.5 : 0.5);
          sums[column] = (sums[column] as number) + (weights[to] as number);
        }
    }
    return { at, depth, columns };
  }

  tensor(name: string): Tensor {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw new Error(`the model has no ${name}`);
    return tensor;
  }
}

/** A matrix takes a byte per number; a column's bias stands with its scale and the sum of its weights. */
function mostBytes({ shape, values }: Tensor): number {
  const perNumber = shape.length > 1 ? 1 : 3 * NUMBER_BYTES;
  return values.length * perNumber + ALIGNED_BYTES;
}
