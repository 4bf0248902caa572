import { type Fault, ruleBroken } from "../../../../lib/contract/faults.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { type ThreadEnded, WorkerThread } from "../../../../lib/worker-thread.ts";
import { resourceQueue } from "../../../platform/admission/resources.ts";

/** Input of a rendering thread. */
export interface Rendering {
  markdown: string;
  title: string;
  /** When the text was saved: also the file's date, so that the same text gives the same file. */
  at: Date;
  format: "html" | "pdf" | "docx";
  /** Address of the module that writes a format but HTML; it exports a `WriteFile` as `write`. */
  module?: string | undefined;
  /** Font files for letters that the built-in fonts lack. */
  fonts: readonly string[];
}

/** Writes a text as a file. @throws Error named `Unrenderable`, whose message follows "it", if the format cannot hold it */
export type WriteFile = (
  markdown: string,
  how: Pick<Rendering, "title" | "at" | "fonts">,
) => Promise<{ file: Uint8Array; missing?: string[] }>;

/** Writes outputs in further formats (extensions/export). */
export interface FileWriters {
  /** Returns the address of the module that writes a format. @throws Fault if it is turned off, or not installed */
  moduleOf(format: "pdf" | "docx", output_id: string): string;
  fonts: readonly string[];
}

/** A file, and the letters that are boxes in it because no font has them. */
interface RenderedFile {
  file: Uint8Array;
  missing: string[];
}

/** The result: a file, or why there is none. */
export type Rendered = RenderedFile | { unrenderable: string };

const LIMITS = { wallSeconds: 20, megabytes: 512 };
/** Together with the rendering time less than the timeout of a call between services. */
const PATIENCE_MS = 8000;

/** One is reserved for another tenant, and one of a tenant's two for another person. */
const threads = resourceQueue("render", {
  ...{ capacity: 3, perTenant: 2, perCaller: 1, chargeTime: true },
  ...{ maxWaiting: 32, maxWaitingPerCaller: 4, patienceMs: PATIENCE_MS },
});

/**
 * Renders Markdown in a separate thread, which frees its libraries when it ends.
 * @throws Fault business_rule_violation, rule `export_fails`, if a text takes too long or too much memory, or the
 * format cannot hold it; rate_limited, service_unavailable while others' texts are rendered
 */
export function render(rendering: Rendering, share: Share): Promise<RenderedFile> {
  return threads.run(share, 1, () => renderNow(rendering));
}

async function renderNow(rendering: Rendering): Promise<RenderedFile> {
  const module = new URL("./thread.ts", import.meta.url);
  const thread = new WorkerThread<Rendering, Rendered>({ name: "render", module, limits: LIMITS, idleMs: 0 });
  const rendered = await thread.request(rendering).catch(whyNot);
  if ("unrenderable" in rendered) throw unrenderable(rendering.format, rendered.unrenderable);
  return rendered;
}

function whyNot({ reason }: ThreadEnded): Rendered {
  if (reason === "memory") return { unrenderable: `needs more than ${LIMITS.megabytes} MB` };
  return {
    unrenderable: reason === "time" ? `takes longer than ${LIMITS.wallSeconds} s` : "cannot be rendered",
  };
}

function unrenderable(format: string, why: string): Fault {
  const message = `The text cannot be exported as ${format}: it ${why}. Export it as md instead.`;
  return ruleBroken("export_fails", message);
}
