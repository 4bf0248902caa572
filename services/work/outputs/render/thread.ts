import { parentPort } from "node:worker_threads";
import type { Rendered, Rendering } from "./render.ts";

async function render({ markdown, title, at, format, fonts }: Rendering): Promise<Uint8Array> {
  switch (format) {
    case "html":
      return Buffer.from((await import("./html.ts")).renderHtml(markdown, title));
    case "pdf":
      return (await import("./pdf.ts")).renderPdf(markdown, { title, at, fonts });
    case "docx":
      return (await import("./docx.ts")).renderDocx(markdown, title);
  }
}

async function rendered(request: Rendering): Promise<Rendered> {
  try {
    return new Uint8Array(await render(request));
  } catch (err) {
    if (err instanceof Error && err.name === "Unrenderable") return { unrenderable: err.message };
    throw err;
  }
}

parentPort?.on("message", async (request: Rendering) => parentPort?.postMessage(await rendered(request)));
