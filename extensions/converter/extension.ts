import { valuesOf } from "../../config.ts";
import { text, web } from "../../lib/settings.ts";
import type { Extension } from "../../services/extensions.ts";
import { CONVERTERS } from "./document-converter.ts";

const settings = {
  DOCUMENT_CONVERTER_URL: web(
    "Service that documents are sent to which cannot be read here completely: scans etc.",
  ),
  DOCUMENT_CONVERTER: text("docling", "Kind of that service: docling-serve, Apache Tika or unstructured.", {
    oneOf: CONVERTERS,
  }),
  DOCUMENT_CONVERTER_API_KEY: text(null, "API key for `DOCUMENT_CONVERTER_URL`.", { secret: true }),
};

export const extension: Extension = {
  about: "Has scans and other documents that the server cannot read converted by another service.",
  settings,
  run: async () => {
    const { converterAt } = await import("./document-converter.ts");
    return {
      hooks({ config }) {
        const { DOCUMENT_CONVERTER_URL: url, ...rest } = valuesOf(config, settings);
        if (url === null) return {};
        const kind = rest.DOCUMENT_CONVERTER as (typeof CONVERTERS)[number];
        return { documentConverter: converterAt(url, kind, rest.DOCUMENT_CONVERTER_API_KEY) };
      },
    };
  },
};
