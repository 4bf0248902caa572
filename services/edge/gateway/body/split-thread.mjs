// The thread of splitter.ts. Enable the cache before loading the modules that use it.
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

enableCompileCache(workerData.cache);
const { split } = await import("./split.ts");

parentPort.on("message", (request) => parentPort.postMessage(split(request)));
