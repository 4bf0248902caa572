import { ConnectionError, describeFailure } from "./errors.ts";
import { LineSplitter } from "./lines.ts";
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
  const splitter = new LineSplitter();
  const block: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      for (const line of splitter.take(value)) {
        if (line !== "") block.push(line);
        const message = line === "" ? parse(block.splice(0)) : undefined;
        if (message) yield message;
      }
    }
  } catch (cause) {
    // How `fetch` reports a lost connection.
    throw cause instanceof TypeError
      ? new ConnectionError(`The stream broke: ${describeFailure(cause)}`, cause)
      : cause;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(lines: string[]): StreamMessage | undefined {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of lines) {
    const [name] = line.split(":", 1);
    const value = line.slice((name as string).length + 1).replace(/^ /, "");
    if (name === "event") event = value;
    if (name === "id") id = value;
    if (name === "data") data.push(value);
  }
  return data.length ? { event, id, data: JSON.parse(data.join("\n")) } : undefined;
}
