import type { Embedder } from "./embedder.ts";

interface Settings {
  EMBEDDER: string | null;
  EMBEDDER_URL: string | null;
  EMBEDDER_MODEL: string;
  EMBEDDER_API_KEY: string | null;
}

/** Creates the configured embedder; null for text search only. */
export async function makeEmbedder(settings: Settings): Promise<Embedder | null> {
  const { EMBEDDER_URL: url, EMBEDDER_MODEL: model, EMBEDDER_API_KEY: apiKey } = settings;
  const kind = settings.EMBEDDER ?? (url ? "url" : "bundled");
  if (kind === "none") return null;
  if (kind === "url") {
    const { OpenAiEmbedder } = await import("./openai.ts");
    return new OpenAiEmbedder({ url: url as string, model, apiKey });
  }
  const { BundledEmbedder } = await import("./bundled.ts");
  return new BundledEmbedder();
}
