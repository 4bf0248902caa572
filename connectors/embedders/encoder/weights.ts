import type { Tensor } from "./tensors.ts";

const PAGE_BYTES = 65_536;
/** Columns of a panel, which the kernel multiplies together. */
const PANEL = 8;

/** Addresses of a matrix, in panels, and of the bias of its products; and its size. */
export interface Matrix {
  at: number;
  bias: number;
  depth: number;
  columns: number;
}

/** Scale and bias for numbers of mean 0 and deviation 1. */
export interface Norm {
  scale: Float32Array;
  bias: Float32Array;
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

  constructor(tensors: ReadonlyMap<string, Tensor>, room: number) {
    this.#tensors = tensors;
    const numbers = tensors.values().reduce((sum, { values }) => sum + values.length, room);
    this.memory = new WebAssembly.Memory({ initial: Math.ceil((numbers * 4) / PAGE_BYTES) });
  }

  /** Returns a block of `count` numbers, a multiple of 4. */
  block(count: number): Block {
    const at = this.#used;
    this.#used += count * Float32Array.BYTES_PER_ELEMENT;
    return { at, values: new Float32Array(this.memory.buffer, at, count) };
  }

  table(name: string): Float32Array {
    return this.#copied(name).values;
  }

  norm(name: string): Norm {
    const of = (part: string) => this.table(`${name}/layer_prepostprocess/layer_norm/layer_norm_${part}`);
    return { scale: of("scale"), bias: of("bias") };
  }

  matrix(name: string): Matrix {
    const { shape, values } = this.#tensor(name);
    const [depth, columns] = shape.slice(-2) as [number, number];
    const { at, values: panels } = this.block(values.length);
    let to = 0;
    for (let column = 0; column < columns; column += PANEL)
      for (let row = 0; row < depth; row++)
        for (let each = 0; each < PANEL; each++)
          panels[to++] = values[row * columns + column + each] as number;
    return { at, bias: this.#copied(`${name}/bias`).at, depth, columns };
  }

  #copied(name: string): Block {
    const { values } = this.#tensor(name);
    const block = this.block(values.length);
    block.values.set(values);
    return block;
  }

  #tensor(name: string): Tensor {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw new Error(`the model has no ${name}`);
    return tensor;
  }
}
