import { KERNEL } from "./kernel.wasm.ts";

/** What kernel.wat does. Addresses are bytes of the memory. */
interface Kernel {
  /** Products of the query, in 16-bit integers, with each of the rows at the addresses in a list, in 8-bit ones. */
  dots(query: number, dims: number, list: number, count: number, out: number): void;
  dot(query: number, dims: number, row: number): number;
  /** The signs of a row in 8-bit integers, told from a center in 32-bit floats. */
  signs(row: number, dims: number, scale: number, center: number, out: number): void;
  /** In how many bits each row differs from the query, and how many rows differ in how many bits. */
  distances(
    query: number,
    bytes: number,
    from: number,
    rows: number,
    mask: number,
    out: number,
    histogram: number,
  ): void;
  /** The rows that are nearer than the edge, and some that are at it; gives how many. */
  nearest(distances: number, rows: number, edge: number, room: number, out: number): number;
}

const module = new WebAssembly.Module(Buffer.from(KERNEL, "base64"));

export function kernelIn(memory: WebAssembly.Memory): Kernel {
  return new WebAssembly.Instance(module, { host: { memory } }).exports as unknown as Kernel;
}
