import type { ServiceBroker, ServiceSchema } from "moleculer";
import type { Queued } from "../../../mixins/queue.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { ApprovalDoc } from "./approvals.model.ts";

/** An answer, from a person or the deadline. */
export type Decision = Pick<ApprovalDoc, "choice" | "answer_text" | "answered_by_user_id" | "answered_by"> &
  Partial<Pick<ApprovalDoc, "answered_by_slack_user">>;

/** Functions for a channel of approvals (approvals.ts). */
export interface Settling {
  readonly rows: TenantCollection<ApprovalDoc>;
  /** The store's clock. */
  readonly now: () => number;
  /** Settles an open approval. @returns it as it is then; null if it is not open any more */
  settle(doc: ApprovalDoc, status: "answered", decision: Decision): Promise<ApprovalDoc | null>;
}

/** An open question whose assignees are to be told. */
export interface Question {
  broker: ServiceBroker;
  row: Queued<ApprovalDoc>;
  tenant: TenantState;
  /** Of the service, as people reach it. */
  origin: string;
  /** Aborted when the node stops. */
  signal: AbortSignal;
  /** Seconds since it was due: waiting as long again makes retries ever rarer. */
  age: number;
  /** Adds to `told` of the question: whom, or what, not to tell again. */
  tell(told: string): Promise<void>;
}

/** A way to ask people, and to answer, besides the console: an extension's. */
export interface ApprovalChannel {
  /** Actions that the service `approvals` gets. */
  actions: ServiceSchema["actions"];
  /** Notifies the rest. @returns seconds until it is retried; null when it is done. It is retried when it throws */
  send(question: Question): Promise<number | null>;
  stop?(): Promise<void>;
}

/** Makes the channel of a node. */
export type ApprovalChannelFactory = (approvals: Settling) => ApprovalChannel;
