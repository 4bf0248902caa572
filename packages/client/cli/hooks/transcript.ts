import { open } from "node:fs/promises";
import { LINE_END } from "../../lines.ts";
import { type Call, entryOf, fieldsIn, parsed } from "./records.ts";

/** What a transcript says without a model, oldest first. */
export interface Session {
  requests: string[];
  /** The last message of the assistant. */
  answer?: string;
  files: string[];
  commands: string[];
  todos: Todo[];
}

interface Todo {
  text: string;
  done: boolean;
}

/** Of a longer transcript only the end is read. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Reads a transcript of any of the tools. Leaves out what is missing or unknown. */
export async function readTranscript(file: string | undefined): Promise<Session> {
  const content = file === undefined ? "" : await endOf(file).catch(() => "");
  const session: Session = { requests: [], files: [], commands: [], todos: [] };
  const tasks = new Map<string, Todo>();
  for (const record of recordsIn(content)) {
    const { role, text, calls, task } = entryOf(record);
    const said = role === "user" ? requestIn(text) : text.trim();
    if (role === "user" && said) session.requests.push(said);
    if (role === "assistant" && said) session.answer = said;
    if (task && !tasks.has(task.id)) tasks.set(task.id, { text: task.text, done: false });
    for (const call of calls) note(call, session, tasks);
  }
  if (tasks.size > 0) session.todos = [...tasks.values()];
  return session;
}

async function endOf(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, MOST_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Returns the objects of a file with one on each line, or in a list of messages. */
function* recordsIn(content: string) {
  const whole = content.startsWith("{") ? fieldsIn(parsed(content)) : undefined;
  const values = Array.isArray(whole?.messages) ? whole.messages : content.split(LINE_END).map(parsed);
  for (const value of values) {
    const record = fieldsIn(value);
    if (record) yield record;
  }
}

/** What tools add to a request: `<system-reminder>…</system-reminder>`. Elements of HTML have no hyphen in their name. */
const ADDED = /<([a-z]+(?:[-_][a-z]+)+)\b[^>]*>[\s\S]*?<\/\1>/g;

/** Returns a request as the person wrote it. */
function requestIn(text: string): string {
  if (text.startsWith("# AGENTS.md instructions")) return "";
  return text
    .replace(/<\/?user_query>/g, "")
    .replace(ADDED, "")
    .trim();
}

const CHANGES = /write|edit|replace|patch|notebook|delete/i;
const RUNS = /bash|shell|exec|terminal|command/i;
const FILE_FIELDS = ["file_path", "notebook_path", "target_file", "absolute_path", "path"];

function note({ name, args }: Call, session: Session, tasks: Map<string, Todo>): void {
  const { taskId, status, todos, plan } = args;
  const task = tasks.get(String(taskId));
  if (task && status === "deleted") tasks.delete(String(taskId));
  else if (task && status) task.done = status === "completed";
  const list = [todos, plan].find(Array.isArray);
  if (list) session.todos = list.map(fieldsIn).flatMap((each) => (each ? todoOf(each) : []));
  const patched = Object.values(args).flatMap(patchedBy);
  session.files.push(...patched);
  const file = FILE_FIELDS.map((field) => args[field]).find((path) => typeof path === "string");
  if (CHANGES.test(name) && typeof file === "string") session.files.push(file);
  const command = [args.command ?? args.cmd].flat().at(-1);
  if (RUNS.test(name) && typeof command === "string" && patched.length === 0) session.commands.push(command);
}

function todoOf({ content, description, step, status }: Record<string, unknown>): Todo[] {
  const text = content ?? description ?? step;
  return typeof text === "string" ? [{ text, done: status === "completed" }] : [];
}

/** Returns the files that a patch of Codex names. */
function patchedBy(value: unknown): string[] {
  const text = [value].flat().at(-1);
  if (typeof text !== "string" || !text.includes("*** Begin Patch")) return [];
  return text
    .split(LINE_END)
    .flatMap((line) => /^\*\*\* (?:Add|Update|Delete) File: (.+)$/s.exec(line)?.[1] ?? []);
}
