import { parentPort } from "node:worker_threads";
import { type SplitRequest, split } from "./split.ts";

parentPort?.on("message", (request: SplitRequest) => parentPort?.postMessage(split(request)));
