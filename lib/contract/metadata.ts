import { invalidValue } from "./faults.ts";

const MAX_METADATA = 65_536;

/** Serialises metadata for storage. @param most bytes @throws Fault validation_error if it is too large. */
export function metadataText(metadata: object | null | undefined, most = MAX_METADATA): string {
  const text = JSON.stringify(metadata ?? {});
  const bytes = Buffer.byteLength(text);
  if (bytes <= most) return text;
  const allowed = `at most ${most}`;
  throw invalidValue("metadata", `metadata: expected ${allowed} bytes as JSON, got ${bytes}.`, {
    expected: allowed,
  });
}
