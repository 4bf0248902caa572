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
import { isStoreDamaged } from "../store-lost.ts";
import { type EngineCall, SearchEngine } from "./engine.ts";
import { removeFile } from "./file.ts";

const TIDY_MS = 60_000;

const port = parentPort as MessagePort;
const { file } = workerData as WorkerSettings;

function serve(engine: SearchEngine): void {
  const tidying = setInterval(() => engine.tidy(), TIDY_MS);
  port.on("message", (message: Batch<EngineCall> | typeof CLOSE) => {
    if (message === CLOSE) {
      clearInterval(tidying);
      engine.close();
      port.postMessage(CLOSED);
      port.close();
      return;
    }
    port.postMessage({ answers: message.map((call) => answer(engine, call)) } satisfies Reply);
  });
}

function answer(engine: SearchEngine, { method, args }: EngineCall): Reply["answers"][number] {
  try {
    return { value: Reflect.apply(engine[method], engine, args) };
  } catch (error) {
    if (isStoreDamaged(error)) {
      // Ends the thread: the next one makes a new file, and the catch-up fills it.
      engine.close();
      removeFile(file);
      throw error;
    }
    return { failed: toWire(error) };
  }
}

try {
  serve(new SearchEngine(file));
  port.postMessage({ ready: true } satisfies Hello);
} catch (error) {
  port.postMessage({ ready: false, reason: (error as Error).message } satisfies Hello);
}
