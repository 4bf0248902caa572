import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { type Caller, hasScope } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { withinBudget } from "../../../lib/text/budget.ts";
import { isJson, type Text } from "./results.ts";

/** A kind of resource readable by a URI. */
export interface Kind {
  /** The operation that reads it. */
  op: Operation;
  template: ResourceTemplateType;
  /** Name of the id in the operation's path. */
  id: string;
}

const MARKDOWN = "text/markdown";
const JSON_TYPE = "application/json";

const KINDS = [
  {
    name: "memory",
    action: "memories.get",
    mimeType: JSON_TYPE,
    description: "A memory with its provenance and usage.",
  },
  {
    name: "output",
    action: "outputs.get",
    mimeType: MARKDOWN,
    description: "The text of the latest version of an output.",
  },
  {
    name: "handoff",
    action: "handoffs.export",
    mimeType: MARKDOWN,
    description:
      "The brief of a handoff. Reading it does not resume the handoff: use the tool handoffs_resume.",
  },
  {
    name: "bundle",
    action: "bundles.brief",
    mimeType: MARKDOWN,
    description: "The brief of a bundle: the context of a task.",
  },
  {
    name: "run",
    action: "runs.status_document",
    mimeType: MARKDOWN,
    description: "The status of a run: its steps, who completed them, and their notes.",
  },
] as const;

const PLURALS: Record<string, string> = { memory: "memories" };

/** Returns the kinds whose operations exist. */
export function listKinds(operations: readonly Operation[]): Kind[] {
  return KINDS.flatMap(({ action, name, ...rest }) => {
    const op = operations.find((each) => each.action === action);
    const [id] = Object.keys(op?.path ?? {});
    if (!op || !id) return [];
    const uriTemplate = `${rootOf(name)}{id}`;
    return [{ op, id, template: { name, title: op.summary, uriTemplate, ...rest } }];
  });
}

function rootOf(name: string): string {
  return `sensorium://${PLURALS[name] ?? `${name}s`}/`;
}

/** The events that wait for the calling agent. */
export const INBOX = "sensorium://inbox";
export const INBOX_RESOURCE: Resource = {
  uri: INBOX,
  name: "inbox",
  title: "Waiting events",
  description:
    "The latest events that wait for you. Reading them leases nothing: receive them with deliveries_poll.",
  mimeType: JSON_TYPE,
};
const WAITING_AT_MOST = 20;

/** Returns the operation's arguments for the inbox of a caller; null if it has none. */
export function inboxOf(caller: Caller): { agent_id: string; status: string; limit: number } | null {
  if (!("agent_id" in caller) || !hasScope(caller, "receive")) return null;
  return { agent_id: caller.agent_id, status: "ready", limit: WAITING_AT_MOST };
}

/** Returns the kind and the id of a URI; null if it is not one of ours. */
export function find(kinds: readonly Kind[], uri: string): { kind: Kind; id: string } | null {
  for (const kind of kinds) {
    const root = rootOf(kind.template.name);
    if (!uri.startsWith(root)) continue;
    const id = decoded(uri.slice(root.length));
    return id === null ? null : { kind, id };
  }
  return null;
}

/** Decodes an id or a slug, which may contain letters of any script. */
function decoded(text: string): string | null {
  try {
    const id = decodeURIComponent(text);
    return /^[\p{L}\p{M}\p{N}_-]+$/u.test(id) ? id : null;
  } catch {
    return null;
  }
}

/** Converts an answer to a resource: for an output, only its text. */
export function toContents(uri: string, { op, template }: Kind, answer: Text): ReadResourceResult {
  const mimeType = template.mimeType as string;
  const text = mimeType === MARKDOWN && isJson(answer) ? (JSON.parse(answer.text).body ?? "") : answer.text;
  const whole = op.mcp ? `The tool ${op.action.replace(".", "_")} with from_character 0` : `GET ${op.url}`;
  return { contents: [{ uri, mimeType, text: withinBudget(text, whole) }] };
}

/** Lists offered as resources to choose from: the latest items that a caller works on. */
export const LISTED = [
  {
    action: "handoffs.list",
    given: {},
    items: (answer: Json) => answer as unknown as Json[],
    resource: (row: Json): Resource => ({
      uri: `${rootOf("handoff")}${row.id}`,
      name: String(row.name),
      mimeType: MARKDOWN,
      ...(row.summary ? { description: clip(String(row.summary)) } : {}),
    }),
  },
  {
    action: "outputs.list",
    given: {},
    items: (answer: Json) => answer.outputs as Json[],
    resource: (row: Json): Resource => ({
      uri: `${rootOf("output")}${row.id}`,
      name: String(row.slug),
      title: String(row.title),
      mimeType: MARKDOWN,
      size: Number(row.byte_size),
    }),
  },
  {
    action: "runs.list",
    given: { status: "active" },
    items: (answer: Json) => answer as unknown as Json[],
    resource: (row: Json): Resource => ({
      uri: `${rootOf("run")}${row.id}`,
      name: clip(String(row.goal)),
      mimeType: MARKDOWN,
    }),
  },
] as const;

type Json = Record<string, unknown>;

const SHOWN = 300;

function clip(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
}
