import { KERNEL } from "./kernel.wasm.ts";

/** The functions of kernel.wat. Addresses are bytes of the memory. */
interface Kernel {
  /** Computes products of the query, in 16-bit integers, with the rows at the listed addresses, in 8-bit integers. */
  dots(query: number, dims: number, list: number, count: number, out: number): void;
  dot(query: number, dims: number, row: number): number;
  /** Computes the signs of a row in 8-bit integers, relative to a center in 32-bit floats. */
  signs(row: number, dims: number, scale: number, center: number, out: number): void;
  /** Counts the bits in which each row differs from the query, and how many rows differ in how many bits. */
  distances(
    query: number,
    bytes: number,
    from: number,
    rows: number,
    mask: number,
    out: number,
    histogram: number,
  ): void;
  /** Lists the rows nearer than the edge, and some at the edge; returns their number. */
  nearest(distances: number, rows: number, edge: number, room: number, out: number): number;
}

const module = new WebAssembly.Module(Buffer.from(KERNEL, "base64"));

export function kernelIn(memory: WebAssembly.Memory): Kernel {
  return new WebAssembly.Instance(module, { host: { memory } }).exports as unknown as Kernel;
}
