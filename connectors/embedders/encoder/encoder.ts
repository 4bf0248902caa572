import { KERNEL } from "./kernel.wasm.ts";
import type { Tensor } from "./tensors.ts";
import { type Block, type Matrix, type Norm, Weights } from "./weights.ts";

/** Only this many pieces of a text count. */
const MOST_PIECES = 128;
/** Rows that the kernel multiplies at a time. */
const TOGETHER = 6;
/** The most pieces that pass through the model together. */
const ROWS = 43 * TOGETHER;
const WIDTH = 512;
const WIDEST = 1536;
const HEADS = 4;
/** Prevents a division by zero when all numbers of a row are equal. */
const EPSILON = 1e-6;

interface Kernel {
  multiply(
    rows: number,
    depth: number,
    columns: number,
    left: number,
    right: number,
    bias: number,
    least: number,
    out: number,
  ): void;
  dot(a: number, b: number, count: number): number;
  add(to: number, from: number, count: number, share: number): void;
}

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
 * and with a residual connection, then the mean over a text's pieces through one more.
 */
export class Encoder {
  readonly #kernel: Kernel;
  readonly #embeddings: Float32Array;
  /** Frequencies of the waves that encode a piece's position. */
  readonly #frequencies: Float32Array;
  readonly #layers: Layer[];
  readonly #last: Matrix;
  /** The values passed from layer to layer, and intermediate results. */
  readonly #stream: Block;
  readonly #normed: Block;
  readonly #wide: Block;
  readonly #made: Block;

  /** @param tensors of the model, by the names of `readTensors` */
  constructor(tensors: ReadonlyMap<string, Tensor>) {
    const weights = new Weights(tensors, ROWS * (3 * WIDTH + WIDEST));
    const module = new WebAssembly.Module(Buffer.from(KERNEL, "base64"));
    const instance = new WebAssembly.Instance(module, { host: { memory: weights.memory } });
    this.#kernel = instance.exports as unknown as Kernel;
    this.#embeddings = weights.table("Embeddings_en");
    this.#frequencies = weights.table("Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1");
    this.#layers = ["Layer_0", "Layer_1"].map((name) => layerOf(weights, name, tensors.has(`${name}/dense`)));
    this.#last = weights.matrix("hidden_layers/tanh_layer_0");
    this.#stream = weights.block(ROWS * WIDTH);
    this.#normed = weights.block(ROWS * WIDTH);
    this.#wide = weights.block(ROWS * WIDEST);
    this.#made = weights.block(ROWS * WIDTH);
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
    for (const [i, span] of spans.entries()) this.#mean(span, i);
    this.#multiply(this.#normed, texts.length, this.#last, this.#made);
    return texts.map((_, i) => unit(this.#made.values.subarray(i * WIDTH, (i + 1) * WIDTH)));
  }

  /** Embeds a piece's meaning and its position in the text. */
  #embed(ids: readonly number[], row: number): void {
    const frequencies = this.#frequencies;
    const width = 2 * frequencies.length;
    for (const [position, id] of ids.entries()) {
      const to = (row + position) * width;
      const from = id * width;
      for (let i = 0; i < width; i++) {
        const angle = position * (frequencies[i % frequencies.length] as number);
        const where = i < frequencies.length ? Math.sin(angle) : Math.cos(angle);
        // The model was trained with the piece counted twice.
        this.#stream.values[to + i] = 2 * (this.#embeddings[from + i] as number) + where;
      }
    }
  }

  #through(layer: Layer, spans: readonly Span[], rows: number): void {
    const [stream, normed, wide, made] = [this.#stream, this.#normed, this.#wide, this.#made];
    normalise(stream, rows, layer.norm, normed);
    this.#multiply(normed, rows, layer.attend, wide);
    for (const span of spans) this.#attend(span, layer.combine.depth);
    this.#multiply(normed, rows, layer.combine, made);
    if (layer.widen) {
      this.#multiply(stream, rows, layer.widen, normed);
      stream.values.set(normed.values.subarray(0, rows * WIDTH));
    }
    this.#kernel.add(stream.at, made.at, rows * WIDTH, 1);
    normalise(stream, rows, layer.hiddenNorm, normed);
    this.#multiply(normed, rows, layer.hidden, wide, 0);
    this.#multiply(wide, rows, layer.narrow, made);
    this.#kernel.add(stream.at, made.at, rows * WIDTH, 1);
  }

  /**
   * Computes for each row the sum of its text's values, weighted by how well their keys match its query: from `wide` to
   * `normed`.
   */
  #attend({ from, to }: Span, width: number): void {
    const kernel = this.#kernel;
    const size = width / HEADS;
    const shares = new Float32Array(to - from);
    const address = (row: number, column: number) => this.#wide.at + (row * 3 * width + column) * 4;
    this.#normed.values.fill(0, from * width, to * width);
    for (let head = 0; head < width; head += size)
      for (let row = from; row < to; row++) {
        const query = address(row, head);
        for (let other = from; other < to; other++)
          shares[other - from] = kernel.dot(query, address(other, width + head), size) / Math.sqrt(size);
        softmax(shares);
        const out = this.#normed.at + (row * width + head) * 4;
        for (let other = from; other < to; other++)
          kernel.add(out, address(other, 2 * width + head), size, shares[other - from] as number);
      }
  }

  /** Writes the mean of a text's rows to one row of `normed`. */
  #mean({ from, to }: Span, row: number): void {
    this.#normed.values.fill(0, row * WIDTH, (row + 1) * WIDTH);
    const out = this.#normed.at + row * WIDTH * 4;
    for (let each = from; each < to; each++)
      this.#kernel.add(out, this.#stream.at + each * WIDTH * 4, WIDTH, 1 / (to - from));
  }

  /** Rows after the last are multiplied too; they hold stale values that nobody reads. */
  #multiply(from: Block, rows: number, matrix: Matrix, to: Block, least = Number.NEGATIVE_INFINITY): void {
    const { at, bias, depth, columns } = matrix;
    const filled = Math.ceil(rows / TOGETHER) * TOGETHER;
    this.#kernel.multiply(filled, depth, columns, from.at, at, bias, least, to.at);
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

/** Normalises each row to mean 0 and deviation 1, then scales it for the layer. */
function normalise({ values }: Block, rows: number, { scale, bias }: Norm, { values: out }: Block): void {
  const width = scale.length;
  for (let at = 0; at < rows * width; at += width) {
    let mean = 0;
    for (let i = 0; i < width; i++) mean += (values[at + i] as number) / width;
    let variance = 0;
    for (let i = 0; i < width; i++) variance += ((values[at + i] as number) - mean) ** 2 / width;
    const by = 1 / Math.sqrt(variance + EPSILON);
    for (let i = 0; i < width; i++)
      out[at + i] = ((values[at + i] as number) - mean) * by * (scale[i] as number) + (bias[i] as number);
  }
}

function softmax(values: Float32Array): void {
  const most = values.reduce((a, b) => Math.max(a, b));
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] = Math.exp((values[i] as number) - most);
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / sum;
}

/** Returns a unit vector, after the hyperbolic tangent. */
function unit(values: Float32Array): Float32Array {
  const bounded = values.map(Math.tanh);
  const length = Math.sqrt(bounded.reduce((sum, x) => sum + x * x, 0));
  return bounded.map((x) => x / length);
}
