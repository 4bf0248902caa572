import { ERASED } from "../lib/text/subject.ts";
import { BlobMissing, type BlobRef, type Blobs, type BlobWrite } from "./blobs/blobs.ts";

type IsErased = (text: string) => boolean;

/** Whether a line of a blob is to be erased; not of one that is gone. */
export async function hasErased(
  blobs: Pick<Blobs, "stream">,
  { tenant_id, hash }: { tenant_id: string; hash: string },
  isErased: IsErased,
): Promise<boolean> {
  try {
    for await (const line of linesOf(await blobs.stream(tenant_id, hash))) if (isErased(line)) return true;
  } catch (err) {
    if (!(err instanceof BlobMissing)) throw err;
  }
  return false;
}

/**
 * Puts a copy of a blob whose erased lines are replaced; of one that is no text, only a text that says so. It is kept until
 * the write ends. @param mark a last line that makes it unique
 */
export async function putErased(
  blobs: Pick<Blobs, "stream" | "put">,
  write: BlobWrite,
  hash: string,
  isErased: IsErased,
  mark?: string,
): Promise<BlobRef> {
  async function* replaced() {
    for await (const line of linesOf(await blobs.stream(write.tenant_id, hash)))
      yield Buffer.from(isErased(line) ? line.replace(/[^\r\n]+/, ERASED) : line);
    if (mark !== undefined) yield Buffer.from(`\n${mark}\n`);
  }
  if (await isText(blobs, write.tenant_id, hash)) return blobs.put(write, replaced());
  return blobs.put(write, Buffer.from(mark === undefined ? ERASED : `${ERASED}\n${mark}\n`));
}

/** Whether bytes are UTF-8: others are not put together again from their lines. */
async function isText(blobs: Pick<Blobs, "stream">, tenant_id: string, hash: string): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const bytes of await blobs.stream(tenant_id, hash)) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return true;
  } catch (err) {
    if (err instanceof TypeError) return false;
    throw err;
  }
}

/** Yields the lines of a text with their ends. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let held = "";
  for await (const part of bytes) {
    const lines = (held + decoder.decode(part, { stream: true })).split(/(?<=\n)/);
    held = lines.pop() ?? "";
    yield* lines;
  }
  yield held + decoder.decode();
}
