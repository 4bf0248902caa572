// First module of a worker thread, unless the program sets its own (`bootstrap`).
import { workerData } from "node:worker_threads";

await import(workerData.entry);
