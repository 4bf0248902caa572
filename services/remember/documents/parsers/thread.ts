import { parentPort } from "node:worker_threads";
import { chunkPages } from "../chunks.ts";
import type { Reading, ReadRequest } from "../reader.ts";
import { UnreadableError } from "./page.ts";
import { parseDocument } from "./parse.ts";

/** The thread that reads one document, and ends with it. */
async function read({ bytes, mime_type }: ReadRequest): Promise<Reading> {
  try {
    return { pieces: chunkPages(await parseDocument(bytes, mime_type)) };
  } catch (err) {
    // Parsers fail on damaged files in ways of their own.
    return { unreadable: err instanceof UnreadableError ? err.message : "is damaged or cut off" };
  }
}

parentPort?.on("message", async (request: ReadRequest) => parentPort?.postMessage(await read(request)));
