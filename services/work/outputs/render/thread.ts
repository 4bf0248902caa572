import { parentPort, workerData } from "node:worker_threads";
import type { Rendered, Rendering } from "./render.ts";
import { Unrenderable } from "./unrenderable.ts";

const { markdown, title, at, format, fonts } = workerData as Rendering;

async function render(): Promise<Uint8Array> {
  switch (format) {
    case "html":
      return Buffer.from((await import("./html.ts")).renderHtml(markdown, title));
    case "pdf":
      return (await import("./pdf.ts")).renderPdf(markdown, { title, at, fonts });
    case "docx":
      return (await import("./docx.ts")).renderDocx(markdown, title);
  }
}

async function rendered(): Promise<Rendered> {
  try {
    return new Uint8Array(await render());
  } catch (err) {
    if (err instanceof Unrenderable) return { unrenderable: err.message };
    throw err;
  }
}

parentPort?.postMessage(await rendered());
