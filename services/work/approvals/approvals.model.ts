import { ownerIds } from "../../../lib/access/caller.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { Approval, EXPIRED, STATUSES, WAYS } from "./approvals.contract.ts";
import { parseAsked } from "./assignees.ts";

/** Events that the service publishes about an approval, as `service.approval.<kind>`. */
const FACTS = ["requested", "escalated", "answered", "expired", "canceled"] as const;
export type ApprovalFact = (typeof FACTS)[number];

/** A question to people. */
export interface ApprovalDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** An agent or a person. */
  asker_id: t.string(),
  /** `Asked` as JSON: a text that erasure searches. */
  asked_json: t.large(t.texts(t.json())),
  run_id: t.nullable(t.string()),
  step_key: t.nullable(t.string()),
  /** Ids of users and teams, or `admins`. */
  assigned: t.array(t.string()),
  status: t.oneOf(STATUSES),
  deadline_at: t.date(),
  /** The choice that is the answer then; null: none. */
  on_deadline: t.nullable(t.text()),
  escalate_to: t.array(t.string()),
  escalate_at: t.nullable(t.date()),
  escalated_at: t.nullable(t.date()),
  choice: t.nullable(t.text()),
  answer_text: t.nullable(t.large(t.text())),
  answered_by_user_id: t.nullable(t.string()),
  answered_by: t.nullable(t.oneOf(WAYS)),
  answered_by_slack_user: t.nullable(t.string()),
  settled_at: t.nullable(t.date()),
  created_at: t.date(),
  /** Raised by every change: guards the outbox. */
  version: t.number(),
  /** Not published yet. */
  outbox: t.array(t.oneOf(FACTS)),
  /** Since when; absent if the outbox is empty. */
  relay_at: t.optional(t.date()),
  /** When the deadline or the escalation is due; absent once settled. */
  due_at: t.optional(t.date()),
  /** Position in the queue of messages to assignees (mixins/queue.ts); absent without one. */
  queue: t.optional(t.string()),
  /** Those its channels have notified: users, or the channel. */
  told: t.array(t.string()),
});
schema.index({ tenant_id: 1, status: 1, created_at: -1, _id: -1 });
schema.index({ tenant_id: 1, asker_id: 1, created_at: -1, _id: -1 });
schema.index({ relay_at: 1 }, { sparse: true });
schema.index({ due_at: 1 }, { sparse: true });
schema.index({ queue: 1 }, { sparse: true });

export const ApprovalModel: Model<ApprovalDoc> = {
  erasure: {
    ...{ agent: "approvals.erase", subject: "approvals.erase", mentions: "approvals.erase" },
    replaced: { of: [], version: "version" },
  },
  move: { stage: 2 },
  anew: ({ status, outbox, escalate_at, escalated_at, deadline_at }, now) => ({
    relay_at: outbox.length > 0 ? now : undefined,
    due_at: status === "open" ? (escalated_at ? deadline_at : (escalate_at ?? deadline_at)) : undefined,
  }),
  name: "approvals",
  ids: "uuid",
  schema,
};

/** Formats an approval for callers. */
export function present(doc: ApprovalDoc) {
  return presentAs(Approval, doc, {
    ...{ ...parseAsked(doc), ...ownerIds(doc.asker_id) },
    assignees: doc.assigned,
    on_deadline: doc.on_deadline ?? EXPIRED,
    text: doc.answer_text,
  });
}
