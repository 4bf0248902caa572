import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";

/** Encodings of a body, and character sets that some senders name instead. */
const DECODERS: Record<string, (body: Buffer, limit: { maxOutputLength: number }) => Buffer> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  br: brotliDecompressSync,
  // Some senders omit the zlib header.
  deflate: (body, limit) => ((body[0] as number) % 16 === 8 ? inflateSync : inflateRawSync)(body, limit),
  ...Object.fromEntries(
    ["identity", "utf-8", "utf8", "us-ascii"].map((name) => [name, (body: Buffer) => body]),
  ),
};
/** The largest growth of a body of more than `SMALL_BYTES`: real messages grow much less. */
const MOST_GROWTH = 100;
const SMALL_BYTES = 65_536;

/** Returns a decompressed body, or why it cannot be. */
export function decode(encoding: string, body: Buffer, maxBytes: number): Buffer | string {
  if (!Object.hasOwn(DECODERS, encoding))
    return `the content-encoding "${encoding.slice(0, 50)}" is not supported: expected gzip, deflate or br`;
  const maxOutputLength = Math.min(maxBytes, Math.max(SMALL_BYTES, MOST_GROWTH * body.length));
  try {
    return (DECODERS[encoding] as (typeof DECODERS)[string])(body, { maxOutputLength });
  } catch (err) {
    const isLarge = (err as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    const why = isLarge ? `it has more than ${maxOutputLength} bytes` : "it is not valid";
    return `the body cannot be decompressed by its content-encoding ${encoding}: ${why}`;
  }
}

/** Reads the text of a body of at most so many bytes. @throws Error made of what is wrong if it has more */
export async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
  toError = (message: string) => new Error(message),
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > most) throw toError(`it has more than ${most} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
