const AFTER_MS = 1_000;
const PASSED = 2_097_152;

/**
 * Frees the garbage of this thread's start, half of the heap, which V8 would keep until it is needed: 30 MB of an idle
 * node's 150 (docs/decisions/0019-memory-at-rest.md). Does nothing without `--expose-gc`.
 */
export function compactAfterStart(): void {
  setTimeout(compact, AFTER_MS).unref();
}

/** Frees unused memory of this thread. A full collection stops the thread for some 50 ms or more. */
export function compact(): void {
  // V8 discards the shapes of objects without an instance. With an empty queue, process.nextTick would become six times
  // slower, and Node calls it seven times per request.
  process.nextTick(() => {});
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/**
 * Returns a function that counts bytes streamed through this thread and collects young garbage every two megabytes, in
 * a fifth of a millisecond. V8 would wait for forty megabytes.
 */
export function passing(): (bytes: number) => void {
  let passed = 0;
  return (bytes) => {
    passed += bytes;
    if (passed < PASSED) return;
    passed = 0;
    globalThis.gc?.({ type: "minor", execution: "sync" });
  };
}
