import { expect, test } from "@jest/globals";
import type { Embedder } from "../../connectors/embedders/embedder.ts";
import { CosineBaseline, USUAL_BASELINE } from "../../services/remember/search/cosine-baseline.ts";
import { settle } from "../support/settle.ts";

/** An embedder that gives any two texts the same cosine, after failing a number of times. */
function embedder(cosine: number, failures = 0): Embedder {
  let left = failures;
  const vectorOf = (_: string, i: number) => {
    const vector = new Float32Array(20);
    vector[0] = Math.sqrt(cosine);
    vector[i + 1] = Math.sqrt(1 - cosine);
    return vector;
  };
  const embedTexts = async (texts: string[]) => {
    if (left-- > 0) throw new Error("not now");
    return texts.map(vectorOf);
  };
  return { embedTexts } as Embedder;
}

test("without an embedder, the baseline is the usual one", () => {
  expect(new CosineBaseline(null).get()).toBe(USUAL_BASELINE);
});

test.each([0, 2])("the baseline is measured in the background, after %i failures too", async (failures) => {
  const baseline = new CosineBaseline(embedder(0.55, failures));
  expect(baseline.get()).toBe(USUAL_BASELINE);
  await settle(() => Math.abs(baseline.get() - 0.55) < 1e-6);
});

test("texts of which the embedder makes nothing do not lower the baseline", async () => {
  const whole = embedder(0.55);
  const embedTexts = async (texts: string[]) => {
    const vectors = await whole.embedTexts(texts);
    return vectors.map((vector, i) => (i % 2 ? vector : vector.fill(0)));
  };
  const baseline = new CosineBaseline({ embedTexts } as Embedder);
  baseline.get();
  await settle(() => Math.abs(baseline.get() - 0.55) < 1e-6);
});
