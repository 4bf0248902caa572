import { ConfigError } from "../../lib/settings.ts";
import { WorkerThread } from "../../lib/worker-thread.ts";
import type { Embedder } from "./embedder.ts";
import { QueuedEmbedder, type Vectors } from "./queued.ts";

/** Embedders of extensions, by their values of `EMBEDDER`. */
export type OtherEmbedders = Record<string, () => Promise<Embedder>>;

interface Settings {
  EMBEDDER: string | null;
  EMBEDDER_URL: string | null;
  EMBEDDER_MODEL: string;
  EMBEDDER_API_KEY: string | null;
  EMBEDDER_QUERY_PREFIX?: string | null;
  EMBEDDER_TEXT_PREFIX?: string | null;
  EMBEDDER_DIMENSIONS?: number;
}

/** Creates the configured embedder; null for text search only. @throws ConfigError */
export async function makeEmbedder(
  settings: Settings,
  others: OtherEmbedders = {},
): Promise<Embedder | null> {
  const { EMBEDDER_URL: url, EMBEDDER_MODEL: model, EMBEDDER_API_KEY: apiKey } = settings;
  const kind = settings.EMBEDDER ?? (url ? "url" : "bundled");
  if (kind === "none") return null;
  if (kind === "url") {
    const { OpenAiEmbedder } = await import("./openai.ts");
    const { EMBEDDER_QUERY_PREFIX: queryPrefix, EMBEDDER_TEXT_PREFIX: textPrefix } = settings;
    const dimensions = settings.EMBEDDER_DIMENSIONS || null;
    return new OpenAiEmbedder({ url: url as string, model, apiKey, queryPrefix, textPrefix, dimensions });
  }
  if (kind !== "bundled") {
    const make = others[kind];
    if (!make)
      throw new ConfigError(`EMBEDDER is ${kind}, but the extension ${kind} does not run here (EXTENSIONS).`);
    return make();
  }
  return new BundledEmbedder();
}

/** Ends the thread after this long without work: with the model it takes 60 MB. */
const IDLE_MS = 600_000;

/** The Universal Sentence Encoder (lite, English, 512 components) in a separate thread, started on demand. */
export class BundledEmbedder extends QueuedEmbedder {
  constructor() {
    const module = new URL("./bundled-thread.mjs", import.meta.url);
    const thread = new WorkerThread<string[], Vectors>({ name: "embedder", module, idleMs: IDLE_MS });
    super({
      model: "bundled use-lite-en-0.2.0",
      // Loading the model takes no longer even on a slow machine; only the first query after a pause waits for it.
      patience: { cold: 1500 },
      get isWarm() {
        return thread.isWarm;
      },
      request: (texts) => thread.request(texts),
      close: () => thread.close(),
    });
  }
}
