// The thread of splitter.ts.
import { parentPort } from "node:worker_threads";
import { split } from "./split.ts";

parentPort.on("message", (request) => parentPort.postMessage(split(request)));
