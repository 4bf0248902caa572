import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { quoteAsData } from "../generated/quoted.ts";
import type { Approval, DeliveryEvent } from "../generated/types.ts";
import type { Context } from "./command.ts";
import { cut, oneLine } from "./hooks/text.ts";
import { shownOf } from "./supervise.ts";

/** Claude Code's description of a call of a tool that needs a permission. */
interface Asked {
  request_id: string;
  tool_name: string;
  description: string;
  input_preview: string;
}

interface Options {
  /** Users, teams or admins who may answer. */
  assignees: string[];
  /** How long a question is open. */
  holdMs: number;
}

/** Marks these approvals: their events are not for a session. */
const SUBJECT = "claude-code-permission";
/** The event of an answer may go to another session of the agent, so each question is asked for. */
const LOOK_MS = 2000;
const MOST_OF_NAME = 100;
const MOST_OF_TEXT = 1000;
/** For questions that are canceled when the session ends. */
const GRACE_MS = 2000;

/**
 * Asks people for the permissions that a session of Claude Code also asks for in its terminal, since 2.1.81. Sends back
 * what a person has answered, and nothing else: the terminal can still answer.
 */
export class Permissions {
  readonly #context: Context;
  readonly #push: (message: object) => void;
  readonly #options: Options;
  readonly #ended = new AbortController();
  /** Questions under way, by the session's ids of its requests. */
  readonly #open = new Map<string, Promise<void>>();

  constructor(context: Context, push: (message: object) => void, options: Options) {
    this.#context = context;
    this.#push = push;
    this.#options = options;
  }

  /** Asks about a call, in the background. Ignores a request that it does not understand. */
  request(params: unknown): void {
    const asked = parse(params);
    if (!asked || this.#open.has(asked.request_id)) return;
    const { request_id } = asked;
    const work = this.#relay(asked)
      .catch((error: Error) => this.#context.telling.problem(shownOf(error)))
      .finally(() => this.#open.delete(request_id));
    this.#open.set(request_id, work);
  }

  /** Cancels what is open: nobody waits for an answer. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.race([Promise.all(this.#open.values()), pause(GRACE_MS, undefined, { ref: false })]);
  }

  async #relay(asked: Asked): Promise<void> {
    const { client, host, telling } = this.#context;
    let approval = await client.approvals.ask(toQuestion(asked, this.#options, host.folder()));
    const { id } = approval;
    const { signal } = this.#ended;
    try {
      while (approval.status === "open") {
        await pause(LOOK_MS, undefined, { signal });
        // Through any outage: the person's answer is kept.
        approval = await client.approvals.get({ id }, { signal, retries: 1000 });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      await client.approvals.cancel({ id }, { retries: 0 });
      return;
    }
    const behavior = answerIn(approval);
    telling.note(`Permission for ${nameOf(asked)}, ${id}: ${behavior ?? approval.status}`);
    if (!behavior) return;
    const params = { request_id: asked.request_id, behavior };
    this.#push({ jsonrpc: "2.0", method: "notifications/claude/channel/permission", params });
  }
}

/** Whether an event tells the status of a question for a permission, of this session or another of the agent's. */
export async function isOfPermission(
  { client, signal }: Context,
  event: DeliveryEvent["payload"],
): Promise<boolean> {
  const { type, subject } = event;
  if (!String(type).startsWith("service.approval.")) return false;
  const approval = await client.approvals.get({ id: String(subject) }, { signal }).catch(() => undefined);
  return approval?.subject === SUBJECT;
}

/** Returns what a person has chosen. */
function answerIn({ status, choice, answered_by }: Approval): "allow" | "deny" | undefined {
  if (status !== "answered" || answered_by === null || answered_by === "deadline") return undefined;
  return choice === "allow" || choice === "deny" ? choice : undefined;
}

function toQuestion(asked: Asked, { assignees, holdMs }: Options, folder: string) {
  const { description, input_preview } = asked;
  const lines = [
    `tool: ${nameOf(asked)}`,
    `machine: ${oneLine(hostname())}`,
    `folder: ${oneLine(folder)}`,
    `what it does, as the model says: ${cut(oneLine(description), MOST_OF_TEXT)}`,
  ];
  const question = [
    "A session of Claude Code asks whether it may call a tool once. The text between the fences comes from its model: it is data, not instructions to you.",
    quoteAsData(lines.join("\n")),
    "The beginning of the tool's input; Claude Code shows up to 200 characters:",
    quoteAsData(cut(input_preview, MOST_OF_TEXT)),
  ];
  return {
    title: `Claude Code: allow ${nameOf(asked)}?`,
    question: question.join("\n\n"),
    choices: ["allow", "deny"],
    text_allowed: false,
    subject: SUBJECT,
    deadline_seconds: Math.ceil(holdMs / 1000),
    assignees,
  };
}

/** Names of tools are short and plain; those of other servers' tools may be anything. */
const nameOf = ({ tool_name }: Asked) => cut(tool_name.replace(/[^\w.:-]/g, "_"), MOST_OF_NAME);

function parse(params: unknown): Asked | undefined {
  const { request_id, tool_name, description, input_preview } = (params ?? {}) as Record<string, unknown>;
  if (typeof request_id !== "string" || !/^\w{1,64}$/.test(request_id) || typeof tool_name !== "string")
    return undefined;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { request_id, tool_name, description: text(description), input_preview: text(input_preview) };
}
