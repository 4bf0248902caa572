import { WorkerThread } from "../../lib/worker-thread.ts";
import { type Encoder, QueuedEmbedder, type Vectors } from "./queued.ts";

/** Ends the thread after this long without work: with the model it takes 60 MB. */
const IDLE_MS = 600_000;

class BundledEncoder implements Encoder {
  readonly model = "bundled use-lite-en-0.2.0";
  /** Loading the model takes no longer even on a slow machine; only the first query after a pause waits for it. */
  readonly patience = { cold: 1500 };
  readonly #thread = new WorkerThread<string[], Vectors>({
    name: "embedder",
    module: new URL("./bundled-thread.mjs", import.meta.url),
    idleMs: IDLE_MS,
  });

  get isWarm(): boolean {
    return this.#thread.isWarm;
  }

  request(texts: string[]): Promise<Vectors> {
    return this.#thread.request(texts);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** The Universal Sentence Encoder (lite, English, 512 components) in a separate thread, started on demand. */
export class BundledEmbedder extends QueuedEmbedder {
  constructor() {
    super(new BundledEncoder());
  }
}
