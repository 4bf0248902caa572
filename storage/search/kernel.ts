import { KERNEL } from "./kernel.wasm.ts";

/** What kernel.wat does by SIMD instructions. Addresses are bytes of the memory. */
export interface Kernel {
  /** Products of the query, in 16-bit integers, with each of the rows, in 8-bit ones. */
  dots(query: number, dims: number, from: number, rows: number, out: number): void;
  dot(query: number, dims: number, row: number): number;
  /** In how many bits each row differs from the query. */
  distances(query: number, bytes: number, from: number, rows: number, out: number): void;
}

const module = new WebAssembly.Module(Buffer.from(KERNEL, "base64"));

export function kernelIn(memory: WebAssembly.Memory): Kernel {
  return new WebAssembly.Instance(module, { host: { memory } }).exports as unknown as Kernel;
}
