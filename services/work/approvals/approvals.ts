import {
  askedAt,
  type Call,
  callerId,
  type RequestContext,
  type UserCaller,
} from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import { conflict, type Fault, forbidden, invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { defined } from "../../../lib/defined.ts";
import { newUuid } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { place } from "../../../mixins/queue.ts";
import type { Store } from "../../../storage/connection.ts";
import { eraseTexts } from "../../../storage/erase-texts.ts";
import type { Where } from "../../../storage/query.ts";
import { requireCapacity } from "../../../storage/writes.ts";
import type { EraseContent } from "../../erasers.ts";
import type { CallOf } from "../../runtime.ts";
import type { RunState } from "../runs/run-state.ts";
import type * as contract from "./approvals.contract.ts";
import { ADMINS, EXPIRED } from "./approvals.contract.ts";
import { type ApprovalDoc, ApprovalModel, present } from "./approvals.model.ts";
import { answerableBy, parseAsked, type Question, readableBy, requireAssignees } from "./assignees.ts";
import type { Decision, Settling } from "./channel.ts";
import { digestEvidence } from "./evidence.ts";

const DEFAULT_MS = 30 * DAY_MS;
const MOST_MS = 90 * DAY_MS;
const MOST_OPEN_OF_ASKER = 200;
const MOST_OPEN = 2000;

/** The rows of approvals. Each change also writes its event to publish (approvals.service.ts). */
export class Approvals implements Settling {
  readonly rows;
  readonly now: () => number;
  /** Wakes the loops that publish and that send messages. */
  readonly nudge: () => void;

  constructor(store: Pick<Store, "collection" | "now">, nudge: () => void) {
    this.rows = store.collection(ApprovalModel);
    this.now = store.now;
    this.nudge = nudge;
  }

  /** @throws Fault validation_error, business_rule_violation */
  async ask(ctx: CallOf<typeof contract.askForApproval>) {
    const { caller, idempotency_seed } = ctx.meta;
    const { tenant_id } = caller;
    const { run_id = null, step_key = null, assignees = [ADMINS], escalate_to = [] } = ctx.params;
    const at = new Date(askedAt(ctx.meta, this.now()));
    const times = timesOf(ctx.params, at);
    await requireAssignees(ctx, tenant_id, "assignees", assignees);
    await requireAssignees(ctx, tenant_id, "escalate_to", escalate_to);
    await requireStep(ctx, run_id, step_key);
    const asker_id = callerId(caller);
    const _id = newUuid(idempotency_seed);
    await this.#requireCapacity(tenant_id, asker_id, _id);
    const question = await askedIn(ctx);
    const { on_deadline = EXPIRED } = ctx.params;
    const isChoice = question.choices.includes(on_deadline);
    if (!isChoice && on_deadline !== EXPIRED) throw notAChoice("on_deadline", on_deadline, question.choices);
    const doc = await this.rows.insertOnce({
      ...{ _id, tenant_id, asker_id, asked_json: JSON.stringify(question), run_id, step_key },
      ...{ assigned: assignees, status: "open", escalate_to, escalated_at: null, ...times },
      on_deadline: isChoice ? on_deadline : null,
      ...{ choice: null, answer_text: null, answered_by_user_id: null, answered_by: null },
      ...{ answered_by_slack_user: null, settled_at: null },
      ...{ created_at: at, version: 1, outbox: ["requested"], relay_at: at },
      ...{ due_at: times.escalate_at ?? times.deadline_at, told: [] },
      queue: place(tenant_id, this.now()),
    });
    this.nudge();
    return present(doc);
  }

  async list(ctx: CallOf<typeof contract.listApprovals>) {
    const { status, run_id, limit = 50, cursor } = ctx.params;
    const { tenant_id } = ctx.meta.caller;
    const filter = { ...defined({ status, run_id }), $and: [(await readableBy(ctx)) as Where<ApprovalDoc>] };
    const order = { by: "created_at", cursor, limit } as const;
    const { page, next_cursor: next } = await this.rows.pageAfter(tenant_id, filter, order);
    return { approvals: page.map(present), next };
  }

  /** Returns an approval that the caller may read. @throws Fault not_found */
  async require(ctx: RequestContext, _id: string): Promise<ApprovalDoc> {
    const filter = { _id, $and: [(await readableBy(ctx)) as Where<ApprovalDoc>] };
    return requireFound(await this.rows.findOne(ctx.meta.caller.tenant_id, filter), "approval", _id);
  }

  /** @throws Fault not_found, validation_error, conflict */
  async answer(ctx: CallOf<typeof contract.answerApproval>) {
    const { id, choice, text = null } = ctx.params;
    const { tenant_id, user_id } = ctx.meta.caller as UserCaller;
    const filter = { _id: id, $and: [(await answerableBy(ctx)) as Where<ApprovalDoc>] };
    const doc = requireFound(await this.rows.findOne(tenant_id, filter), "approval", id);
    const decision = {
      ...{ choice, answer_text: text || null, answered_by_user_id: user_id },
      answered_by: "signed_in" as const,
    };
    requireFitting(doc, decision);
    const answered = await this.settle(doc, "answered", decision);
    if (answered) return present(answered);
    const there = requireFound(await this.rows.findOne(tenant_id, { _id: id }), "approval", id);
    const isOwn = there.answered_by_user_id === user_id && there.choice === choice;
    if (isOwn && there.answer_text === decision.answer_text) return present(there);
    throw settledAlready(there);
  }

  /** @throws Fault not_found, forbidden, conflict */
  async cancel(ctx: Call<{ id: string }>) {
    const doc = await this.require(ctx, ctx.params.id);
    const { caller } = ctx.meta;
    if (doc.asker_id !== callerId(caller) && !isOrgAdmin(caller))
      throw forbidden("Only the asker and org admins can cancel an approval. Answer it instead.");
    const canceled = await this.settle(doc, "canceled");
    if (canceled) return present(canceled);
    const there = await this.require(ctx, doc._id);
    if (there.status === "canceled") return present(there);
    throw settledAlready(there);
  }

  /**
   * Ends an open approval, with the event to publish in the same write. Returns null if it has ended, or its deadline has
   * passed, unless this is the deadline's own outcome.
   */
  async settle(
    { tenant_id, _id }: ApprovalDoc,
    status: "answered" | "expired" | "canceled",
    decision?: Decision,
  ): Promise<ApprovalDoc | null> {
    const at = new Date(this.now());
    const isDue = status === "expired" || decision?.answered_by === "deadline";
    const settled = await this.rows.update(
      tenant_id,
      { _id, status: "open", deadline_at: isDue ? { $lte: at } : { $gt: at } },
      {
        $set: { ...decision, status, settled_at: at, relay_at: at },
        $unset: { due_at: 1, queue: 1 },
        $push: { outbox: status },
        $inc: { version: 1 },
      },
    );
    if (settled) this.nudge();
    return settled;
  }

  /** Returns the statement that a receipt signs. @throws Fault not_found, conflict while it is open */
  async statement(ctx: Call<{ id: string }>) {
    const doc = await this.require(ctx, ctx.params.id);
    if (doc.status === "open") {
      const message = "The approval is open: there is a receipt once it is answered, expired or canceled.";
      throw conflict(message, { existing_resource_id: doc._id, status: doc.status });
    }
    return present(doc);
  }

  /** Erases, or counts, approvals that an agent or a person asked, that are about a person, or mention memories. */
  async erase({ agent_id, ...given }: EraseContent): Promise<{ approvals: number }> {
    const { tenant_id, dry_run } = given;
    if (agent_id === undefined) {
      const fields = given.ids ? (["asked_json", "answer_text"] as const) : (["asked_json"] as const);
      return { approvals: (await eraseTexts(this.rows, fields, given)).length };
    }
    const its = { asker_id: agent_id };
    if (dry_run) return { approvals: await this.rows.count(tenant_id, its) };
    // Texts of a person's answers to others.
    const written = { answered_by_user_id: agent_id, answer_text: { $ne: null } };
    await this.rows.updateMany(tenant_id, written, { $set: { answer_text: null }, $inc: { version: 1 } });
    return { approvals: await this.rows.deleteMany(tenant_id, its) };
  }

  async #requireCapacity(tenant_id: string, asker_id: string, _id: string): Promise<void> {
    const open = { status: "open" as const };
    const common = { of: this.rows, rule: "approval_limit" as const, instead: "Cancel some first" };
    const own = { ...common, most: MOST_OPEN_OF_ASKER, within: { ...open, asker_id } };
    await requireCapacity({ ...own, called: "open approvals of this asker" }, tenant_id, _id);
    const all = { ...common, most: MOST_OPEN, within: open };
    await requireCapacity({ ...all, called: "open approvals of the organisation" }, tenant_id, _id);
  }
}

async function askedIn(ctx: CallOf<typeof contract.askForApproval>): Promise<Question> {
  const { title, question, choices = ["approve", "reject"] } = ctx.params;
  const { text_allowed = true, subject = null } = ctx.params;
  const evidence = await digestEvidence(ctx, ctx.params.evidence ?? []);
  return { title, question, choices, text_allowed, evidence, subject };
}

/** @throws Fault validation_error */
function timesOf(params: CallOf<typeof contract.askForApproval>["params"], at: Date) {
  const { deadline_at: named, deadline_seconds, escalate_after_seconds: after, escalate_to = [] } = params;
  if (named !== undefined && deadline_seconds !== undefined)
    throw invalidValue("deadline_at", "deadline_at: expected either it or deadline_seconds, not both.");
  const after_ms = deadline_seconds === undefined ? DEFAULT_MS : deadline_seconds * 1000;
  const deadline_at = named === undefined ? new Date(at.getTime() + after_ms) : new Date(named);
  const ahead = deadline_at.getTime() - at.getTime();
  if (ahead <= 0 || ahead > MOST_MS)
    throw invalidValue("deadline_at", "deadline_at: expected a time in the next 90 days.", { value: named });
  if ((after === undefined) !== (escalate_to.length === 0))
    throw invalidValue(
      "escalate_to",
      "escalate_to: expected both it and escalate_after_seconds, or neither.",
    );
  const escalate_at = after === undefined ? null : new Date(at.getTime() + after * 1000);
  if (escalate_at && escalate_at >= deadline_at)
    throw invalidValue("escalate_after_seconds", "escalate_after_seconds: expected less than the deadline.");
  return { deadline_at, escalate_at };
}

/** Refuses what is not among the choices, and a text where none is allowed. @throws Fault validation_error */
export function requireFitting(doc: ApprovalDoc, { choice, answer_text }: Partial<Decision>): void {
  const { choices, text_allowed } = parseAsked(doc);
  if (choice && !choices.includes(choice)) throw notAChoice("choice", choice, choices);
  if (answer_text && !text_allowed)
    throw invalidValue("text", "text: this question is answered by a choice alone. Omit the text.");
}

/** @throws Fault not_found, validation_error for a step without its run, or that the run does not have */
async function requireStep(ctx: RequestContext, run_id: string | null, step_key: string | null) {
  if (!run_id) {
    if (step_key) throw invalidValue("step_key", "step_key: give the step's run as run_id, too.");
    return;
  }
  const { steps } = await ctx.call<Pick<RunState, "steps">, object>("runs.get", { run_id });
  if (step_key && !steps.some((step) => step.step_key === step_key))
    throw invalidValue("step_key", `step_key: there is no step "${step_key}" in the run.`, {
      value: step_key,
    });
}

function notAChoice(field: string, value: string, choices: string[]): Fault {
  const expected = choices.join(", ");
  return invalidValue(field, `${field}: expected one of ${expected}; got ${value}.`, { value, expected });
}

export function settledAlready(doc: ApprovalDoc): Fault {
  const { _id, status, choice, answered_by_user_id, answered_by_slack_user: slack_user } = doc;
  const settled_at = doc.settled_at?.toISOString() ?? null;
  const how = status === "answered" ? `already answered with ${choice}` : status;
  const who = answered_by_user_id ?? (slack_user && `the Slack user ${slack_user}`);
  const by = who ? ` by ${who}` : "";
  // The deadline has passed, and its outcome is written soon.
  const said = status === "open" ? "past its deadline" : `${how}${by}`;
  const details = { existing_resource_id: _id, status, choice, answered_by_user_id, settled_at };
  return conflict(`The approval is ${said}. The first answer counts.`, details);
}
