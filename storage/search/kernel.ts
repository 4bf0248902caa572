import { KERNEL } from "./kernel.wasm.ts";

/** Dot products of one vector with many, by SIMD instructions: see kernel.wat. Addresses are bytes of the memory. */
type Dots = (query: number, dims: number, from: number, rows: number, out: number) => void;

const module = new WebAssembly.Module(Buffer.from(KERNEL, "base64"));

export function dotsIn(memory: WebAssembly.Memory): Dots {
  return new WebAssembly.Instance(module, { host: { memory } }).exports.dots as Dots;
}
