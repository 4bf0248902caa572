import { accessSync, constants } from "node:fs";
import { valuesOf } from "../../config.ts";
import { Fault } from "../../lib/contract/faults.ts";
import { flag, list } from "../../lib/settings.ts";
import type { Extension } from "../../services/extensions.ts";

const settings = {
  OUTPUT_EXPORT: flag(
    false,
    "Whether people can export outputs as PDF and DOCX. Markdown and HTML are always available.",
  ),
  EXPORT_FONTS: list(
    [],
    "Font files for PDF exports, comma-separated, for scripts that the built-in fonts lack, such as Chinese. A font of a collection: `file.ttc#Name`.",
  ),
};

export const extension: Extension = {
  about: "Exports outputs as PDF and DOCX.",
  settings,
  run: async () => ({
    hooks({ config, log }) {
      const { OUTPUT_EXPORT, EXPORT_FONTS: fonts } = valuesOf(config, settings);
      const modules = modulesOf();
      if (OUTPUT_EXPORT && !modules)
        log.warn("OUTPUT_EXPORT is on, and sensorium-export is not installed: PDF and DOCX exports get 503");
      const unreadable = fonts.filter((font) => !isReadable(font.replace(/#.*/, "")));
      if (unreadable.length)
        log.warn(
          { fonts: unreadable },
          "EXPORT_FONTS: these files cannot be read; PDF exports that need one will fail",
        );
      return {
        fileWriters: {
          fonts,
          moduleOf(format, output_id) {
            if (!OUTPUT_EXPORT) {
              const message = `There is no ${format} of output on this server: the operator turns it on with OUTPUT_EXPORT=true; md and html always work.`;
              throw new Fault("not_found", message, {
                resource_type: `${format} of output`,
                resource_id: output_id,
              });
            }
            if (modules) return modules[format];
            const message = `Export as ${format} is not installed: the operator must install the package sensorium-export next to sensorium-server.`;
            throw new Fault("service_unavailable", message, { retry_after_seconds: 3600 });
          },
        },
      };
    },
  }),
};

/** Returns where the writers are; null if they are not installed: `sensorium-export` is a separate package, a checkout contains it. */
function modulesOf(): Record<"pdf" | "docx", string> | null {
  try {
    return { pdf: import.meta.resolve("./pdf.ts"), docx: import.meta.resolve("./docx.ts") };
  } catch {
    return null;
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
