import { Worker } from "node:worker_threads";
import { type Fault, ruleBroken } from "../../../../lib/contract/faults.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../../observability/resources.ts";

/** What a rendering thread is given. */
export interface Rendering {
  markdown: string;
  title: string;
  /** When the text was saved: the file says so too, so that the same text gives the same file. */
  at: Date;
  format: "html" | "pdf" | "docx";
  /** Files of fonts for letters that the built-in ones lack. */
  fonts: readonly string[];
}

/** What comes of it: a file, or why there is none. */
export type Rendered = Uint8Array | { unrenderable: string };

const SECONDS = 20;
const MEGABYTES = 512;
/** With `SECONDS` less than a call between services may take. */
const PATIENCE_MS = 8000;

/** One is always left for another tenant, and one of a tenant's two for another person. */
const threads = resourceQueue("render", {
  ...{ capacity: 3, perTenant: 2, perCaller: 1, chargeTime: true },
  ...{ maxWaiting: 32, maxWaitingPerCaller: 4, patienceMs: PATIENCE_MS },
});

/**
 * Renders Markdown in a thread of its own, which takes its libraries with it when it ends.
 *
 * @throws Fault business_rule_violation, rule `export_fails`, for a text that takes too long or too much memory, or that the
 * format cannot hold; rate_limited, service_unavailable while others' texts are rendered
 */
export function render(rendering: Rendering, share: Share): Promise<Uint8Array> {
  return threads.run(share, 1, () => renderNow(rendering));
}

async function renderNow(workerData: Rendering): Promise<Uint8Array> {
  const worker = new Worker(new URL("./thread.ts", import.meta.url), {
    name: "render",
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
    env: {},
  });
  let slow: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Uint8Array>((resolve, reject) => {
      const fail = (why: string) => reject(unrenderable(workerData.format, why));
      worker.once("message", (rendered: Rendered) =>
        "unrenderable" in rendered ? fail(rendered.unrenderable) : resolve(rendered),
      );
      worker.once("error", (err: NodeJS.ErrnoException) =>
        fail(
          err.code === "ERR_WORKER_OUT_OF_MEMORY" ? `needs more than ${MEGABYTES} MB` : "cannot be rendered",
        ),
      );
      slow = setTimeout(() => fail(`takes longer than ${SECONDS} s`), SECONDS * 1000);
    });
  } finally {
    clearTimeout(slow);
    await worker.terminate();
  }
}

function unrenderable(format: string, why: string): Fault {
  const message = `As ${format} this text ${why}: \`md\` gives it as it is.`;
  return ruleBroken("export_fails", message);
}
