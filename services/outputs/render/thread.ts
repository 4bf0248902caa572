import { parentPort, workerData } from "node:worker_threads";
import type { Rendering } from "./render.ts";

const { markdown, title, at, format } = workerData as Rendering;

async function render(): Promise<Uint8Array> {
  switch (format) {
    case "html":
      return Buffer.from((await import("./html.ts")).renderHtml(markdown, title));
    case "pdf":
      return (await import("./pdf.ts")).renderPdf(markdown, title, at);
    case "docx":
      return (await import("./docx.ts")).renderDocx(markdown, title);
  }
}

parentPort?.postMessage(new Uint8Array(await render()));
