import { addAbortSignal } from "node:stream";
import { ApiError } from "../errors.ts";
import { jsonLine, LineSplitter } from "../lines.ts";
import type { Operation } from "../operation.ts";
import { type Connection, request } from "../request.ts";
import { messagesOf } from "../sse.ts";
import { after } from "../support.ts";
import { adviceOn, requireTold } from "./advice.ts";
import { ACKNOWLEDGED_BY, Channel } from "./channel.ts";
import { type Command, type Context, choice, readList, text } from "./command.ts";
import { startHeartbeat } from "./connect.ts";
import { readDuration } from "./times.ts";

export const mcp: Command = {
  takes: "",
  does: "Serves the Model Context Protocol on standard input and output, for clients that start their servers.",
  options: {
    tools: {
      value: "NAMES",
      means: "presets (core, sense, remember, work, all), domains or tools, like core,documents",
    },
    channel: { means: "push the agent's events into the session (Claude Code 2.1.80 or newer)" },
    acknowledge: {
      value: ACKNOWLEDGED_BY.join("|"),
      means:
        "with --channel: what acknowledges an event, a call of deliveries_ack or the end of the turn that handled it, which " +
        "the plugin's hooks tell; default: tool",
    },
    "relay-permissions": {
      value: "ID,ID",
      means:
        "with --channel: ask these too (users, teams or admins) for permissions that the session asks for in its terminal",
    },
    hold: {
      value: "DURATION",
      means:
        "with --channel: time for the session to settle an event, and for people to answer, such as 90s, 15m or 2h; default: 15m",
    },
    timeout: {
      value: "DURATION",
      means: "answer a request with an error if the service sends nothing for so long; default: 60s",
    },
  },
  as: ["agent"],
  unattended: true,
  run: (context) => new Bridge(context).run().finally(startHeartbeat(context)),
};

const ENDPOINT: Operation = {
  method: "POST",
  path: "/mcp",
  root: true,
  query: ["tools"],
  whole: "message",
  stream: true,
};
const VERSION_META = "io.modelcontextprotocol/protocolVersion";
/** Longer than any call waits for events (30 s). A connection may be dead without being closed, as after sleep. */
const LONGEST_SILENCE = "60s";
const ASKS_PERMISSION = "notifications/claude/channel/permission_request";
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const PARSE_ERROR = -32700;

type Id = string | number;

interface Message {
  id?: Id;
  method?: string;
  params?: {
    name?: unknown;
    arguments?: unknown;
    uri?: unknown;
    requestId?: Id;
    _meta?: Record<string, unknown>;
  };
  result?: { protocolVersion?: string; isError?: boolean; capabilities?: object };
}

/** Forwards messages between a client on standard input and output and a service on HTTP. */
class Bridge {
  readonly #context: Context;
  readonly #connection: Connection;
  readonly #tools: string | undefined;
  readonly #silenceMs: number;
  readonly #channel: Channel | undefined;
  readonly #underWay = new Map<Id, { work: Promise<void>; leave: AbortController }>();
  /** The version agreed on in `initialize`; since 2026-07-28 every message names its own. */
  #version: string | undefined;

  constructor(context: Context) {
    this.#context = context;
    this.#tools = text(context, "tools");
    this.#silenceMs = readDuration(context, "timeout", LONGEST_SILENCE);
    this.#connection = { ...context.connection, fetch: fetchAnswer };
    if (context.options.channel === true)
      this.#channel = new Channel(context, this.#write, {
        by: choice(context, "acknowledge", ACKNOWLEDGED_BY, "tool"),
        holdMs: readDuration(context, "hold", "15m"),
        assignees: readList(context, "relay-permissions"),
      });
  }

  /** Runs until standard input ends and every request is answered. */
  async run(): Promise<void> {
    const splitter = new LineSplitter();
    const ended = addAbortSignal(this.#context.signal, this.#context.host.stdin);
    try {
      for await (const chunk of ended) for (const line of splitter.take(chunk)) this.#take(line);
      for (const line of splitter.end()) this.#take(line);
      await Promise.all([...this.#underWay.values()].map(({ work }) => work));
    } finally {
      await this.#channel?.stop();
    }
  }

  readonly #write = (message: object): void => {
    this.#context.host.stdout.write(`${jsonLine(message)}\n`);
  };

  #take(line: string): void {
    if (!line.trim()) return;
    const message = parse(line);
    if (!message) this.#write(failure(null, PARSE_ERROR, "The line is not a JSON object."));
    const { id, method, params } = message ?? {};
    if (method === "notifications/cancelled") this.#underWay.get(params?.requestId as Id)?.leave.abort();
    if (method === ASKS_PERMISSION) this.#channel?.asked(params);
    // The service keeps no state between messages, so no other notification concerns it.
    if (!message || id === undefined || method === undefined) return;
    // Clients then fall back to an earlier revision: this one has no way for what nobody asked for.
    if (this.#channel && method === "server/discover") {
      this.#write(
        failure(id, METHOD_NOT_FOUND, "A channel needs a revision of the protocol with `initialize`."),
      );
      return;
    }
    if (method === "tools/call") this.#channel?.calling(String(params?.name), params?.arguments);
    const leave = new AbortController();
    const work = this.#ask(line, message, id, leave.signal).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, { work, leave });
  }

  async #ask(line: string, message: Message, id: Id, left: AbortSignal): Promise<void> {
    const { settings } = this.#context;
    const silent = new AbortController();
    const text = `The service sent nothing for ${this.#silenceMs / 1000} s. The request may have taken effect.`;
    const watch = () => after(this.#silenceMs, () => silent.abort(new Error(text)));
    let unwatch = watch();
    const heard = () => {
      unwatch();
      unwatch = watch();
    };
    try {
      requireTold(settings);
      const signal = AbortSignal.any([this.#context.signal, left, silent.signal]);
      const headers = this.#headersOf(message);
      const params = { message: line, tools: this.#tools };
      const response = await request(this.#connection, ENDPOINT, params, { signal, headers });
      let answered = false;
      for await (const answer of readAnswers(response, heard)) {
        answered ||= answer.method === undefined;
        this.#write(this.#heed(message, answer));
      }
      // The client would wait forever.
      if (!answered) throw new Error("The service ended the stream before it answered.");
    } catch (error) {
      if (left.aborted) return;
      const data = error instanceof ApiError ? { code: error.code, details: error.details } : undefined;
      const known = error instanceof ApiError ? adviceOn(error, settings) : undefined;
      this.#write(failure(id, INTERNAL_ERROR, known ?? (error as Error).message, data));
    } finally {
      unwatch();
    }
  }

  /** Returns an answer as the client gets it. */
  #heed({ method, params }: Message, answer: Message): Message {
    const { result } = answer;
    if (!result) return answer;
    if (method === "initialize") this.#version = result.protocolVersion;
    if (!this.#channel) return answer;
    if (method === "initialize") return { ...answer, result: this.#channel.declare(result) };
    if (method === "tools/list") this.#channel.start();
    if (method === "tools/call" && !result.isError)
      this.#channel.called(String(params?.name), params?.arguments);
    return answer;
  }

  /** Copies to headers what the HTTP transport requires there, for proxies. */
  #headersOf({ method, params }: Message): Record<string, string> {
    const version = params?._meta?.[VERSION_META] ?? this.#version;
    const name = params?.name ?? params?.uri;
    return {
      accept: "application/json, text/event-stream",
      "mcp-method": method as string,
      ...(version !== undefined && { "mcp-protocol-version": String(version) }),
      ...(name !== undefined && { "mcp-name": headerText(String(name)) }),
    };
  }
}

async function* readAnswers(response: Response, heard: () => void): AsyncGenerator<Message> {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream")) yield (await response.json()) as Message;
  else if (response.body)
    for await (const { data } of messagesOf(response.body, heard)) yield data as Message;
}

/** Treats a protocol error as an answer, whatever its status. */
const fetchAnswer: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.ok) return response;
  const { status, headers } = response;
  const body = await response.text();
  const isAnswer = parse(body) !== undefined && "jsonrpc" in (parse(body) as object);
  return new Response(body, { status: isAnswer ? 200 : status, headers });
};

/** Returns printable ASCII unchanged, anything else in the protocol's encoding. */
function headerText(value: string): string {
  return /^[!-~]+$/.test(value) ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

function parse(json: string): Message | undefined {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function failure(id: Id | null, code: number, message: string, data?: object): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data && { data }) } };
}
