import { Type } from "typebox";
import { component, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { StepKey } from "../templates/templates.contract.ts";
import * as shapes from "./shapes.contract.ts";

const Offer = component("HandoffOffer", {
  id: Uuid("handoff_offer"),
  run_id: Uuid("run"),
  step_key: StepKey,
  handoff_id: nullable(Uuid("handoff")),
  note: nullable(shapes.Text),
  status: oneOf(shapes.OFFER_STATUSES),
  offered_by: Type.Object(shapes.actorFields),
  decided_by: nullable(Type.Object(shapes.actorFields)),
  created_at: Timestamp,
  decided_at: nullable(Timestamp),
});

export const offerRunHandoff = operation({
  action: "runs.offer_handoff",
  route: "POST /runs/{run_id}/handoff-offers",
  summary: "Offer a step's result to its successors",
  description:
    "Use this when a step's work is done and a successor must accept it. Returns the open offer. A run has at " +
    `most ${shapes.MOST_OFFERS} offers, with ${shapes.MOST_NOTES / 1_048_576} MB of notes (rule \`run_limit\`).`,
  access: shapes.writer,
  audit: true,
  body: {
    step_key: StepKey,
    handoff_id: Type.Optional(
      nullable(Uuid("handoff", "Handoff of the caller. It stays private: inform others in `note`.")),
    ),
    note: Type.Optional(nullable({ ...shapes.Text, description: "Message to the successors." })),
  },
  results: { 201: Offer },
  errors: ["conflict", "step_not_ready", "step_not_completable", "business_rule_violation"],
  mcp: true,
});

export const listRunOffers = operation({
  action: "runs.list_offers",
  route: "GET /runs/{run_id}/handoff-offers",
  summary: "List a run's handoff offers, oldest first",
  description: "Use this to find an open offer to accept or decline. Returns all, with their status.",
  access: shapes.reader,
  answer: Type.Object({ offers: Type.Array(Offer), total: Type.Integer() }),
  mcp: true,
});

export const acceptRunOffer = operation({
  action: "runs.accept_offer",
  route: "POST /runs/{run_id}/handoff-offers/{offer_id}/accept",
  summary: "Accept an offer",
  description:
    "Call this to take over the work. Returns the offer and the attempt. Completes the offering step and starts an attempt on an unfinished successor: the one assigned to the caller (for agents: to the owner), else the first unassigned one. `forbidden` if all are assigned to others, or if a person accepts their own offer; `attempt` is null while the successor waits for other steps.",
  access: shapes.writer,
  audit: true,
  body: {},
  answer: Type.Object({
    offer: Offer,
    completed_step: shapes.RunStep,
    attempt: nullable(shapes.Attempt),
    run_completed: Type.Boolean(),
  }),
  errors: ["forbidden", "conflict", "business_rule_violation"],
  mcp: true,
});

export const declineRunOffer = operation({
  action: "runs.decline_offer",
  route: "POST /runs/{run_id}/handoff-offers/{offer_id}/decline",
  summary: "Decline an offer",
  description:
    "Use this if the offered result is not good enough yet. The offering step stays open, so that its worker can improve it and offer it again. Returns the offer.",
  access: shapes.writer,
  audit: true,
  overQuota: true,
  body: { note: Type.Optional(nullable({ ...shapes.Text, description: "Reason for declining." })) },
  answer: Offer,
  errors: ["conflict", "business_rule_violation"],
  mcp: true,
});
