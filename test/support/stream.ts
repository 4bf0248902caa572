import { LineSplitter } from "../../packages/client/lines.ts";

/** One message of a server-sent event stream. A comment has `comment` only. */
export interface StreamMessage {
  event?: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on shapes that the type checker cannot know
  data?: any;
  comment?: string;
}

export interface Stream {
  status: number;
  /** Messages as they arrive, those of one chunk together, until the stream ends. Throws when it breaks. */
  chunks: AsyncGenerator<StreamMessage[]>;
  /** Leaves the stream. */
  close(): void;
}

/** Opens `path` of the server as a stream of server-sent events with JSON data. */
export async function openStream(url: string, token: string): Promise<Stream> {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const response = await fetch(url, { headers, signal: controller.signal });
  return {
    status: response.status,
    chunks: readChunks(response.body as ReadableStream<Uint8Array>, controller.signal),
    close: () => controller.abort(),
  };
}

async function* readChunks(
  body: ReadableStream<Uint8Array>,
  left: AbortSignal,
): AsyncGenerator<StreamMessage[]> {
  const splitter = new LineSplitter();
  const block: string[] = [];
  try {
    for await (const chunk of body) {
      const messages: StreamMessage[] = [];
      for (const line of splitter.take(chunk)) {
        if (line === "") messages.push(parse(block.splice(0)));
        else block.push(line);
      }
      yield messages;
    }
  } catch (error) {
    // Only what the reader did not ask for is an error.
    if (!left.aborted) throw error;
  }
}

function parse(lines: string[]): StreamMessage {
  const message: StreamMessage = {};
  for (const line of lines) {
    const [, name, value] = /^(\w*): ?(.*)$/s.exec(line) ?? [];
    if (name === "") message.comment = value as string;
    if (name === "event" || name === "id") message[name] = value as string;
    if (name === "data") message.data = JSON.parse(value as string);
  }
  return message;
}
