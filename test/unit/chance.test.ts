import { expect, test } from "@jest/globals";
import type { Embedder } from "../../connectors/embedders/embedder.ts";
import { Chance, USUAL_CHANCE } from "../../services/remember/search/chance.ts";
import { settle } from "../support/settle.ts";

/** An embedder whose vectors of any two texts have one cosine, and which fails so many times before. */
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

test("without an embedder, chance is the usual one", () => {
  expect(new Chance(null).get()).toBe(USUAL_CHANCE);
});

test.each([0, 2])("chance is measured in the background, after %i failures too", async (failures) => {
  const chance = new Chance(embedder(0.55, failures));
  expect(chance.get()).toBe(USUAL_CHANCE);
  await settle(() => Math.abs(chance.get() - 0.55) < 1e-6);
});
