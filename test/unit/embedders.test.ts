import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { afterAll, describe, expect, test } from "@jest/globals";
import { Tokenizer } from "../../connectors/embedders/encoder/tokenizer.ts";
import { BundledEmbedder, makeEmbedder } from "../../connectors/embedders/make.ts";
import { OpenAiEmbedder } from "../../connectors/embedders/openai.ts";
import { averageOf, splitText } from "../../connectors/embedders/queued.ts";
import { atEnd } from "../support/own-folder.ts";
import { serving } from "../support/serving.ts";

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

test.each([
  [{ EMBEDDER: null, EMBEDDER_URL: null }, "BundledEmbedder"],
  [{ EMBEDDER: null, EMBEDDER_URL: "http://127.0.0.1:1/v1" }, "OpenAiEmbedder"],
  [{ EMBEDDER: "bundled", EMBEDDER_URL: "http://127.0.0.1:1/v1" }, "BundledEmbedder"],
  [{ EMBEDDER: "none", EMBEDDER_URL: "http://127.0.0.1:1/v1" }, undefined],
])("the settings %j name %s", async (settings, name) => {
  const embedder = await makeEmbedder({ ...settings, EMBEDDER_MODEL: "m", EMBEDDER_API_KEY: null });
  expect(embedder?.constructor.name).toBe(name);
  await embedder?.close();
});

describe("a long text", () => {
  test("is cut where words end, and to no more than six pieces", () => {
    expect(splitText("word ".repeat(300)).map(({ length }) => length)).toEqual([499, 499, 499]);
    expect(splitText("x".repeat(9999)).map(({ length }) => length)).toEqual([500, 500, 500, 500, 500, 500]);
    expect(splitText(" \n ")).toEqual([""]);
  });

  test("has the mean of its pieces' vectors", () =>
    expect(averageOf([Float32Array.of(1, 0), Float32Array.of(0, 1)])).toEqual(Float32Array.of(0.5, 0.5)));
});

test("what a model does not know of a text is one piece as long as it lasts", () => {
  const vocabulary = ["?", "1", "2", "3", "4", "5", "\u2581", "\u2581and", "\u2581emoji"];
  const tokenizer = new Tokenizer(vocabulary.map((piece) => [piece, -1 / piece.length]));
  expect(tokenizer.encode("日本語 and 😀😀 emoji")).toEqual({
    ids: [6, 0, 7, 6, 0, 8],
    surprise: expect.closeTo((42 + 1 / 4 + 1 / 6) / 17),
  });
  expect(tokenizer.encode(" ")).toEqual({ ids: [6, 6], surprise: 0 });
});

describe("the bundled model", () => {
  const embedder = new BundledEmbedder();
  afterAll(() => embedder.close());

  // The first numbers of vectors that the model's own library made (@energetic-ai/embeddings 0.2.0, TensorFlow.js).
  const known = JSON.parse(
    readFileSync(new URL("../fixtures/sentence-vectors.json", import.meta.url), "utf8"),
  ) as { text: string; begins: number[] }[];

  test("gives nearly the vectors that it gives elsewhere, the same to queries together and to each alone", async () => {
    const together = await Promise.all(known.map(({ text }) => embedder.embedQuery(text)));
    for (const [i, { text, begins }] of known.entries()) {
      const [alone = new Float32Array()] = await embedder.embedTexts([text]);
      expect(together[i]).toEqual(alone);
      const [expected, given] = [Float32Array.from(begins), alone.subarray(0, begins.length)];
      const cosine = dot(expected, given) / Math.sqrt(dot(expected, expected) * dot(given, given));
      expect(cosine).toBeGreaterThan(0.99);
      expect(dot(given, given)).toBeCloseTo(dot(expected, expected), 2);
    }
  });

  test("embeds short texts together, up to the length of one part", async () => {
    const texts = [
      "",
      ...Array.from({ length: 40 }, (_, i) => `Parcel ${i} left the depot. `.repeat(1 + (i % 30))),
    ];
    const together = await embedder.embedTexts(texts);
    for (const [i, text] of texts.entries()) expect(await embedder.embedTexts([text])).toEqual([together[i]]);
  });

  test.each([
    ["次の会議は金曜日の午後三時です", true],
    ["การประชุมครั้งต่อไปคือวันศุกร์", true],
    ["Следующая встреча в пятницу", true],
    ["🔴", true],
    ["Status 🔴: the build is broken", false],
    ["Die Größe der Straße beträgt fünf Meter", true],
    ["Où sont conservées les sauvegardes de la base de données ?", true],
    ["127.0.0.1:5432", false],
    ["Order 4711 of 3 May 2026: 2 × 17.50 €", false],
    ["The Kubernetes cluster runs on OpenStack in Frankfurt", false],
    ["", false],
    ["Parcels over 30 kg go by freight. Note 3f2bd1ac-9e07-4c56-8a1b-0dfe27ab91c4", false],
    ["Build e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 failed", false],
  ])("makes nothing of text in a language that it does not know: %s", async (text, isUnread) => {
    const [vector] = await embedder.embedTexts([text]);
    const query = await embedder.embedQuery(text);
    for (const each of [vector as Float32Array, query]) expect(each.every((x) => x === 0)).toBe(isUnread);
  });

  test("lets a query pass texts that nobody waits for", async () => {
    const order: string[] = [];
    const texts = embedder.embedTexts(Array.from({ length: 12 }, (_, i) => `text ${i}`));
    const both = [
      texts.then(() => order.push("texts")),
      embedder.embedQuery("query").then(() => order.push("query")),
    ];
    await Promise.all(both);
    expect(order).toEqual(["query", "texts"]);
  });

  test("refuses when it is closed, and what it was doing", async () => {
    const closing = new BundledEmbedder();
    const pending = closing.embedQuery("never");
    await Promise.all([expect(pending).rejects.toThrow("closed"), closing.close()]);
    await expect(closing.embedQuery("never")).rejects.toThrow("closed");
  });
});

test("a text is never cut within a character", () => {
  for (const part of splitText("😀".repeat(2000))) expect(part.isWellFormed()).toBe(true);
});

describe("an OpenAI-compatible service", () => {
  async function serve(answer: RequestListener): Promise<string> {
    const { url, close } = await serving(answer);
    atEnd(close);
    return url;
  }

  test.each([
    ["", "/v1/embeddings"],
    ["/v1", "/v1/embeddings"],
    ["/v1/", "/v1/embeddings"],
    ["/openai/v3", "/openai/v3/embeddings"],
    ["/custom/embeddings", "/custom/embeddings"],
  ])("at %j is asked at %s, with the model and the key", async (path, asked) => {
    const seen: unknown[] = [];
    const origin = await serve(async (req, res) => {
      let text = "";
      for await (const chunk of req) text += chunk;
      seen.push(req.url, req.headers.authorization, JSON.parse(text));
      res.setHeader("content-type", "application/json");
      const data = [1, 0].map((index) => ({ index, embedding: [index, 1] }));
      res.end(JSON.stringify({ data }));
    });
    const embedder = new OpenAiEmbedder({ url: origin + path, model: "m", apiKey: "k" });
    expect(await embedder.embedTexts(["a", ""])).toEqual([Float32Array.of(0, 1), Float32Array.of(1, 1)]);
    expect(seen).toEqual([asked, "Bearer k", { model: "m", input: ["a", " "], encoding_format: "float" }]);
    await embedder.close();
  });

  test("that redirects gets no texts at the other address, which the error names", async () => {
    const url = await serve((req, res) => {
      if (req.url === "/other") throw new Error("followed");
      res.writeHead(307, { location: "/other?secret" }).end();
    });
    const embedder = new OpenAiEmbedder({ url, model: "m", apiKey: "k" });
    await expect(embedder.embedTexts(["a"])).rejects.toThrow(
      `the embedder responded with 307, a redirect to ${url}/other: use the final address`,
    );
    await embedder.close();
  });

  /** Serves vectors of two components, the length of the text first, and refuses requests by their texts. */
  async function refusing(refuses: (input: string[]) => number | undefined) {
    const requests: string[][] = [];
    const url = await serve(async (req, res) => {
      let text = "";
      for await (const chunk of req) text += chunk;
      const { input } = JSON.parse(text) as { input: string[] };
      requests.push(input);
      res.writeHead(refuses(input) ?? 200, { "content-type": "application/json" });
      res.end(JSON.stringify({ data: input.map((each, index) => ({ index, embedding: [each.length, 1] })) }));
    });
    return { url, requests };
  }

  test("that refuses one text embeds the others, and as much of it as it accepts", async () => {
    const { url } = await refusing((input) => (input.some((each) => each.length > 100) ? 400 : undefined));
    const embedder = new OpenAiEmbedder({ url, model: "m", apiKey: null });
    const texts = Array.from({ length: 20 }, (_, i) => "x".repeat(i + 1));
    texts[7] = "😀".repeat(150);
    const refused: number[][] = [];
    const vectors = await embedder.embedTexts(texts, (...each) => refused.push(each));
    expect(vectors.map(([length]) => length)).toEqual(texts.map(({ length }, i) => (i === 7 ? 74 : length)));
    expect(refused).toEqual([[7, 74]]);
    expect((await embedder.embedQuery(texts[7]))[0]).toBe(74);
    await embedder.close();
  });

  test("that refuses a text at any length gives it zeros", async () => {
    const { url } = await refusing((input) => (input.some((each) => each.includes("z")) ? 500 : undefined));
    const embedder = new OpenAiEmbedder({ url, model: "m", apiKey: null });
    const refused: number[][] = [];
    const vectors = await embedder.embedTexts(["a", "z".repeat(5000), "b"], (...each) => refused.push(each));
    expect(vectors).toEqual([Float32Array.of(1, 1), Float32Array.of(0, 0), Float32Array.of(1, 1)]);
    expect(refused).toEqual([[1, 0]]);
    await embedder.close();
  });

  test.each([400, 401, 429, 500, 503])(
    "that answers everything with %d sets no text aside",
    async (status) => {
      const { url, requests } = await refusing(() => status);
      const embedder = new OpenAiEmbedder({ url, model: "m", apiKey: null });
      await expect(embedder.embedTexts(["a", "b", "c"])).rejects.toThrow(`responded with ${status}`);
      expect(requests.length).toBeLessThanOrEqual(2);
      await embedder.close();
    },
  );

  test("gets whole characters, the prefixes of its model, and the number of components", async () => {
    const { url, requests } = await refusing(() => undefined);
    const prefixes = { queryPrefix: "query: ", textPrefix: "passage: ", dimensions: 2 };
    const embedder = new OpenAiEmbedder({ url, model: "e5", apiKey: null, ...prefixes });
    await embedder.embedQuery("where");
    await embedder.embedTexts([`x${"😀".repeat(5000)}`, "half \ud83d"]);
    expect(requests[0]).toEqual(["query: where"]);
    expect(requests[1]).toEqual([`passage: x${"😀".repeat(3999)}`, "passage: half \ufffd"]);
    // Vectors of other texts are not comparable.
    expect(embedder.model).not.toBe(new OpenAiEmbedder({ url, model: "e5", apiKey: null }).model);
    await embedder.close();
  });

  test.each([
    ["no JSON", "hello"],
    ["no vectors", "{}"],
    ["too few", JSON.stringify({ data: [] })],
    ["different lengths", JSON.stringify({ data: [{ embedding: [1] }, { embedding: [1, 2] }] })],
    ["no numbers", JSON.stringify({ data: [{ embedding: ["x"] }, { embedding: [1] }] })],
    ["nothing in them", JSON.stringify({ data: [{ embedding: [] }, { embedding: [] }] })],
    ["the same index twice", JSON.stringify({ data: [0, 0].map((index) => ({ index, embedding: [1] })) })],
  ])("that answers with %s is refused", async (_what, answer) => {
    const url = await serve((_req, res) => res.setHeader("content-type", "application/json").end(answer));
    const embedder = new OpenAiEmbedder({ url, model: "m", apiKey: null });
    await expect(embedder.embedTexts(["a", "b"])).rejects.toThrow();
    await embedder.close();
  });
});
