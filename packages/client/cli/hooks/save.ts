import { relative } from "node:path";
import { redact } from "../../generated/redact.ts";
import type { HandoffsSaveParams } from "../../generated/types.ts";
import type { HookInput, Tool } from "./input.ts";
import type { Project } from "./project.ts";
import { cut, oneLine } from "./text.ts";
import { readTranscript, type Session } from "./transcript.ts";

/** Limits of a handoff, in items and characters. */
const MOST = { requests: 5, files: 40, commands: 15, todos: 20 };
const LENGTH = { name: 200, summary: 300, request: 600, answer: 1500, line: 200 };
/** Before secrets are looked for, so that this takes no time. */
const LONGEST_TEXT = 10_000;

/** Returns the name of a session's handoff: random digits are at the end of a session's id. */
export function handoffName(project: string, sessionId: string): string {
  const name = cut(project, LENGTH.name - 30);
  return `${name} session ${sessionId.slice(-12)}`;
}

interface Ended extends HookInput {
  tool: Tool;
  project: Project;
}

/** Returns the handoff of a session; none if nobody asked for anything in it. */
export async function handoffOf(ended: Ended): Promise<HandoffsSaveParams | undefined> {
  const session = await readTranscript(ended.transcript).catch((error) => {
    if (ended.prompt || ended.answer) return readTranscript(undefined);
    throw error;
  });
  const { requests } = session;
  if (requests.length === 0 && ended.prompt) requests.push(ended.prompt);
  session.answer ??= ended.answer;
  return requests.length > 0 || session.answer ? toHandoff(session, ended) : undefined;
}

function toHandoff(session: Session, { tool, project, sessionId }: Ended): HandoffsSaveParams {
  const { answer, todos } = session;
  const requests = latest(session.requests, MOST.requests).map((each) => plain(each, LENGTH.request));
  const files = latest(session.files, MOST.files).map((file) => withinRoot(file, project.root));
  const commands = latest(session.commands, MOST.commands).map((each) => line(each));
  const tasks = (isDone: boolean) =>
    todos.filter(({ done }) => done === isDone).map(({ text }) => line(text));
  const lists = {
    remaining: tasks(false).slice(0, MOST.todos),
    completed: tasks(true).slice(-MOST.todos),
    requests,
    files_changed: files,
    commands,
  };
  return {
    name: handoffName(project.name, sessionId),
    summary: oneLine(plain(requests.at(-1) ?? answer ?? "", LENGTH.summary)),
    origin_client: tool,
    payload: {
      ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
      ...(answer && { last_answer: plain(answer, LENGTH.answer) }),
      directory: project.root,
      ...(project.branch && { branch: project.branch }),
    },
  };
}

function latest(items: readonly string[], most: number): string[] {
  return [...new Set([...items].reverse())].slice(0, most).reverse();
}

function plain(text: string, most: number): string {
  return cut(redact(text.slice(0, LONGEST_TEXT)), most);
}

function line(text: string): string {
  return plain(oneLine(text), LENGTH.line);
}

function withinRoot(file: string, root: string): string {
  const path = relative(root, file);
  return line(path.startsWith("..") || !file.startsWith("/") ? file : path);
}
