import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { jittered } from "../../../lib/queue/backoff.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { Due } from "../../../mixins/due.ts";
import { place, Queue, type Queued } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import type { EraseContent } from "../../erasers.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import { action, event, idempotent, type Runtime, type ServiceFactory } from "../../runtime.ts";
import type { ApprovalChange } from "./approvals.contract.ts";
import * as contract from "./approvals.contract.ts";
import { type ApprovalDoc, type ApprovalFact, present } from "./approvals.model.ts";
import { Approvals } from "./approvals.ts";
import { parseAsked } from "./assignees.ts";
import type { ApprovalChannel, Question } from "./channel.ts";
import { readEvidence } from "./evidence.ts";

const LOOK_MS = 1000;

/** Questions that people answer for agents, in the console, or by the channels of extensions. */
export const approvalsService: ServiceFactory = (runtime) => {
  const { store, blobs, hooks } = runtime;
  const approvals = new Approvals(store, () => {
    loop.nudge();
    sending.nudge();
  });
  const loop = new SharedLoop("outbox", newRelay(approvals), LOOK_MS);
  const deadlines = new SharedLoop(
    "deadlines",
    newDeadlines(approvals, () => loop.nudge()),
    LOOK_MS,
  );
  const channels = (hooks.approvalChannels ?? []).map((create) => create(approvals));
  const messages = new Messages(runtime, approvals, channels);
  const next = () => sending.nudge();
  const sending: SharedLoop = new SharedLoop("messages", (broker) => messages.work(broker, next), LOOK_MS);
  const stop = () => messages.stop();

  return {
    name: "approvals",
    mixins: [loop.mixin, deadlines.mixin, sending.mixin],
    actions: {
      ask: action(contract.askForApproval, (ctx) => approvals.ask(ctx)),
      list: action(contract.listApprovals, (ctx) => approvals.list(ctx)),
      get: action(contract.getApproval, async (ctx) => present(await approvals.require(ctx, ctx.params.id))),
      evidence: action(contract.readApprovalEvidence, async (ctx) => {
        const { evidence } = parseAsked(await approvals.require(ctx, ctx.params.id));
        return { evidence: await readEvidence(ctx, blobs, evidence) };
      }),
      answer: action(contract.answerApproval, (ctx) => approvals.answer(ctx)),
      cancel: action(contract.cancelApproval, (ctx) => approvals.cancel(ctx)),
      receipt: action(contract.getApprovalReceipt, async (ctx) => {
        const approval = await approvals.statement(ctx);
        const claims = { tenant_id: approval.tenant_id, approval };
        return { id: approval.id, receipt: await ctx.call("auth.sign_receipt", { claims }) };
      }),
      ...Object.assign({}, ...channels.map(({ actions }) => actions)),
      erase: idempotent<EraseContent>(({ params }) => approvals.erase(params)),
    },
    // Before the services that messages need stop.
    events: { "node.stopping": event(stop) },
    async started() {
      if (store.driver === "sqlite") await messages.reclaim();
    },
    stopped: stop,
  };
};

const BATCH = 50;
/** Facts that the asking agent receives whatever its interests. */
const TOLD: ApprovalFact[] = ["answered", "expired", "canceled"];

/**
 * Applies deadlines and escalations that are due, each by one guarded write: of nodes that find the same row one changes
 * it. The task returns whether there may be more.
 */
function newDeadlines(approvals: Approvals, published: () => void): () => Promise<boolean> {
  const { rows, now } = approvals;
  const due = new Due<ApprovalDoc>({ rows, now, by: "due_at", batch: BATCH, bytes: PAGE_BYTES });
  return () =>
    due.each(async (row) => {
      await (row.deadline_at.getTime() <= now() ? pass(approvals, row) : escalate(approvals, row));
      published();
    });
}

function pass(approvals: Approvals, row: ApprovalDoc): Promise<unknown> {
  const { on_deadline: choice } = row;
  if (choice === null) return approvals.settle(row, "expired");
  const nobody = { answer_text: null, answered_by_user_id: null, answered_by: "deadline" as const };
  return approvals.settle(row, "answered", { choice, ...nobody });
}

function escalate({ rows, now }: Approvals, row: ApprovalDoc): Promise<unknown> {
  const { tenant_id, _id, escalate_to, deadline_at } = row;
  const at = new Date(now());
  const queue = place(tenant_id, now());
  const $set = { escalated_at: at, relay_at: at, due_at: deadline_at, queue };
  return rows.update(
    tenant_id,
    { _id, status: "open", escalated_at: null },
    {
      $set,
      $addToSet: { assigned: { $each: escalate_to } },
      $push: { outbox: "escalated" },
      $inc: { version: 1 },
    },
  );
}

/** Publishes what waits in outboxes. Ids of events derive from the approval, so a repetition adds nothing. */
function newRelay({ rows, now }: Approvals): (broker: ServiceBroker) => Promise<boolean> {
  const due = new Due<ApprovalDoc>({ rows, now, by: "relay_at", batch: BATCH, bytes: PAGE_BYTES });
  return (broker) =>
    due.each(async (row) => {
      const { tenant_id, _id, version } = row;
      for (const fact of row.outbox) await publish(broker, row, fact);
      reportChange(broker, tenant_id, "approval");
      // One that has changed since is published again, with what is new.
      const done = { $set: { outbox: [] }, $unset: { relay_at: 1 }, $inc: { version: 1 } };
      await rows.update(tenant_id, { _id, version }, done);
    });
}

async function publish(broker: ServiceBroker, row: ApprovalDoc, fact: ApprovalFact): Promise<void> {
  const { tenant_id, _id, asker_id: agent_id, run_id, step_key } = row;
  const isAnswer = fact === "answered";
  const data = {
    ...{ approval_id: _id, run_id, step_key, choice: isAnswer ? row.choice : null },
    answered_by_user_id: isAnswer ? row.answered_by_user_id : null,
  } satisfies Static<typeof ApprovalChange>;
  const type = `service.approval.${fact}` satisfies PlatformEventType;
  const isAgents = agent_id.startsWith("ag_");
  const { event_id } = await broker.call<{ event_id: string }, object>("events.emit", {
    ...{ tenant_id, type, subject: _id, data, dedupe: `approval ${_id} ${fact}` },
    ...(isAgents && { audience: { scope: "agent", agent_id, team_id: null } }),
  });
  if (!isAgents || !TOLD.includes(fact)) return;
  const delivery = {
    ...{ tenant_id, event_id, agent_id, type, priority: 0, enrichment_depth: "none" },
    matched: { interest_ids: [], feed_ids: [] },
  };
  await broker.call("deliveries.enqueue", { deliveries: [delivery] });
}

/** Limits of approvals in work on this node: a channel that hangs holds up no other tenant. */
const IN_WORK = { capacity: 64, perTenant: 4, perCaller: 4 };
const RETRY_SECONDS = 30;
/** However long a channel asks to wait: the queue takes later ones for due. */
const LONGEST_SECONDS = 3600;

type Row = Queued<ApprovalDoc>;

/** Tells the assignees by the channels of extensions. Failed messages are sent again while the approval is open. */
class Messages {
  readonly #runtime: Runtime;
  readonly #approvals: Approvals;
  readonly #channels: readonly ApprovalChannel[];
  readonly #queue: Queue<ApprovalDoc>;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, approvals: Approvals, channels: readonly ApprovalChannel[]) {
    this.#runtime = runtime;
    this.#approvals = approvals;
    this.#channels = channels;
    this.#queue = new Queue(approvals.rows, approvals.now, IN_WORK);
  }

  reclaim(): Promise<void> {
    return this.#queue.reclaim();
  }

  /** Aborts what is in progress; it begins again after the next start. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#queue.ended();
    await Promise.all(this.#channels.map((channel) => channel.stop?.()));
  }

  /** Begins an approval; returns false if there is none, or this node is at its limit. */
  async work(broker: ServiceBroker, next: () => void): Promise<boolean> {
    if (this.#ending.signal.aborted) return false;
    return this.#queue.begin((row) => this.#hold(broker, row), next);
  }

  #hold(broker: ServiceBroker, claimed: Row): Promise<void> {
    const warn = (err: unknown) =>
      broker.logger.warn({ err, approval: claimed._id }, "approvals: a message is retried");
    const failed = async (row: Row, err: unknown) => {
      warn(err);
      await this.#retry(row, this.#ageOf(row));
    };
    return this.#queue.hold(claimed, (row) => this.#send(broker, row), failed).catch(warn);
  }

  async #send(broker: ServiceBroker, row: Row): Promise<void> {
    const { tenant_id, _id } = row;
    const tenant = await findTenant(broker, tenant_id);
    if (tenant?.status !== "active") return this.#retry(row, RETRY_SECONDS);
    const origin = await originOf(broker, this.#runtime.config);
    const question: Question = {
      ...{ broker, row, tenant, origin, signal: this.#ending.signal, age: this.#ageOf(row) },
      tell: (told) => this.#tell(row, told),
    };
    // None waits for another: one that hangs, or fails, holds up only itself.
    const sent = await Promise.allSettled(this.#channels.map((channel) => channel.send(question)));
    const failure = sent.find((each) => each.status === "rejected");
    if (failure) throw failure.reason;
    const waits = sent.flatMap((each) =>
      each.status === "fulfilled" && each.value !== null ? [each.value] : [],
    );
    if (waits.length > 0) return this.#retry(row, Math.min(...waits));
    await this.#approvals.rows.update(tenant_id, { _id, queue: row.queue }, { $unset: { queue: 1 } });
  }

  async #tell({ tenant_id, _id }: Row, told: string): Promise<void> {
    await this.#approvals.rows.update(tenant_id, { _id }, { $addToSet: { told } });
  }

  /** Seconds since the message was due: waiting as long again makes the retries ever rarer. */
  #ageOf({ created_at, escalated_at }: ApprovalDoc): number {
    const age = (this.#approvals.now() - (escalated_at ?? created_at).getTime()) / 1000;
    return Math.max(age, RETRY_SECONDS);
  }

  async #retry(row: Row, seconds: number): Promise<void> {
    const delay = jittered(Math.min(seconds, LONGEST_SECONDS));
    await this.#queue.release(row, this.#approvals.now() + delay * 1000);
  }
}
