import { expect, test } from "@jest/globals";
import type { Embedder } from "../../connectors/embedders/embedder.ts";
import { CosineScale } from "../../services/remember/search/cosine-scale.ts";

const DIMS = 40;

/** An embedder for which unrelated texts have one cosine, and a question and its answer, given in turn, another. */
function embedder({ unrelated, related = unrelated }: { unrelated: number; related?: number }) {
  const vectorOf = (pair: number, own: number) => {
    const vector = new Float32Array(DIMS);
    vector[0] = Math.sqrt(unrelated);
    vector[1 + pair] = Math.sqrt(related - unrelated);
    vector[20 + own] = Math.sqrt(1 - related);
    return vector;
  };
  let asked = 0;
  return {
    embedTexts: async (texts: string[]) => texts.map((_, i) => vectorOf(i, 2 * i)),
    embedQuery: async () => vectorOf(asked, 2 * asked++ + 1),
  } satisfies Partial<Embedder>;
}

async function measured(given: ConstructorParameters<typeof CosineScale>[0]) {
  const scale = new CosineScale(given);
  await scale.toOwn(1);
  return scale;
}

test("without an embedder, a cosine stays as it is", async () => {
  const scale = await measured(null);
  for (const cosine of [-0.1, 0.085, 0.3, 0.599, 0.8, 1]) expect(scale.get()(cosine)).toBeCloseTo(cosine, 5);
  expect(await scale.toOwn(0.95)).toBeCloseTo(0.95, 5);
});

test("what is unrelated, related and equal by one embedder is so by the bundled one", async () => {
  const scale = await measured(embedder({ unrelated: 0.73, related: 0.81 }));
  const usual = scale.get();
  expect(usual(0.73)).toBeCloseTo(0.085, 3);
  expect(usual(0.77)).toBeCloseTo((0.085 + 0.599) / 2, 3);
  expect(usual(0.81)).toBeCloseTo(0.599, 3);
  expect(usual(1)).toBeCloseTo(1, 5);
  expect(usual(0.69)).toBeLessThan(0);
  expect(usual(await scale.toOwn(0.95))).toBeCloseTo(0.95, 5);
  expect(await scale.toOwn(0.95)).toBeGreaterThan(0.97);
});

test("an embedder that relates nothing is measured by unrelated and equal texts alone", async () => {
  const usual = (await measured(embedder({ unrelated: 0.55 }))).get();
  expect(usual(0.55)).toBeCloseTo(0.085, 3);
  expect(usual(0.775)).toBeCloseTo((0.085 + 1) / 2, 3);
});

test("measures again after a failure", async () => {
  const own = embedder({ unrelated: 0.55 });
  let failures = 1;
  const embedTexts = async (texts: string[]) => {
    if (failures-- > 0) throw new Error("not now");
    return own.embedTexts(texts);
  };
  const scale = await measured({ ...own, embedTexts });
  expect(scale.get()(0.55)).toBeCloseTo(0.55, 5);
  await scale.toOwn(1);
  expect(scale.get()(0.55)).toBeCloseTo(0.085, 3);
});

test("texts of which the embedder makes nothing do not count", async () => {
  const own = embedder({ unrelated: 0.73, related: 0.81 });
  const embedTexts = async (texts: string[]) =>
    (await own.embedTexts(texts)).map((vector, i) => (i % 2 ? vector : vector.fill(0)));
  expect((await measured({ ...own, embedTexts })).get()(0.81)).toBeCloseTo(0.599, 3);
});
