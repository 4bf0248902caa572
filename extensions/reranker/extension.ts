import { valuesOf } from "../../config.ts";
import { integer, text, web } from "../../lib/settings.ts";
import type { Extension } from "../../services/extensions.ts";

const settings = {
  RERANKER_URL: web(
    "Service that rates the 50 best results of a search, by the `/rerank` protocol of text-embeddings-inference, Jina, " +
      "Cohere, vLLM and llama.cpp: its URL, or the full URL of its `rerank` endpoint. Default: none.",
  ),
  RERANKER_MODEL: text(null, "Model requested from `RERANKER_URL`, if it has several."),
  RERANKER_API_KEY: text(null, "Bearer token for `RERANKER_URL`.", { secret: true }),
  RERANKER_TIMEOUT_MS: integer(1000, "How long a search waits for `RERANKER_URL`.", 50, 10_000),
};

export const extension: Extension = {
  about: "Has the best results of a search rated by a cross-encoder.",
  settings,
  run: async () => {
    const { HttpReranker } = await import("./reranker.ts");
    const { CrossEncoderReranking } = await import("./rerank.ts");
    return {
      hooks({ config, log }) {
        const { RERANKER_URL: url, ...rest } = valuesOf(config, settings);
        if (url === null) return {};
        const { RERANKER_MODEL: model, RERANKER_API_KEY: apiKey, RERANKER_TIMEOUT_MS: timeoutMs } = rest;
        const reranking = new CrossEncoderReranking(
          new HttpReranker({ url, model, apiKey, timeoutMs }),
          (err) =>
            log.warn(
              { err },
              "the reranker failed several times in a row: searches go on without it for a while",
            ),
        );
        return { reranking };
      },
    };
  },
};
