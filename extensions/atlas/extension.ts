import type { Extension } from "../../services/extensions.ts";
import { EntryModel, SearchStateModel } from "./atlas.model.ts";

export const extension: Extension = {
  about: "Searches by Atlas Search and Atlas Vector Search, with one index for all nodes.",
  models: [EntryModel, SearchStateModel],
  run: async () => ({
    hooks({ store }) {
      const atlas = async () => {
        const { AtlasIndex } = await import("./atlas-index.ts");
        const parts = { entries: store.collection(EntryModel), state: store.collection(SearchStateModel) };
        // A search index can be created only on an existing collection.
        await store.ready();
        return new AtlasIndex(parts);
      };
      return { searchIndexes: { atlas } };
    },
  }),
};
