import { parentPort } from "node:worker_threads";
import { chunkPages } from "../chunks.ts";
import type { Reading, ReadPages, ReadRequest } from "../reader.ts";
import { Losses, UnreadableError } from "./page.ts";
import { parseDocument } from "./parse.ts";

/** Reads one document in this thread, which then ends. */
async function read({ bytes, mime_type, readers, ...pages }: ReadRequest & ReadPages): Promise<Reading> {
  try {
    const losses = new Losses();
    const means = { readers, beginPage: beginning(pages, losses) };
    const pieces = chunkPages(await parseDocument(bytes, mime_type, losses, means));
    return { pieces, losses: losses.list() };
  } catch (err) {
    // Parsers fail on damaged files with arbitrary errors.
    return { unreadable: err instanceof UnreadableError ? err.message : "is damaged or incomplete" };
  }
}

/** Says which page is read, in case it breaks a limit, and leaves out those that did and those after the time is over. */
function beginning({ leaveOut, current, cpuSeconds }: ReadPages, losses: Losses) {
  return (page: number): boolean => {
    current[0] = page;
    const { user, system } = process.threadCpuUsage();
    if (leaveOut.includes(page)) losses.add("page that needs too much time or memory", `page ${page}`);
    else if (user + system > cpuSeconds * 1e6) losses.add("page after the limit of time", "end of the file");
    else return true;
    return false;
  };
}

parentPort?.on("message", async (request: ReadRequest & ReadPages) =>
  parentPort?.postMessage(await read(request)),
);
