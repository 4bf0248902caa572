// First module of a worker thread, where the program names none of its own (`bootstrap`).
import { workerData } from "node:worker_threads";

await import(workerData.entry);
