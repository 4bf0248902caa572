const AFTER_MS = 1_000;
const PASSED = 2_097_152;

/**
 * Once this thread has started, gives back the memory that starting has left over: half of the heap, which V8 would
 * keep until it is needed. A full collection stops the thread for some 50 ms, so they are rare; without `--expose-gc`
 * there is none.
 */
export function compactAfterStart(): void {
  setTimeout(compact, AFTER_MS).unref();
}

/** Gives back the memory that this thread does not use any more. It stops the thread for some 50 ms or more. */
export function compact(): void {
  // V8 forgets the shapes that no object has any more. Without one of its own in the queue process.nextTick would take
  // six times as long from then on, and Node calls it seven times for every request.
  process.nextTick(() => {});
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/**
 * Is told of bytes that pass through this thread and are held no more, and lets go of them every two megabytes: V8 would
 * wait until there are forty. That takes a fifth of a millisecond.
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
