import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { BlobMissing, type Blobs, BlobWrite, endWrite } from "../../../../storage/blobs/blobs.ts";
import type { Answer, Insert } from "../http-exchange.ts";
import type { Output } from "./output.ts";
import { begin, type Envelope, sendLong } from "./respond.ts";

/** Bytes of a chunk of a blob, and of the copies on its way. */
const CHUNK_BYTES = 262_144;

/** A blob that could not be read to its end, or whose length differs from its row's. */
export class BlobBroken extends Error {}

/**
 * Streams an answer with its blob's content to the connection, chunk by chunk.
 * @throws BlobBroken after closing the connection: no other answer is possible on it
 */
export function sendFromBlob(
  res: ServerResponse,
  full: Answer,
  envelope: Envelope,
  output: Output,
  tenant_id: string,
  blobs: Blobs,
): Promise<void> {
  return withBlob(full, tenant_id, blobs, async (answer, parts) => {
    if (!parts) return sendLong(res, answer, envelope, output);
    if (res.headersSent || res.destroyed) return;
    const { escaped, size } = answer.insert as Insert;
    begin(res, answer, envelope, escaped ? null : size);
    await output.writeAll(parts, CHUNK_BYTES);
  });
}

/** Returns the text of an answer including its blob's content. @throws BlobBroken */
export function textFromBlob(answer: Answer, tenant_id: string, blobs: Blobs): Promise<string> {
  return withBlob(answer, tenant_id, blobs, async ({ body }, parts) => {
    if (!parts) return String(body ?? "");
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let text = "";
    for await (const part of parts)
      text += typeof part === "string" ? part : decoder.decode(part, { stream: true });
    return text;
  });
}

const READS = 4;

/**
 * Opens the blob of an answer and passes on the parts of its body, or null if it has none any more. Afterwards closes
 * it, which nobody else does if the caller disconnected, and ends the write of a blob that was made for this answer.
 */
async function withBlob<T>(
  full: Answer,
  tenant_id: string,
  blobs: Blobs,
  read: (answer: Answer, parts: AsyncGenerator<string | Buffer> | null) => Promise<T>,
): Promise<T> {
  let blob: Readable | undefined;
  try {
    let answer = full;
    for (let tries = 1; answer.insert && !blob; tries++) {
      try {
        blob = await blobs.stream(tenant_id, answer.insert.hash);
      } catch (err) {
        if (!(err instanceof BlobMissing) || !answer.again || tries === READS) throw err;
        answer = await answer.again();
      }
    }
    return await read(answer, blob ? whole(answer as Answer & { insert: Insert }, blob) : null);
  } finally {
    blob?.destroy();
    const { insert } = full;
    if (insert?.write) {
      const write = new BlobWrite(tenant_id, insert.write);
      write.hashes.add(insert.hash);
      await endWrite(blobs, write);
    }
  }
}

async function* whole({ body, insert }: Answer & { insert: Insert }, blob: Readable) {
  const { at, escaped } = insert;
  const text = String(body);
  if (at > 0) yield text.slice(0, at);
  for await (const bytes of readWhole(blob, insert)) yield escaped ? escapedBytes(bytes) : bytes;
  if (at < text.length) yield text.slice(at);
}

// With fewer bytes than announced, the caller would read the next answer on the connection as the rest of this one.
async function* readWhole(blob: Readable, { hash, size }: Insert) {
  let read = 0;
  try {
    for await (const bytes of blob as AsyncIterable<Buffer>) {
      read += bytes.length;
      yield bytes;
    }
  } catch (cause) {
    throw new BlobBroken(`The blob ${hash} could not be read beyond byte ${read} of ${size}.`, { cause });
  }
  if (read !== size) throw new BlobBroken(`The blob ${hash} has ${read} bytes where there were ${size}.`);
}

/** The JSON escape of each byte that needs one. */
const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const written = byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).slice(1, -1) : "";
  return written.length > 1 ? Buffer.from(written) : null;
});

/** Escapes UTF-8 bytes for a JSON string; a character may be split between calls. */
export function escapedBytes(bytes: Buffer): Buffer {
  let size = bytes.length;
  for (const byte of bytes) size += (ESCAPES[byte]?.length ?? 1) - 1;
  if (size === bytes.length) return bytes;
  const written = Buffer.allocUnsafe(size);
  let at = 0;
  for (const byte of bytes) {
    const long = ESCAPES[byte];
    if (long) at += long.copy(written, at);
    else written[at++] = byte;
  }
  return written;
}
