import type { LanguageModelMiddleware } from "ai";
import type { Client, MemoriesCreateParams, MemoriesSearchParams } from "sensorium";
import { cut, fenced } from "./fence.ts";

/** How the middleware recalls and saves. */
export interface MemoryOptions {
  /** How it searches: `limit` (default 5), `min_score`, `tags`, `namespace` … */
  recall?: Omit<MemoriesSearchParams, "query">;
  /** Whether it saves each turn as an episodic memory of the agent, or the fields of these memories. Default false. */
  save?: boolean | Partial<MemoriesCreateParams>;
  /** Takes the errors of recalling and saving, which never fail a call of the model. Default: a warning on the console. */
  onProblem?: (error: unknown) => void;
}

type Hook<Name extends keyof LanguageModelMiddleware> = NonNullable<LanguageModelMiddleware[Name]>;
type Params = Parameters<Hook<"transformParams">>[0]["params"];
type Message = Params["prompt"][number];
type UserPart = Extract<Message, { role: "user" }>["content"][number];
type StreamPart =
  Awaited<ReturnType<Hook<"wrapStream">>>["stream"] extends ReadableStream<infer Part> ? Part : never;

/** Marks the part that the middleware added. Providers ignore options of others. */
const RECALLED = { sensorium: { recalled: true } };
const MOST_QUERY = 10_000;
const MOST_CONTENT = 32_000;
const MOST_TITLE = 120;

/**
 * Gives a model memory, for `wrapLanguageModel`: before each call, what is known about the user's last message is added
 * to that message, as data; after a call, the turn is saved if `save` says so. Works for `generateText` and `streamText`.
 */
export function memoryMiddleware(client: Client, options: MemoryOptions = {}): LanguageModelMiddleware {
  const { recall = {}, save = false, onProblem = warn } = options;
  const remember = async (params: Params, answer: string, reason: string) => {
    const said = saidIn(params);
    if (!save || !said || !answer.trim() || reason === "tool-calls") return;
    const { content, ...fields } = { ...turnOf(said, answer), ...(save === true ? {} : save) };
    await client.remember(content, fields).catch(onProblem);
  };
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const query = saidIn(params);
      if (!query) return params;
      try {
        const found = await client.memories.search({ limit: 5, ...recall, query: cut(query, MOST_QUERY) });
        return found.results.length ? withMemories(params, fenced(found.results)) : params;
      } catch (error) {
        onProblem(error);
        return params;
      }
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const texts = result.content.flatMap((part) => (part.type === "text" ? part.text : []));
      await remember(params, texts.join(""), result.finishReason.unified);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const listening = listen((answer, reason) => remember(params, answer, reason));
      return { ...result, stream: result.stream.pipeThrough(listening) };
    },
  };
}

/** The text of the user's last message, without what was recalled. */
function saidIn({ prompt }: Params): string {
  const last = prompt.findLast((message) => message.role === "user");
  const texts = (last?.content ?? []).flatMap((part) =>
    part.type === "text" && !part.providerOptions?.sensorium ? part.text : [],
  );
  return texts.join("\n").trim();
}

function withMemories(params: Params, text: string): Params {
  const at = params.prompt.findLastIndex((message) => message.role === "user");
  const part: UserPart = { type: "text", text, providerOptions: RECALLED };
  const prompt = params.prompt.map((message, index) =>
    index === at && message.role === "user" ? { ...message, content: [part, ...message.content] } : message,
  );
  return { ...params, prompt };
}

/** Passes a stream on, and gives its text and its end to `done` before it ends. One that is aborted has no end. */
function listen(
  done: (answer: string, reason: string) => Promise<void>,
): TransformStream<StreamPart, StreamPart> {
  let [answer, reason] = ["", ""];
  return new TransformStream({
    transform(part, controller) {
      if (part.type === "text-delta") answer += part.delta;
      if (part.type === "finish") reason = part.finishReason.unified;
      controller.enqueue(part);
    },
    flush: () => done(answer, reason),
  });
}

function turnOf(said: string, answer: string): Pick<MemoriesCreateParams, "title" | "content" | "type"> {
  return {
    title: cut(said.replace(/\s+/g, " "), MOST_TITLE),
    content: cut(`User: ${said}\n\nAssistant: ${answer}`, MOST_CONTENT),
    type: "episodic",
  };
}

function warn(error: unknown): void {
  console.warn("Sensorium:", error);
}
