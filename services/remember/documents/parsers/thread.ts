import { parentPort } from "node:worker_threads";
import { chunkPages } from "../chunks.ts";
import type { Reading, ReadRequest } from "../reader.ts";
import { Losses, UnreadableError } from "./page.ts";
import { parseDocument } from "./parse.ts";

/** Reads one document in this thread, which then ends. */
async function read({ bytes, mime_type, readers }: ReadRequest): Promise<Reading> {
  try {
    const losses = new Losses();
    const pieces = chunkPages(await parseDocument(bytes, mime_type, losses, readers));
    return { pieces, losses: losses.list() };
  } catch (err) {
    // Parsers fail on damaged files with arbitrary errors.
    return { unreadable: err instanceof UnreadableError ? err.message : "is damaged or incomplete" };
  }
}

parentPort?.on("message", async (request: ReadRequest) => parentPort?.postMessage(await read(request)));
