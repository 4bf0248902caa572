import { readFile } from "node:fs/promises";
import { OPERATIONS } from "../generated/operations.ts";
import { jsonLine } from "../lines.ts";
import type { Operation } from "../operation.ts";
import { allPages } from "../paging.ts";
import { bodyOfAnswer, request, streamOfAnswer } from "../request.ts";
import { messagesOf } from "../sse.ts";
import { type Command, type Context, text, word } from "./command.ts";
import { readContent } from "./input.ts";
import { Failure, UsageError } from "./usage.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Params = Record<string, unknown>;

export const api: Command = {
  takes: "METHOD PATH",
  does: "Calls any operation of the API, and prints its answer.",
  options: {
    field: {
      value: "NAME=VALUE",
      short: "F",
      repeated: true,
      means: "a field of the body, or of the query of GET and DELETE; JSON, @FILE, or else text",
    },
    input: { value: "FILE", means: "the whole body, as it is; - for standard input" },
    paginate: { means: "all items of a list, page by page, one per line" },
  },
  examples: [
    "api GET /agents --paginate --query name",
    "api PATCH /agents/ag_…/status --field status=suspended",
    "api POST /memories --input memory.json",
  ],
  as: ["person", "agent"],
  async run(context) {
    const operation = operationFor(readMethod(context), word(context, 1, "PATH"));
    const params = { ...parseQuery(word(context, 1, "PATH")), ...(await readFields(context)) };
    const { connection, signal } = context;
    const { stdout } = context.host;
    if (context.options.paginate) return await paginate(context, operation, params);
    const whole = await readInput(context);
    const sent = whole === undefined ? params : { ...params, [WHOLE]: whole };
    const called = whole === undefined ? operation : { ...operation, whole: WHOLE };
    const response = await request(connection, called, sent, { signal });
    if (operation.stream) {
      for await (const { data } of messagesOf(await streamOfAnswer(response)))
        context.print(data, () => jsonLine(data));
      return;
    }
    const answer = await bodyOfAnswer(response, operation);
    const shown = () => (typeof answer === "string" ? answer.trimEnd() : JSON.stringify(answer, null, 2));
    if (answer instanceof Blob && stdout.isTTY)
      throw new Failure(
        "The answer is a file, which could control this terminal: redirect it with > FILE.",
        "unavailable_here",
      );
    if (answer instanceof Blob) stdout.write(Buffer.from(await answer.arrayBuffer()));
    else if (answer !== undefined) context.print(answer, shown);
  },
};

/** The parameter that carries `--input`. */
const WHOLE = "$input";

function readMethod(context: Context): Operation["method"] {
  const typed = word(context, 0, "METHOD").toUpperCase();
  const method = METHODS.find((each) => each === typed);
  if (!method) throw new UsageError(`METHOD is ${typed}: expected ${METHODS.join(", ")}.`);
  return method;
}

/** Returns how the operation at a path is called; for an unknown one the usual way, and the service answers. */
function operationFor(method: Operation["method"], typed: string): Operation {
  const [path = ""] = typed.split("?");
  if (!path.startsWith("/")) throw new UsageError(`PATH is ${typed}: expected one like /events.`);
  const isVersioned = path.startsWith("/v1/");
  const own = isVersioned ? path.slice(3) : path;
  const known = Object.values<Record<string, Operation>>(OPERATIONS)
    .flatMap((calls) => Object.values(calls))
    .find((each) => each.method === method && !(each.root && isVersioned) && patternOf(each).test(own));
  // The path is complete, so its placeholders and what is sent elsewhere no longer matter.
  const { query: _, whole: __, ...rest } = known ?? { method, path: own };
  return { ...rest, path: own.replace(/[{}]/g, encodeURIComponent) };
}

function patternOf({ path }: Operation): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}

function parseQuery(typed: string): Params {
  const [, query = ""] = typed.split("?");
  const params: Params = {};
  for (const name of new Set(new URLSearchParams(query).keys()))
    params[name] = new URLSearchParams(query).getAll(name);
  return params;
}

async function readFields(context: Context): Promise<Params> {
  const fields: Params = {};
  for (const typed of (context.options.field as string[] | undefined) ?? []) {
    const [name = "", ...rest] = typed.split("=");
    if (!name || !typed.includes("=")) throw new UsageError(`--field is ${typed}: expected NAME=VALUE.`);
    fields[name] = parsed(await readContent(context.host, rest.join("=")));
  }
  return fields;
}

/** Texts need no quotes. */
function parsed(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

async function readInput(context: Context): Promise<string | Uint8Array | undefined> {
  const input = text(context, "input");
  if (input === undefined) return undefined;
  if (context.options.field) throw new UsageError("Give --input or --field, not both.");
  return input === "-"
    ? readContent(context.host, "-")
    : readFile(context.host.pathOf(input)).catch(() => readContent(context.host, `@${input}`));
}

async function paginate(context: Context, operation: Operation, params: Params): Promise<void> {
  const { connection, signal } = context;
  if (!operation.pages) throw new UsageError("--paginate: the operation is no list with pages.");
  const call = async (page: Params) =>
    bodyOfAnswer(await request(connection, operation, page, { signal }), operation);
  for await (const item of allPages(operation.pages, call, params)) context.print(item, () => jsonLine(item));
}
