import { join } from "node:path";
import { valuesOf } from "../../config.ts";
import { text } from "../../lib/settings.ts";
import { observeGauge } from "../../observability/metrics.ts";
import type { Extension } from "../../services/extensions.ts";

const settings = {
  MULTILINGUAL_DIR: text(
    null,
    "Folder of the Python environment of `EMBEDDER=multilingual`. Default: `multilingual` in `DATA_DIR`.",
  ),
};

const MEMORY = {
  name: "embedder_memory_bytes",
  help: "Memory of the process of the embedder",
  label: "of",
};

const folderOf = (config: { DATA_DIR: string; MULTILINGUAL_DIR: string | null }) =>
  config.MULTILINGUAL_DIR ?? join(config.DATA_DIR, "multilingual");

export const extension: Extension = {
  about:
    "Embeds texts of about 100 languages with multilingual-e5-small, in a process that the server starts.",
  settings,
  gauges: [MEMORY],
  commands: {
    embedder: {
      usage: "embedder add multilingual   installs the embedder of EMBEDDER=multilingual",
      async run([verb, name, ...more], config, say) {
        if (verb !== "add" || name !== "multilingual" || more.length > 0) return false;
        const { addEnvironment } = await import("./environment.ts");
        const folder = folderOf({ ...config, ...valuesOf(config, settings) });
        await addEnvironment(folder, say);
        say(`The multilingual embedder is in ${folder}. Start the server with EMBEDDER=multilingual.`);
        return true;
      },
    },
  },
  run: async () => {
    const [{ MultilingualEncoder }, { requireEnvironment }, { QueuedEmbedder }] = await Promise.all([
      import("./encoder.ts"),
      import("./environment.ts"),
      import("../../connectors/embedders/queued.ts"),
    ]);
    return {
      hooks({ config }) {
        const multilingual = async () => {
          const folder = folderOf({ ...config, ...valuesOf(config, settings) });
          requireEnvironment(folder);
          const encoder = new MultilingualEncoder(folder);
          observeGauge(MEMORY, async () => ({ multilingual: encoder.memory }));
          return new QueuedEmbedder(encoder);
        };
        return { embedders: { multilingual } };
      },
    };
  },
};
