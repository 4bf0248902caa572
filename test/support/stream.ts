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
  let rest = "";
  try {
    for await (const text of body.pipeThrough(
      new TextDecoderStream() as never,
    ) as unknown as AsyncIterable<string>) {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      yield blocks.map(parse);
    }
  } catch (error) {
    // Only what the reader did not ask for is an error.
    if (!left.aborted) throw error;
  }
}

function parse(block: string): StreamMessage {
  const message: StreamMessage = {};
  for (const line of block.split("\n")) {
    const [, name, value] = /^(\w*): ?(.*)$/.exec(line) ?? [];
    if (name === "") message.comment = value as string;
    if (name === "event" || name === "id") message[name] = value as string;
    if (name === "data") message.data = JSON.parse(value as string);
  }
  return message;
}
