type Fields = Record<string, unknown>;

/** A call of a tool by the assistant. */
export interface Call {
  name: string;
  args: Fields;
}

/** A line of a transcript. */
export interface Entry {
  role?: "user" | "assistant";
  text: string;
  calls: Call[];
  /** A task that a tool created. */
  task?: { id: string; text: string };
}

/**
 * Reads a line of any of the transcripts. Claude Code and Cursor have a message with blocks, Codex a payload that is a
 * message or a call, Gemini CLI a content with calls next to it.
 */
export function toEntry(record: Fields): Entry {
  const payload = fieldsIn(record.payload);
  const body = payload ?? fieldsIn(record.message) ?? record;
  const role = payload ? payload.role : (record.role ?? record.type);
  const isOfUser = role === "user";
  const isOfAssistant = role === "assistant" || role === "gemini";
  if (isHidden(record) || !(payload || isOfUser || isOfAssistant)) return { text: "", calls: [] };
  const blocks = toBlocks(body.content);
  const texts = blocks.map(({ text }) => text).filter((text) => typeof text === "string");
  const task = fieldsIn(fieldsIn(record.toolUseResult)?.task);
  return {
    ...(isOfUser && { role: "user" }),
    ...(isOfAssistant && { role: "assistant" }),
    text: texts.join("\n"),
    calls: [...(payload ? [payload] : []), ...blocks, ...toBlocks(body.toolCalls)].flatMap(callIn),
    ...(task && { task: { id: String(task.id), text: String(task.subject ?? "") } }),
  };
}

/** Whether the tool wrote it for the model, or a subagent did. */
function isHidden({ isMeta, isSidechain, isCompactSummary }: Fields): boolean {
  return isMeta === true || isSidechain === true || isCompactSummary === true;
}

function toBlocks(content: unknown): Fields[] {
  if (typeof content === "string") return [{ text: content }];
  return Array.isArray(content) ? content.map(fieldsIn).filter((block) => block !== undefined) : [];
}

function callIn({ name, input, args, arguments: json }: Fields): Call[] {
  const given = [input, args, json].find((each) => each !== undefined);
  if (typeof name !== "string" || given === undefined) return [];
  return [{ name, args: fieldsIn(typeof given === "string" ? parsed(given) : given) ?? { text: given } }];
}

/** Returns an object's fields. */
export function fieldsIn(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Returns the value of a JSON text; undefined if it is none. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
