// The thread of splitter.ts. The cache can only be switched on before the modules that it is for are loaded.
import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

enableCompileCache(workerData.cache);
const { split } = await import("./split.ts");

parentPort.on("message", (request) => parentPort.postMessage(split(request)));
