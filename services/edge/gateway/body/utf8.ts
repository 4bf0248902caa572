import { isUtf8 } from "node:buffer";

/** Passes bytes on while they are valid UTF-8, without decoding them. @throws RangeError if they are not */
export async function* onlyUtf8(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer | null = null;
  for await (const part of parts) {
    const bytes: Buffer = begun ? Buffer.concat([begun, part]) : part;
    const end = endOfWhole(bytes);
    if (!isUtf8(bytes.subarray(0, end))) throw new RangeError("it is not UTF-8");
    begun = end < bytes.length ? bytes.subarray(end) : null;
    yield part;
  }
  if (begun) throw new RangeError("it ends within a character");
}

/** Returns the start of a character that is incomplete in these bytes; else their end. */
function endOfWhole(bytes: Buffer): number {
  for (let last = 1; last <= Math.min(3, bytes.length); last++) {
    const byte = bytes[bytes.length - last] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return last < lengthOf(byte) ? bytes.length - last : bytes.length;
  }
  return bytes.length;
}

/** Returns the length of a character by its first byte. */
function lengthOf(byte: number): number {
  if (byte >= 0xf0) return 4;
  return byte >= 0xe0 ? 3 : 2;
}
