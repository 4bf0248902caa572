/** How often each collection was written: by this process or, as far as it has been told, by others. */
const counts = new Map<string, number>();
/** Grows when writes of others may have gone unnoticed. */
let missed = 0;
/** Whether all others report their writes. */
let isComplete = true;
const listeners = new Set<(collection: string) => void>();

/** Counts a write of others. */
export function noteWrite(collection: string): void {
  counts.set(collection, (counts.get(collection) ?? 0) + 1);
}

/** Counts a write of this process, once it has ended: a look that began before may not have seen it. */
export function wrote(collection: string): void {
  noteWrite(collection);
  for (const listener of listeners) listener(collection);
}

/** Counts a write of every collection. */
export function noteAnyWrites(): void {
  missed++;
}

/** Sets whether all other processes on the record report their writes: one of an earlier version does not. */
export function setComplete(complete: boolean): void {
  isComplete = complete;
}

/** Returns a number that grows with each write of a collection, and with each call while some go unnoticed. */
export function writesOf(collection: string): number {
  if (!isComplete) missed++;
  return missed + (counts.get(collection) ?? 0);
}

/** Calls a listener after each write of this process. @returns what ends that */
export function onWrite(listener: (collection: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
