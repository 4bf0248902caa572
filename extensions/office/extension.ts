import { FILE_TYPES } from "../../lib/http/file-types.ts";
import type { Extension } from "../../services/extensions.ts";

export const extension: Extension = {
  about: "Reads Word documents, presentations and workbooks.",
  run: async () => {
    const module = import.meta.resolve("./read.ts");
    const documentReaders = {
      [FILE_TYPES.docx]: module,
      [FILE_TYPES.pptx]: module,
      [FILE_TYPES.xlsx]: module,
    };
    return { hooks: () => ({ documentReaders }) };
  },
};
