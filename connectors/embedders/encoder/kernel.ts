import { readFileSync } from "node:fs";

/** Bytes per row of the scales that `quantise` writes. */
export const ROW_SCALE_BYTES = 8;
/** Columns of a panel, and the depth that its weights advance by. */
export const PANEL = 8;
/** Bytes after a panel's weights: sums, scales and biases of its columns. */
export const PANEL_SCALES_BYTES = 3 * PANEL * 4;
/** With values up to 127, no sum of four products exceeds 16 bits. */
export const MOST_WEIGHT = 64;

/** The functions of kernel.wat. Addresses are bytes of the memory. */
export interface Kernel {
  multiply(
    rows: number,
    depth: number,
    columns: number,
    left: number,
    scales: number,
    right: number,
    least: number,
    out: number,
  ): void;
  quantise(rows: number, width: number, from: number, out: number, scales: number): void;
  normalise(rows: number, width: number, from: number, scale: number, bias: number, out: number): void;
  attend(
    query: number,
    keys: number,
    values: number,
    count: number,
    stride: number,
    size: number,
    factor: number,
    shares: number,
    out: number,
  ): void;
  blend(shares: number, from: number, count: number, stride: number, size: number, out: number): void;
  add(to: number, from: number, count: number): void;
}

/** The kernel in both of its spellings (bin/write-kernels.ts), which compute the same. */
export const KERNELS = {
  dot: readFileSync(new URL("./kernel.dot.wasm", import.meta.url)),
  plain: readFileSync(new URL("./kernel.plain.wasm", import.meta.url)),
} as const;
export type Spelling = keyof typeof KERNELS;

export function kernelIn(memory: WebAssembly.Memory, spelling: Spelling): Kernel {
  const module = new WebAssembly.Module(KERNELS[spelling]);
  return new WebAssembly.Instance(module, { host: { memory } }).exports as unknown as Kernel;
}

/** Returns the spelling that this processor runs fastest. */
export function fastestSpelling(): Spelling {
  return WebAssembly.validate(KERNELS.dot) ? "dot" : "plain";
}

export interface Tensor {
  shape: number[];
  values: Float32Array;
}

interface Manifest {
  weightsManifest: { paths: string[]; weights: { name: string; shape: number[] }[] }[];
}

/** Parts of names that describe how the model was built, not what a tensor is. */
const NOISE =
  /^(module(_apply_default)?|Encoder_en|Kona.*|Encode|Transformer(Stack|Layer)|ConcatPartitions|concat|Tensordot|Reshape_1|kernel|part_0|weights)$/;

/** Reads the tensors of a TensorFlow.js model (`model.json` and its shards), by the short form of their names. */
export function readTensors(model: URL): Map<string, Tensor> {
  const { weightsManifest } = JSON.parse(readFileSync(model, "utf8")) as Manifest;
  const tensors = new Map<string, Tensor>();
  for (const { paths, weights } of weightsManifest) {
    const shards = Buffer.concat(paths.map((path) => readFileSync(new URL(path, model))));
    let at = shards.byteOffset;
    for (const { name, shape } of weights) {
      const count = shape.reduce((product, size) => product * size, 1);
      // Integers are 32 bits wide too, but none is needed.
      tensors.set(shortened(name), { shape, values: new Float32Array(shards.buffer, at, count) });
      at += count * Float32Array.BYTES_PER_ELEMENT;
    }
  }
  return tensors;
}

function shortened(name: string): string {
  return name
    .split("/")
    .filter((part) => !NOISE.test(part))
    .join("/");
}
