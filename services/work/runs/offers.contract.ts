import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { StepKey } from "../templates/templates.contract.ts";
import {
  Attempt,
  actorFields,
  MOST_NOTES,
  MOST_OFFERS,
  OFFER_STATUSES,
  path,
  reader,
  ShownStep,
  Text,
  writer,
} from "./shapes.contract.ts";

const Offer = Type.Object(
  {
    id: Uuid("handoff_offer"),
    run_id: Uuid("run"),
    step_key: StepKey,
    handoff_id: nullable(Uuid("handoff")),
    note: nullable(Text),
    status: oneOf(OFFER_STATUSES),
    offered_by: Type.Object(actorFields),
    decided_by: nullable(Type.Object(actorFields)),
    created_at: Timestamp,
    decided_at: nullable(Timestamp),
  },
  { title: "HandoffOffer" },
);

const one = { ...path, offer_id: Uuid("handoff_offer") };

export const offerHandoff = operation({
  action: "runs.offer_handoff",
  route: "POST /runs/{run_id}/handoff-offers",
  summary: "Offer a step's result to whoever does a next one",
  description: `A run has at most ${MOST_OFFERS} offers, with ${MOST_NOTES / 1_048_576} MB of notes: one more is 422, rule \`run_limit\`.`,
  access: writer,
  audit: true,
  path,
  body: {
    step_key: StepKey,
    handoff_id: Type.Optional(
      nullable(
        Uuid("handoff", "The caller's own. It stays so: what others are to read of it stands in `note`."),
      ),
    ),
    note: Type.Optional(nullable(Text)),
  },
  results: { 201: Offer },
  errors: [
    "not_found",
    "validation_error",
    "conflict",
    "step_not_ready",
    "step_not_completable",
    "business_rule_violation",
  ],
  mcp: true,
});

export const listOffers = operation({
  action: "runs.list_offers",
  route: "GET /runs/{run_id}/handoff-offers",
  summary: "List a run's hand-off offers, oldest first",
  access: reader,
  path,
  results: { 200: Type.Object({ offers: Type.Array(Offer), total: Type.Integer() }) },
  errors: ["not_found"],
  mcp: true,
});

export const acceptOffer = operation({
  action: "runs.accept_offer",
  route: "POST /runs/{run_id}/handoff-offers/{offer_id}/accept",
  summary: "Accept an offer",
  description:
    "The offering step is completed, and an attempt opened on the successor that is the caller's: of those that are not " +
    "done the one assigned to them (for an agent: to its owner), else the first unassigned one. Where each is another " +
    "person's it is 403 `forbidden`; " +
    "while a successor waits for other steps too, `attempt` is null.",
  access: writer,
  audit: true,
  path: one,
  body: {},
  results: {
    200: Type.Object({
      offer: Offer,
      completed_step: ShownStep,
      attempt: nullable(Attempt),
      run_completed: Type.Boolean(),
    }),
  },
  errors: ["forbidden", "not_found", "conflict", "business_rule_violation"],
  mcp: true,
});

export const declineOffer = operation({
  action: "runs.decline_offer",
  route: "POST /runs/{run_id}/handoff-offers/{offer_id}/decline",
  summary: "Decline an offer",
  access: writer,
  audit: true,
  overQuota: true,
  path: one,
  body: { note: Type.Optional(nullable(Text)) },
  results: { 200: Offer },
  errors: ["not_found", "conflict", "business_rule_violation"],
  mcp: true,
});

export const offerOperations = [offerHandoff, listOffers, acceptOffer, declineOffer] as const;
