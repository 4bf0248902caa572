import type { ServiceBroker } from "moleculer";
import { jittered } from "../../../lib/queue/backoff.ts";
import { Queue, type Queued } from "../../../mixins/queue.ts";
import { findTenant } from "../../identity/tenants/find-tenants.ts";
import { originOf } from "../../identity/tenants/origin.ts";
import type { Runtime } from "../../runtime.ts";
import type { ApprovalDoc } from "./approvals.model.ts";
import type { Approvals } from "./approvals.ts";
import type { ApprovalChannel, Question } from "./channel.ts";

/** Limits of approvals in work on this node: a channel that hangs holds up no other tenant. */
const IN_WORK = { capacity: 64, perTenant: 4, perCaller: 4 };
const RETRY_SECONDS = 30;
/** However long a channel asks to wait: the queue takes later ones for due. */
const LONGEST_SECONDS = 3600;

type Row = Queued<ApprovalDoc>;

/** Tells the assignees by the channels of extensions. What fails is sent again while the approval is open. */
export class Messages {
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
