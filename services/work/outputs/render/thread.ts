import { parentPort } from "node:worker_threads";
import type { Rendered, Rendering } from "./render.ts";

async function render({ markdown, title, at, format, fonts }: Rendering) {
  switch (format) {
    case "html":
      return { file: Buffer.from((await import("./html.ts")).renderHtml(markdown, title)) };
    case "pdf":
      return (await import("./pdf.ts")).renderPdf(markdown, { title, at, fonts });
    case "docx":
      return { file: await (await import("./docx.ts")).renderDocx(markdown, title) };
  }
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
