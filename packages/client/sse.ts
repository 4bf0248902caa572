import { ConnectionError, reasonOf } from "./errors.ts";
import type { StreamMessage } from "./operation.ts";

/**
 * The messages of a stream of server-sent events whose data is JSON, until it ends.
 *
 * @throws ConnectionError when it breaks off; the reason of the signal that it is read by
 * @param heard called for each piece that arrives, comments too: how one knows that the connection lives
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
    // What `fetch` says of a connection that is lost.
    throw cause instanceof TypeError
      ? new ConnectionError(`The stream broke off: ${reasonOf(cause)}`, cause)
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
