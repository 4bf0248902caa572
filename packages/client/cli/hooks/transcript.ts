import { type FileHandle, open } from "node:fs/promises";
import { LINE_END } from "../../lines.ts";
import { Failure } from "../usage.ts";
import { type Call, fieldsIn, parsed, toEntry } from "./records.ts";

/** A transcript, read without a model, oldest first. */
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

/** The end of a transcript that is read first, and at most. A single line may be longer than the first. */
const FIRST_BYTES = 16 * 1024 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Reads a transcript of any of the tools: its end, and more of it if that says nothing. Leaves out what is missing or
 * unknown. @throws Failure if it cannot be read
 */
export async function readTranscript(file: string | undefined): Promise<Session> {
  for (let most = FIRST_BYTES; ; most *= 4) {
    const { content, isWhole } = await readEnd(file, most);
    const session = sessionIn(content);
    if (session.requests.length > 0 || session.answer || isWhole || most >= MOST_BYTES) return session;
  }
}

function sessionIn(content: string): Session {
  const session: Session = { requests: [], files: [], commands: [], todos: [] };
  const tasks = new Map<string, Todo>();
  for (const record of recordsIn(content)) {
    const { role, text, calls, task } = toEntry(record);
    const said = role === "user" ? requestIn(text) : text.trim();
    if (role === "user" && said) session.requests.push(said);
    if (role === "assistant" && said) session.answer = said;
    if (task && !tasks.has(task.id)) tasks.set(task.id, { text: task.text, done: false });
    for (const call of calls) note(call, session, tasks);
  }
  if (tasks.size > 0) session.todos = [...tasks.values()];
  return session;
}

/** Returns the last bytes of a file; nothing if it does not exist: a session without messages. */
async function readEnd(
  file: string | undefined,
  most: number,
): Promise<{ content: string; isWhole: boolean }> {
  const nothing = { content: "", isWhole: true };
  if (file === undefined) return nothing;
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, "r");
    const { size } = await handle.stat();
    const length = Math.min(size, most);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return { content: buffer.toString("utf8", 0, bytesRead), isWhole: length === size };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return nothing;
    throw new Failure(`The transcript ${file} cannot be read: ${message}`, "unreadable_file");
  } finally {
    await handle?.close();
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

/** Additions of tools to a request: `<system-reminder>…</system-reminder>`. Elements of HTML have no hyphen in their name. */
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
  if (list) session.todos = list.map(fieldsIn).flatMap((each) => (each ? parseTodo(each) : []));
  const patched = Object.values(args).flatMap(patchedBy);
  session.files.push(...patched);
  const file = FILE_FIELDS.map((field) => args[field]).find((path) => typeof path === "string");
  if (CHANGES.test(name) && typeof file === "string") session.files.push(file);
  const command = [args.command ?? args.cmd].flat().at(-1);
  if (RUNS.test(name) && typeof command === "string" && patched.length === 0) session.commands.push(command);
}

function parseTodo({ content, description, step, status }: Record<string, unknown>): Todo[] {
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
