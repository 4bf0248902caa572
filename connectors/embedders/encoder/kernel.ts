import { KERNEL_DOT, KERNEL_PAIRS, KERNEL_PLAIN } from "./kernel.wasm.ts";

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

/** The kernel in each of its spellings (bin/write-kernels.ts), which compute the same. */
export const KERNELS = {
  dot: Buffer.from(KERNEL_DOT, "base64"),
  pairs: Buffer.from(KERNEL_PAIRS, "base64"),
  plain: Buffer.from(KERNEL_PLAIN, "base64"),
} as const;
export type Spelling = keyof typeof KERNELS;

export function kernelIn(memory: WebAssembly.Memory, spelling: Spelling): Kernel {
  const module = new WebAssembly.Module(KERNELS[spelling]);
  return new WebAssembly.Instance(module, { host: { memory } }).exports as unknown as Kernel;
}

/** Returns the spelling that this processor runs fastest. */
export function fastestSpelling(): Spelling {
  if (!WebAssembly.validate(KERNELS.dot)) return "plain";
  return hasDotInstruction() ? "dot" : "pairs";
}

/**
 * The result for values of more than 7 bits depends on the processor: without an instruction for the product of four
 * values, sums of two saturate at 16 bits.
 */
function hasDotInstruction(): boolean {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const kernel = kernelIn(memory, "dot");
  const [rows, scales, right, out] = [0, 1024, 2048, 4096] as const;
  const weights = PANEL * PANEL;
  new Uint8Array(memory.buffer, rows, 4 * PANEL).fill(255);
  new Float32Array(memory.buffer, scales, 1).fill(1);
  new Int8Array(memory.buffer, right, weights).fill(127);
  new Float32Array(memory.buffer, right + weights + PANEL * 4, PANEL).fill(1);
  kernel.multiply(4, PANEL, PANEL, rows, scales, right, Number.NEGATIVE_INFINITY, out);
  const saturated = (PANEL / 2) * 32_767;
  return new Float32Array(memory.buffer, out, 1)[0] !== saturated;
}
