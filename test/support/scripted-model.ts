import type { ServerResponse } from "node:http";
import { serving } from "./serving.ts";

interface Asked {
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the requests of three APIs
  body: any;
}

/** A model that runs one command, and from then on says the same. */
export interface ScriptedModel {
  port: number;
  /** The requests with tools so far: one for each step of a session. */
  steps(): Asked[];
  stop(): Promise<void>;
}

export interface Script {
  command: string;
  answer: string;
  /** Returns the tool that Claude calls instead of the command, if any, on a request. A rejection is an error of the API. */
  // biome-ignore lint/suspicious/noExplicitAny: the body of a request
  call?: (body: any) => Promise<ToolCall | undefined> | ToolCall | undefined;
}

type ToolCall = { name: string; input: object };

type Event = [name: string, data: object];

/** Serves Anthropic's Messages, OpenAI's Responses and Google's generateContent on a free port of 127.0.0.1. */
export async function startModel(script: Script): Promise<ScriptedModel> {
  const steps: Asked[] = [];
  const { url, close } = await serving(async (request, response) => {
    const path = request.url ?? "";
    const body = JSON.parse((await request.toArray()).join("") || "{}");
    const isStep = Array.isArray(body.tools) && body.tools.length > 0;
    if (isStep) steps.push({ path, body });
    const isFirst = isStep && steps.length === 1;
    let call: ToolCall | undefined = isFirst && !script.call ? bash(script) : undefined;
    try {
      if (isStep) call ??= await script.call?.(body);
    } catch (error) {
      return void refuse(response, error as Error);
    }
    if (path.startsWith("/v1/messages?")) stream(response, messagesOf(script, call, steps.length));
    else if (path.startsWith("/v1/responses")) stream(response, responsesOf(script, isFirst));
    else if (path.includes(":streamGenerateContent")) stream(response, contentOf(script, isFirst));
    else response.writeHead(404, { "content-type": "application/json" }).end("{}");
  });
  return { port: Number(new URL(url).port), steps: () => steps, stop: close };
}

/** Answers as the API does when a request is wrong: no client retries it. */
function refuse(response: ServerResponse, { message }: Error): void {
  const body = { type: "error", error: { type: "invalid_request_error", message } };
  response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function stream(response: ServerResponse, events: Event[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [name, data] of events)
    response.write(`${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`);
  response.end();
}

const bash = ({ command }: Script) => ({ name: "Bash", input: { command, description: "Do it" } });

function messagesOf({ answer }: Script, call: ToolCall | undefined, step: number): Event[] {
  const block = call
    ? { type: "tool_use", id: `toolu_${step}`, name: call.name, input: {} }
    : { type: "text", text: "" };
  const delta = call
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text: answer };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    ...{ id: `msg_${step}`, type: "message", role: "assistant", model: "scripted", content: [], usage },
  };
  const stop = { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null };
  const events: object[] = [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ];
  return named(events);
}

function responsesOf({ command, answer }: Script, isFirst: boolean): Event[] {
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "exec_command" };
  const item = isFirst
    ? { ...call, arguments: JSON.stringify({ cmd: command }) }
    : { type: "message", id: "m_1", role: "assistant", content: [{ type: "output_text", text: answer }] };
  const usage = {
    ...{ input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null },
  };
  return named([
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", usage: { ...usage, total_tokens: 2 } } },
  ]);
}

function contentOf({ command, answer }: Script, isFirst: boolean): Event[] {
  const part = isFirst
    ? { functionCall: { name: "run_shell_command", args: { command } } }
    : { text: answer };
  const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [["", { candidates: [candidate], usageMetadata }]];
}

function named(events: object[]): Event[] {
  return events.map((event) => [(event as { type: string }).type, event]);
}
