import { parentPort } from "node:worker_threads";
import type { Rendered, Rendering, WriteFile } from "./render.ts";

async function render({ markdown, module, ...how }: Rendering): ReturnType<WriteFile> {
  if (module) return ((await import(module)) as { write: WriteFile }).write(markdown, how);
  return { file: Buffer.from((await import("./html.ts")).renderHtml(markdown, how.title)) };
}

async function rendered(request: Rendering): Promise<Rendered> {
  try {
    const { file, missing = [] }: { file: Uint8Array; missing?: string[] } = await render(request);
    return { file: new Uint8Array(file), missing };
  } catch (err) {
    if (err instanceof Error && err.name === "Unrenderable") return { unrenderable: err.message };
    throw err;
  }
}

parentPort?.on("message", async (request: Rendering) => parentPort?.postMessage(await rendered(request)));
