import { UsageError } from "../usage.ts";

/** The coding tools whose hooks are answered. */
export const TOOLS = ["claude-code", "codex", "cursor", "gemini-cli"] as const;
export type Tool = (typeof TOOLS)[number];
type Task = "start" | "turn" | "end" | "save";

export interface HookInput {
  /** The hook's event, as the tool names it. */
  event: string;
  /** Undefined for an event that needs nothing. */
  task: Task | undefined;
  sessionId: string;
  /** Of Claude Code since 2.1.196: the same for all that happens in a turn. */
  promptId?: string;
  cwd: string;
  /** Whether the conversation was just compacted: its own handoff then says what the summary lost. */
  isCompacted: boolean;
  /** The file with the conversation. */
  transcript?: string;
  /** Texts of the event itself. */
  prompt?: string;
  answer?: string;
}

/** Events by their name in lower case: Cursor's begin with a small letter. */
const TASKS: Record<string, Task> = {
  sessionstart: "start",
  userpromptsubmit: "turn",
  beforeagent: "turn",
  precompact: "save",
  precompress: "save",
  stop: "save",
  afteragent: "save",
  sessionend: "save",
};

/** Reads what a tool passes to its hook. @param folder where it runs @throws UsageError */
export function parseInput(json: string, tool: Tool, folder: () => string): HookInput {
  const given = parsed(json);
  const text = (...names: string[]) =>
    names.map((name) => given[name]).find((value) => typeof value === "string" && value !== "") as
      | string
      | undefined;
  const event = text("hook_event_name");
  const sessionId = text("session_id", "conversation_id");
  if (!event || !sessionId)
    throw new UsageError("standard input names no event and session: expected the JSON of a tool's hook.");
  const [root] = Array.isArray(given.workspace_roots) ? given.workspace_roots : [];
  const transcript = text("transcript_path");
  const promptId = text("prompt_id");
  const prompt = text("prompt");
  const answer = text("last_assistant_message", "prompt_response");
  // Claude Code saves a session when that ends.
  const task = tool === "claude-code" && event === "Stop" ? "end" : TASKS[event.toLowerCase()];
  return {
    event,
    task,
    sessionId,
    cwd: text("cwd") ?? (typeof root === "string" ? root : folder()),
    isCompacted: given.source === "compact",
    ...(transcript && { transcript }),
    ...(promptId && { promptId }),
    ...(prompt && { prompt }),
    ...(answer && { answer }),
  };
}

/** Returns what the tool reads from the hook's standard output. */
export function makeAnswer(tool: Tool, event: string, told: string | undefined): object {
  if (told === undefined) return {};
  if (tool === "cursor") return { additional_context: told };
  return { hookSpecificOutput: { hookEventName: event, additionalContext: told } };
}

function parsed(json: string): Record<string, unknown> {
  try {
    const value = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw new UsageError("standard input is no JSON object: expected the JSON of a tool's hook.");
}
