import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import {
  type Batch,
  CLOSE,
  CLOSED,
  type Hello,
  type Reply,
  toWire,
  type WorkerSettings,
} from "mongoose-sqlite/threads";
import { SearchEngine } from "./engine.ts";
import type { SearchRequest } from "./protocol.ts";

const TIDY_MS = 60_000;

const port = parentPort as MessagePort;
const { file } = workerData as WorkerSettings;

function serve(engine: SearchEngine): void {
  const tidying = setInterval(() => engine.tidy(), TIDY_MS);
  port.on("message", (message: Batch<SearchRequest> | typeof CLOSE) => {
    if (message === CLOSE) {
      clearInterval(tidying);
      engine.close();
      port.postMessage(CLOSED);
      port.close();
      return;
    }
    port.postMessage({ answers: message.map((request) => answer(engine, request)) } satisfies Reply);
  });
}

function answer(engine: SearchEngine, request: SearchRequest): Reply["answers"][number] {
  try {
    return { value: engine.answer(request) };
  } catch (error) {
    return { failed: toWire(error) };
  }
}

try {
  serve(new SearchEngine(file));
  port.postMessage({ ready: true } satisfies Hello);
} catch (error) {
  port.postMessage({ ready: false, reason: (error as Error).message } satisfies Hello);
}
