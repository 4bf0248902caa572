import { readFileSync } from "node:fs";

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
