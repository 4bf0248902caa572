import type { ServiceBroker } from "moleculer";
import { messageId, sendMail } from "../../../connectors/mail.ts";
import { outcomeOf } from "../../../connectors/push-sender.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import { jittered } from "../../../lib/queue/backoff.ts";
import { quoteAsData, summarise } from "../../../lib/text/quoted.ts";
import { Queue, type Queued } from "../../../mixins/queue.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { UserState } from "../../identity/users/users.contract.ts";
import type { Runtime } from "../../runtime.ts";
import { type ApprovalDoc, parseAsked, SLACK } from "./approvals.model.ts";
import type { Approvals } from "./approvals.ts";
import { peopleOf } from "./assignees.ts";
import type { Links } from "./links.ts";
import type { Slack } from "./slack.ts";
import { questionMessage } from "./slack-message.ts";

/** Limits of approvals in work on this node: one Slack that hangs holds up no other tenant. */
const IN_WORK = { capacity: 64, perTenant: 4, perCaller: 4 };
const RETRY_SECONDS = 30;
/** However long Slack asks to wait, or has been down: the queue takes later ones for due. */
const LONGEST_SECONDS = 3600;
/** Of a choice before its link, in characters. */
const MOST_OF_CHOICE = 200;

type Row = Queued<ApprovalDoc>;

/**
 * Asks the assignees by e-mail, with a link for each choice, and in Slack. What fails is sent again while the approval is
 * open: a repeated e-mail has the same id.
 */
export class Messages {
  readonly #runtime: Runtime;
  readonly #approvals: Approvals;
  readonly #links: Links;
  readonly #slack: Slack;
  readonly #queue: Queue<ApprovalDoc>;
  readonly #ending = new AbortController();

  constructor(runtime: Runtime, approvals: Approvals, links: Links, slack: Slack) {
    this.#runtime = runtime;
    this.#approvals = approvals;
    this.#links = links;
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
    // Neither waits for the other: one that hangs, or fails, holds up only itself.
    const [posted, mailed] = await Promise.allSettled([
      this.#post(row, origin),
      this.#mail(broker, row, tenant, origin),
    ]);
    if (posted.status === "rejected") throw posted.reason;
    if (mailed.status === "rejected") throw mailed.reason;
    if (posted.value !== null) return this.#retry(row, posted.value);
    await this.#approvals.rows.update(tenant_id, { _id, queue: row.queue }, { $unset: { queue: 1 } });
  }

  /** Posts the question to Slack, unless it was. @returns the seconds until it is retried; null if it is done */
  async #post(row: Row, origin: string): Promise<number | null> {
    const { tenant_id, assigned } = row;
    const channel = row.told.includes(SLACK) ? null : await this.#slack.find(tenant_id);
    if (!channel?.assignees.some((each) => assigned.includes(each))) return null;
    const { signal } = this.#ending;
    const message = questionMessage(row, origin);
    const outcome = outcomeOf(await this.#slack.post(tenant_id, channel.webhook_url, message, signal));
    if (outcome.do === "release") return 0;
    if (outcome.do === "acknowledge") {
      await this.#slack.report(channel, null);
      await this.#tell(row, SLACK);
      return null;
    }
    await this.#slack.report(
      channel,
      "reason" in outcome ? outcome.reason : "the endpoint responded with 410",
    );
    return (outcome.do === "retry" && outcome.delay_seconds) || this.#ageOf(row);
  }

  async #mail(broker: ServiceBroker, row: Row, tenant: TenantState, origin: string): Promise<void> {
    const { SMTP_URL: url, SMTP_FROM: from } = this.#runtime.config;
    if (!url || !from) return;
    const { tenant_id, assigned, told } = row;
    const people = await peopleOf(broker, tenant_id, assigned);
    for (const person of people.filter(({ id }) => !told.includes(id))) {
      await broker.call("outputs.take_mail", { tenant_id });
      await sendMail({ url, from }, this.#mailFor(row, { person, tenant }, origin, from)).catch((err) => {
        // Who cannot be reached gets no further e-mail; another failure is retried.
        if (!isFault(err) || err.type !== "business_rule_violation") throw err;
      });
      await this.#tell(row, person.id);
    }
  }

  #mailFor(row: Row, to: { person: UserState; tenant: TenantState }, origin: string, from: string) {
    const { id, email } = to.person;
    const { title, question, choices } = parseAsked(row);
    const links = choices.map(
      (choice, position) =>
        `${summarise(choice, MOST_OF_CHOICE)}:
${origin}/answer#${this.#links.token(row, to.person, to.tenant, position)}`,
    );
    const text = [
      ...["The text between the fences is the question, as it was asked:", "", quoteAsData(question), ""],
      ...["Answer by one of these links, which are for you alone; each asks you to confirm:"],
      ...["", ...links, "", `Or in the console: ${origin}/approvals/${row._id}`],
      ...["", `Open until ${row.deadline_at.toISOString()}.`, ""],
    ].join("\n");
    return { to: email, subject: title, text, messageId: messageId(from, `approval ${row._id} ${id}`) };
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
