import { valuesOf } from "../../config.ts";
import type { Extension } from "../../services/extensions.ts";
import { checkTracing, TRACING_SETTINGS, tracesUrl } from "./settings.ts";

export const extension: Extension = {
  about: "Exports traces of requests, deliveries and pushes to a collector of OpenTelemetry.",
  settings: TRACING_SETTINGS,
  check: (config) => checkTracing(valuesOf(config, TRACING_SETTINGS)),
  run: async () => ({
    async hooks({ config, log }) {
      const settings = valuesOf(config, TRACING_SETTINGS);
      const url = tracesUrl(settings);
      if (!url) return {};
      // The SDK takes 26 MB and 100 ms.
      const { OtlpTracing } = await import("./otel.ts");
      return { tracing: new OtlpTracing(url, settings, log) };
    },
  }),
};
