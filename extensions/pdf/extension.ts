import { FILE_TYPES } from "../../lib/http/file-types.ts";
import type { Extension } from "../../services/extensions.ts";

export const extension: Extension = {
  about: "Reads PDF documents.",
  run: async () => {
    const documentReaders = { [FILE_TYPES.pdf]: import.meta.resolve("./pdf.ts") };
    return { hooks: () => ({ documentReaders }) };
  },
};
