import { ConnectionError, reasonOf } from "./errors.ts";
import type { StreamMessage } from "./operation.ts";

/**
 * Yields the messages of a stream of server-sent events with JSON data, until it ends.
 *
 * @throws ConnectionError if it breaks off; the reason of the reading signal
 * @param heard called for each chunk, comments included: it shows that the connection is alive
 */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => {},
): AsyncGenerator<StreamMessage, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const message = parse(block);
        if (message) yield message;
      }
    }
  } catch (cause) {
    // How `fetch` reports a lost connection.
    throw cause instanceof TypeError
      ? new ConnectionError(`The stream broke: ${reasonOf(cause)}`, cause)
      : cause;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(block: string): StreamMessage | undefined {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === "event") event = value;
    if (name === "id") id = value;
    if (name === "data") data.push(value);
  }
  return data.length ? { event, id, data: JSON.parse(data.join("\n")) } : undefined;
}
