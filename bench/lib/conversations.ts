import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export interface Turn {
  id: string;
  speaker: string;
  text: string;
  session: number | string;
  /** `1:56 pm on 8 May, 2023`, or a form that `Date` parses. */
  date?: string;
  /** Description of the attached picture. */
  caption?: string;
}

export interface Question {
  question: string;
  category: number | string;
  /** Ids of the turns that contain the answer. */
  evidence: string[];
}

export interface Conversation {
  id: string;
  turns: Turn[];
  questions: Question[];
}

/** Reads a JSON file of conversations, gzipped or not. @throws Error for any other content */
export function readConversations(path: string): Conversation[] {
  const bytes = readFileSync(path);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const read: unknown = JSON.parse((isGzip ? gunzipSync(bytes) : bytes).toString("utf8"));
  if (
    !Array.isArray(read) ||
    !read.every((each) => Array.isArray(each?.turns) && Array.isArray(each.questions))
  )
    throw new Error(`${path} is not a list of conversations with turns and questions`);
  return read;
}

/** Returns a turn as an agent's memory: the title names the speaker, the source the conversation. */
export function memoryOf(conversation: Conversation, { speaker, text, caption, session, date }: Turn) {
  return {
    title: speaker,
    content: [text, caption && `[${caption}]`].filter(Boolean).join("\n") || "…",
    type: "episodic",
    scope: "agent",
    source_type: "conversation",
    source_id: `${conversation.id}/${session}`,
    freshness_date: timeOf(date),
  };
}

const SPOKEN = /^(\d+):(\d\d) ([ap])m on (\d+) (\w+),? (\d{4})$/i;

function timeOf(date: string | undefined): string | null {
  const [, hour, minute, half, day, month, year] = SPOKEN.exec(date ?? "") ?? [];
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === "p" ? 12 : 0);
  const time = Date.parse(day ? `${day} ${month} ${year} ${hours}:${minute} UTC` : (date ?? ""));
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
