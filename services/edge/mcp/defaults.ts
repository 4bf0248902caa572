import { type Caller, callerId } from "../../../lib/access/caller.ts";
import { type Operation, toolHints } from "../../../lib/contract/contract.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { Arguments } from "./request.ts";

interface Default {
  /** Returns the parameter's description in the tool. @param own that of the operation */
  describe(own: string): string;
  /** Returns undefined if this caller has no default. @param key that makes a call safe to repeat */
  value(caller: Caller, key: string | undefined, given: Arguments): string | boolean | undefined;
}

const OWN_AGENT: Default = {
  describe: () => "Default: the calling agent.",
  value: (caller) => (caller.kind === "agent" ? caller.agent_id : undefined),
};

/** Attributes of every CloudEvent that a language model should not make up. */
const EVENT: Record<string, Default> = {
  specversion: { describe: () => "Default: 1.0.", value: () => "1.0" },
  id: {
    describe: () => "The deduplication key, unique within the tenant. Default: a new one.",
    value: (_, key) => key ?? newUuid(),
  },
  source: {
    describe: () => "The producing system. Default: the caller.",
    value: (caller) => `urn:sensorium:${callerId(caller)}`,
  },
};

/** Texts begin with what they are about. */
const TITLE: Default = {
  describe: (own) => `${own} Default: the first line of \`content\`.`,
  // Without a text the refusal is about `content`.
  value: (_, __, { content }) => (typeof content === "string" ? titleOf(content) : UNTITLED),
};

const TITLE_LENGTH = 120;
const UNTITLED = "Untitled";

/** Returns a text's first line, cut at a word if it is long; the clients' `remember` does the same. */
export function titleOf(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  const title = line.replace(/^#+\s*/, "").trim() || UNTITLED;
  const characters = Array.from(title);
  if (characters.length <= TITLE_LENGTH) return title;
  const cut = characters.slice(0, TITLE_LENGTH - 1).join("");
  return `${cut.slice(0, cut.lastIndexOf(" ") + 1 || undefined).trimEnd()}…`;
}

/** People have no scope `agent`: what they save is for all. */
const SCOPE: Default = {
  describe: (own) => `${own} Default: agent; for a person institutional.`,
  value: ({ kind }, _, { team_id }) => (team_id ? "team" : kind === "agent" ? "agent" : "institutional"),
};

/** Returns the values that a tool fills in for required parameters. */
export function defaultsOf(op: Operation): Record<string, Default> {
  const { consumes, path = {}, body = {} } = op;
  if (consumes === "cloudevents") return EVENT;
  const fixed = Object.entries(toolHints(op).defaults ?? {}).map(([name, value]): [string, Default] => [
    name,
    { describe: (own) => `${own} Default: ${value}.`, value: () => value },
  ]);
  return {
    ...("agent_id" in path && { agent_id: OWN_AGENT }),
    ...("title" in body && "content" in body && op.method === "POST" && { title: TITLE, scope: SCOPE }),
    ...Object.fromEntries(fixed),
  };
}
