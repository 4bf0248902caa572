import {
  fastestSpelling,
  type Kernel,
  kernelIn,
  MOST_WEIGHT,
  PANEL,
  PANEL_SCALES_BYTES,
  ROW_SCALE_BYTES,
  type Tensor,
} from "./kernel.ts";

/** Only this many pieces of a text count. */
const MOST_PIECES = 128;
/** Rows that the kernel multiplies at a time. */
const TOGETHER = 4;
/** The most pieces that pass through the model together. */
const ROWS = 64 * TOGETHER;
const WIDTH = 512;
const WIDEST = 1536;
const HEADS = 4;
/** Shares of a text's rows; the kernel writes a little after the last. */
const MOST_SHARES = MOST_PIECES + 4;
const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT;

interface Layer {
  norm: Norm;
  /** Queries, keys and values. */
  attend: Matrix;
  combine: Matrix;
  /** Widens the input to the width of the output. */
  widen: Matrix | null;
  hiddenNorm: Norm;
  hidden: Matrix;
  narrow: Matrix;
}

/** A text's rows: the first, and the one after the last. */
interface Span {
  from: number;
  to: number;
}

/**
 * The transformer of the Universal Sentence Encoder (lite): two layers of attention and hidden units, each after a norm
 * and with a residual connection, then the mean over a text's pieces through one more. Matrices multiply integers: their
 * weights have 8 bits, and each row of values is rounded to 7 bits before.
 */
export class Encoder {
  readonly #kernel: Kernel;
  readonly #embeddings: Float32Array;
  /** Waves that encode a piece's position, by position. */
  readonly #positions: Float32Array;
  readonly #embeddingWidth: number;
  readonly #layers: Layer[];
  readonly #last: Matrix;
  /** The values passed from layer to layer, and intermediate results. */
  readonly #stream: Block;
  readonly #normed: Block;
  readonly #wide: Block;
  readonly #made: Block;
  readonly #shares: Block;
  /** Rows rounded for a product, and their scales. */
  readonly #rounded: number;
  readonly #scales: number;

  /** @param tensors of the model, by the names of `readTensors` */
  constructor(tensors: ReadonlyMap<string, Tensor>, spelling = fastestSpelling()) {
    const numbers = ROWS * (3 * WIDTH + WIDEST) + MOST_SHARES;
    const weights = new Weights(tensors, numbers * NUMBER_BYTES + ROWS * (WIDEST + ROW_SCALE_BYTES));
    this.#kernel = kernelIn(weights.memory, spelling);
    this.#embeddings = weights.tensor("Embeddings_en").values.slice();
    const frequencies = weights.tensor("Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1").values;
    this.#embeddingWidth = 2 * frequencies.length;
    this.#positions = positionsOf(frequencies);
    this.#layers = ["Layer_0", "Layer_1"].map((name) => layerOf(weights, name, tensors.has(`${name}/dense`)));
    this.#last = weights.matrix("hidden_layers/tanh_layer_0");
    this.#stream = weights.block(ROWS * WIDTH);
    this.#normed = weights.block(ROWS * WIDTH);
    this.#wide = weights.block(ROWS * WIDEST);
    this.#made = weights.block(ROWS * WIDTH);
    this.#shares = weights.block(MOST_SHARES);
    this.#rounded = weights.claim(ROWS * WIDEST);
    this.#scales = weights.claim(ROWS * ROW_SCALE_BYTES);
  }

  /** Returns unit vectors of texts, each given as the numbers of its pieces, at least one. */
  encode(texts: readonly (readonly number[])[]): Float32Array[] {
    const vectors: Float32Array[] = [];
    let together: (readonly number[])[] = [];
    let rows = 0;
    for (const text of texts) {
      const ids = text.slice(0, MOST_PIECES);
      if (rows + ids.length > ROWS) {
        vectors.push(...this.#pass(together));
        together = [];
        rows = 0;
      }
      together.push(ids);
      rows += ids.length;
    }
    return [...vectors, ...this.#pass(together)];
  }

  #pass(texts: readonly (readonly number[])[]): Float32Array[] {
    const spans: Span[] = [];
    let rows = 0;
    for (const ids of texts) {
      this.#embed(ids, rows);
      spans.push({ from: rows, to: rows + ids.length });
      rows += ids.length;
    }
    for (const layer of this.#layers) this.#through(layer, spans, rows);
    this.#multiply(this.#stream, texts.length, this.#last, this.#made);
    return texts.map((_, i) => unit(this.#made.values.subarray(i * WIDTH, (i + 1) * WIDTH)));
  }

  /** Embeds a piece's meaning and its position in the text. */
  #embed(ids: readonly number[], row: number): void {
    const width = this.#embeddingWidth;
    for (const [position, id] of ids.entries())
      for (let i = 0; i < width; i++)
        // The model was trained with the piece counted twice.
        this.#stream.values[(row + position) * width + i] =
          2 * (this.#embeddings[id * width + i] as number) +
          (this.#positions[position * width + i] as number);
  }

  /** From and to `stream`, where the last layer leaves one row per text: the mean of the text's rows. */
  #through(layer: Layer, spans: readonly Span[], rows: number): void {
    const [stream, normed, wide, made] = [this.#stream, this.#normed, this.#wide, this.#made];
    this.#normalise(stream, rows, layer.norm, normed);
    this.#multiply(normed, rows, layer.attend, wide);
    for (const span of spans) this.#attend(span, layer.combine.depth);
    this.#multiply(normed, rows, layer.combine, made);
    if (layer.widen) this.#multiply(stream, rows, layer.widen, stream);
    this.#kernel.add(stream.at, made.at, rows * WIDTH);
    this.#normalise(stream, rows, layer.hiddenNorm, normed);
    this.#multiply(normed, rows, layer.hidden, wide, 0);
    let left = rows;
    if (layer === this.#layers.at(-1)) {
      // The product of a mean is the mean of the products, with fewer rows to multiply.
      for (const [i, span] of spans.entries()) {
        this.#mean(stream, span, WIDTH, i);
        this.#mean(wide, span, WIDEST, i);
      }
      left = spans.length;
    }
    this.#multiply(wide, left, layer.narrow, made);
    this.#kernel.add(stream.at, made.at, left * WIDTH);
  }

  #normalise(from: Block, rows: number, { scale, bias, width }: Norm, to: Block): void {
    this.#kernel.normalise(rows, width, from.at, scale, bias, to.at);
  }

  /** Computes for each row the sum of its text's values, weighted by how well keys match its query: `wide` to `normed`. */
  #attend({ from, to }: Span, width: number): void {
    const size = width / HEADS;
    const factor = 1 / Math.sqrt(size);
    const stride = 3 * width * NUMBER_BYTES;
    const address = (row: number, column: number) => this.#wide.at + row * stride + column * NUMBER_BYTES;
    for (let head = 0; head < width; head += size)
      for (let row = from; row < to; row++) {
        const [keys, values] = [address(from, width + head), address(from, 2 * width + head)];
        const out = this.#normed.at + (row * width + head) * NUMBER_BYTES;
        const { at: shares } = this.#shares;
        this.#kernel.attend(address(row, head), keys, values, to - from, stride, size, factor, shares, out);
      }
  }

  /** Writes the mean of a text's rows to row `row`, which is none of a later text's. */
  #mean({ at }: Block, { from, to }: Span, width: number, row: number): void {
    const stride = width * NUMBER_BYTES;
    this.#shares.values.fill(1 / (to - from));
    this.#kernel.blend(this.#shares.at, at + from * stride, to - from, stride, width, at + row * stride);
  }

  /** `to` may be `from`. Rows after the last are multiplied too; they hold stale values that nobody reads. */
  #multiply(from: Block, rows: number, matrix: Matrix, to: Block, least = Number.NEGATIVE_INFINITY): void {
    const { at, depth, columns } = matrix;
    const filled = Math.ceil(rows / TOGETHER) * TOGETHER;
    this.#kernel.quantise(rows, depth, from.at, this.#rounded, this.#scales);
    this.#kernel.multiply(filled, depth, columns, this.#rounded, this.#scales, at, least, to.at);
  }
}

function layerOf(weights: Weights, name: string, widens: boolean): Layer {
  return {
    norm: weights.norm(name),
    attend: weights.matrix(`${name}/MultiheadAttention/qkv_transform_single`),
    combine: weights.matrix(`${name}/MultiheadAttention/output_transform_single`),
    widen: widens ? weights.matrix(`${name}/dense`) : null,
    hiddenNorm: weights.norm(`${name}/FFN`),
    hidden: weights.matrix(`${name}/FFN/conv1`),
    narrow: weights.matrix(`${name}/FFN/conv2`),
  };
}

/** Returns a row per position: sines of the frequencies, then cosines. */
function positionsOf(frequencies: Float32Array): Float32Array {
  const width = 2 * frequencies.length;
  return Float32Array.from({ length: MOST_PIECES * width }, (_, i) => {
    const angle = Math.floor(i / width) * (frequencies[i % frequencies.length] as number);
    return i % width < frequencies.length ? Math.sin(angle) : Math.cos(angle);
  });
}

/** Returns a unit vector, after the hyperbolic tangent. */
function unit(values: Float32Array): Float32Array {
  const bounded = values.map(Math.tanh);
  const length = Math.sqrt(bounded.reduce((sum, x) => sum + x * x, 0));
  return bounded.map((x) => x / length);
}

const PAGE_BYTES = 65_536;
const ALIGNED_BYTES = 16;

/** Address and size of a matrix of 8-bit weights, in panels as `multiply` of kernel.wat reads them. */
interface Matrix {
  at: number;
  depth: number;
  columns: number;
}

/** Addresses of scale and bias for numbers of mean 0 and deviation 1. */
interface Norm {
  scale: number;
  bias: number;
  width: number;
}

/** Numbers in the memory. */
interface Block {
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
