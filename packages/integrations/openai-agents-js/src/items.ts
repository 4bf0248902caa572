/** Items as JSON. Bytes, which an item may have for an image or a file, become base64 under a separate name. */
import type { AgentInputItem } from "@openai/agents-core";

const BYTES = "$sensorium.bytes";

export function toText(items: AgentInputItem[]): string {
  return JSON.stringify(items, (_, value) =>
    value instanceof Uint8Array
      ? { [BYTES]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") }
      : value,
  );
}

export function fromText(text: string): AgentInputItem[] {
  return JSON.parse(text, (_, value) => {
    const bytes = value?.[BYTES];
    return typeof bytes === "string" ? Uint8Array.from(Buffer.from(bytes, "base64")) : value;
  });
}
