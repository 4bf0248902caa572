import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { BlobReference, Operation } from "../../../../lib/contract/contract.ts";
import { type Blobs, BlobWrite, endWrite } from "../../../../storage/blobs/blobs.ts";
import { BlobMissing } from "../../../../storage/blobs/hash.ts";
import { escapedBytes } from "../body/json-fields.ts";
import type { Answer, Insert } from "../exchange.ts";
import type { Output } from "./output.ts";
import { begin, type Envelope } from "./respond.ts";

/** Bytes of a chunk of a blob, and of the copies on its way. */
const CHUNK_BYTES = 262_144;

/** A blob that could not be read to its end, or whose length differs from its row's. */
export class BlobBroken extends Error {}

/** Builds an answer with the position of its blob's content. The field is a text or null without a blob. */
export function blobPlace(
  from: NonNullable<Operation["fromBlob"]>,
  result: unknown,
): Pick<Answer, "body" | "insert"> {
  if (from === "answer") return { body: "", insert: { ...(result as BlobReference), at: 0, escaped: false } };
  const { [from.field]: blob, ...rest } = result as Record<string, BlobReference | string | null>;
  if (typeof blob === "string" || !blob) return { body: JSON.stringify(result) };
  // The last field, so that its position is known without a search.
  const body = JSON.stringify({ ...rest, [from.field]: "" });
  return { body, insert: { ...blob, at: body.length - '"}'.length, escaped: true } };
}

const READS = 4;

/** Opens the blob of an answer, if it has one. @throws BlobMissing */
export async function openInsert(answer: Answer, tenant_id: string, blobs: Blobs) {
  let given = answer;
  for (let read = 1; given.insert; read++) {
    const { insert } = given;
    try {
      return { answer: { ...given, insert }, blob: await blobs.stream(tenant_id, insert.hash) };
    } catch (err) {
      if (!(err instanceof BlobMissing) || !answer.again || read === READS) throw err;
      given = await answer.again();
    }
  }
  return { answer: given, blob: null };
}

/** Ends the write of a blob that was made for one answer. */
export async function endInsert({ insert }: Answer, tenant_id: string, blobs: Blobs): Promise<void> {
  if (!insert?.write) return;
  const write = new BlobWrite(tenant_id, insert.write);
  write.hashes.add(insert.hash);
  await endWrite(blobs, write);
}

/**
 * Streams an answer with its blob's content to the connection, chunk by chunk.
 *
 * @throws BlobBroken after closing the connection: no other answer is possible on it
 */
export async function sendFromBlob(
  res: ServerResponse,
  answer: Answer & { insert: Insert },
  envelope: Envelope,
  output: Output,
  open: () => Promise<Readable>,
): Promise<void> {
  if (res.headersSent || res.destroyed) return;
  const blob = await open();
  const { insert } = answer;
  try {
    begin(res, answer, envelope, insert.escaped ? null : insert.size);
    await output.writeAll(whole(answer, blob), CHUNK_BYTES);
  } finally {
    // The caller disconnected: nobody reads or closes the blob.
    blob.destroy();
  }
}

/** Returns the text of an answer including its blob's content. */
export async function textOf(answer: Answer & { insert: Insert }, blob: Readable): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const piece of whole(answer, blob)) {
    text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  }
  return text;
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
