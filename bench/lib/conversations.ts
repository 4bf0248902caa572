import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export interface Turn {
  id: string;
  speaker: string;
  text: string;
  session: number | string;
  /** `1:56 pm on 8 May, 2023`, or what `Date` reads. */
  date?: string;
  /** What is in the picture that came with it. */
  caption?: string;
}

export interface Question {
  question: string;
  category: number | string;
  /** Ids of the turns that hold the answer. */
  evidence: string[];
}

export interface Conversation {
  id: string;
  turns: Turn[];
  questions: Question[];
}

/** Reads a JSON file of conversations, gzipped or not. @throws Error when it is something else */
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

/** A turn as the memory that an agent would keep of it: a title says who, the source which conversation. */
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
