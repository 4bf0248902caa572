import type { DeliveryDoc } from "./deliveries.model.ts";

/** What one answer, or one call between nodes, holds at most, in bytes of events; the first delivery always goes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** As many of them as one answer may hold. */
export function upToBytes(docs: DeliveryDoc[]): DeliveryDoc[] {
  let bytes = 0;
  const over = docs.findIndex((doc) => {
    bytes += doc.size;
    return bytes > MAX_BYTES;
  });
  return over < 0 ? docs : docs.slice(0, Math.max(over, 1));
}

/** All of them, as many at a time as one call between nodes may carry. */
export function* inParts(docs: DeliveryDoc[]): Generator<DeliveryDoc[]> {
  for (let rest = docs; rest.length > 0; ) {
    const part = upToBytes(rest);
    yield part;
    rest = rest.slice(part.length);
  }
}
