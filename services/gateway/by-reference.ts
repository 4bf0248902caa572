import { Fault } from "../../lib/faults.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Keeps the fields of a body that the operation takes by reference, and puts references in their place. What is no text
 * is refused here: an action must be able to trust every reference it gets.
 *
 * @throws Fault validation_failed
 */
export async function keepByReference(
  { op, caller }: Exchange,
  body: Record<string, unknown>,
  blobs: Blobs,
): Promise<void> {
  for (const [field, encoding] of Object.entries(op.byReference ?? {})) {
    const value = body[field];
    if (value === undefined) continue;
    if (typeof value !== "string") throw misfit(field, "a string");
    const bytes = encoding === "base64" ? decodeBase64(field, value) : Buffer.from(value);
    // Nobody but a caller with a tenant may send what is kept.
    body[field] = await blobs.put((caller as NonNullable<typeof caller>).tenant_id, bytes);
  }
}

/** Decoding passes over what is no base64: then there are fewer bytes than there must be. */
function decodeBase64(field: string, text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding) return bytes;
  throw misfit(field, "standard base64, padded and without line breaks");
}

function misfit(field: string, expected: string): Fault {
  const details = { field, value: null, expected, example: "SGVsbG8=" };
  return new Fault("validation_failed", `${field}: expected ${expected}.`, details);
}
