import type { ServiceBroker } from "moleculer";
import { outcomeOf } from "../../../connectors/push-sender.ts";
import { jittered } from "../../../lib/queue/backoff.ts";
import { Queue, type Queued } from "../../../mixins/queue.ts";
import { activeTenants } from "../../identity/tenants/find-tenants.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { Runtime } from "../../runtime.ts";
import type { ApprovalDoc } from "./approvals.model.ts";
import type { Approvals } from "./approvals.ts";
import type { Slack } from "./slack.ts";
import { questionMessage } from "./slack-message.ts";

/** Limits of messages in progress on this node: one Slack that hangs holds up no other tenant. */
const IN_WORK = { capacity: 64, perTenant: 4, perCaller: 4 };
const RETRY_SECONDS = 30;
/** However long Slack asks to wait, or has been down: the queue takes later ones for due. */
const LONGEST_SECONDS = 3600;

/** Posts questions to Slack, at least once each. One that fails is retried while it is open. */
export class SlackSender {
  readonly #runtime: Runtime;
  readonly #approvals: Approvals;
  readonly #slack: Slack;
  readonly #queue: Queue<ApprovalDoc>;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, approvals: Approvals, slack: Slack) {
    this.#runtime = runtime;
    this.#approvals = approvals;
    this.#slack = slack;
    this.#queue = new Queue(approvals.rows, approvals.now, IN_WORK);
  }

  reclaim(): Promise<void> {
    return this.#queue.reclaim();
  }

  /** Aborts what is in progress; it begins again after the next start. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#queue.ended();
    await this.#slack.close();
  }

  /** Begins a message; returns false if there is none, or this node is at its limit. */
  async work(broker: ServiceBroker, next: () => void): Promise<boolean> {
    if (this.#ending.signal.aborted) return false;
    return this.#queue.begin((row) => this.#hold(broker, row), next);
  }

  #hold(broker: ServiceBroker, claimed: Queued<ApprovalDoc>): Promise<void> {
    const warn = (err: unknown) =>
      broker.logger.warn({ err, approval: claimed._id }, "approvals: a message to Slack is retried");
    const failed = async (row: Queued<ApprovalDoc>, err: unknown) => {
      warn(err);
      await this.#retry(row, RETRY_SECONDS);
    };
    return this.#queue.hold(claimed, (row) => this.#send(broker, row), failed).catch(warn);
  }

  async #send(broker: ServiceBroker, row: Queued<ApprovalDoc>): Promise<void> {
    const { tenant_id, _id, assigned } = row;
    const channel = await this.#slack.find(tenant_id);
    if (channel?.assignees.some((each) => assigned.includes(each))) {
      if ((await activeTenants(broker, [row])).size === 0) return this.#retry(row, RETRY_SECONDS);
      const message = questionMessage(row, await originOf(broker, this.#runtime.config));
      const { signal } = this.#ending;
      const result = await this.#slack.post(tenant_id, channel.webhook_url, message, signal);
      const outcome = outcomeOf(result);
      if (outcome.do === "release") return this.#retry(row, 0);
      if (outcome.do !== "acknowledge") {
        const reason = "reason" in outcome ? outcome.reason : "the endpoint responded with 410";
        await this.#slack.report(channel, reason);
        return this.#retry(row, (outcome.do === "retry" && outcome.delay_seconds) || this.#ageOf(row));
      }
      await this.#slack.report(channel, null);
    }
    await this.#approvals.rows.update(tenant_id, { _id, queue: row.queue }, { $unset: { queue: 1 } });
  }

  /** Seconds since the message was due: waiting as long again makes the retries ever rarer. */
  #ageOf({ created_at, escalated_at }: ApprovalDoc): number {
    const age = (this.#approvals.now() - (escalated_at ?? created_at).getTime()) / 1000;
    return Math.max(age, RETRY_SECONDS);
  }

  async #retry(row: Queued<ApprovalDoc>, seconds: number): Promise<void> {
    const delay = jittered(Math.min(seconds, LONGEST_SECONDS));
    await this.#queue.release(row, this.#approvals.now() + delay * 1000);
  }
}
