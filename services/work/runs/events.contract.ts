import { Type } from "typebox";
import { nullable, oneOf } from "../../../lib/contract/contract.ts";
import { Id, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { StepKey } from "../templates/templates.contract.ts";
import { actorFields, OUTCOMES, ProjectKey, RUN_STATUSES } from "./shapes.contract.ts";

/** The data of `service.run.*`. */
export const RunChange = Type.Object(
  {
    run_id: Uuid("run"),
    project_id: ProjectKey,
    run_status: oneOf(RUN_STATUSES, { description: "Status of the run after the change." }),
    step_key: nullable(StepKey),
    at: Timestamp,
    actor_kind: Type.Optional(actorFields.actor_kind),
    actor_id: Type.Optional(actorFields.actor_id),
    record_id: Type.Optional(
      Type.String({ description: "Id of the attempt, completion, skip or reopening." }),
    ),
    outcome: Type.Optional(oneOf(OUTCOMES, { description: "Of a closed run." })),
    criterion_key: Type.Optional(Type.String({ description: "The criterion that was attested." })),
    assigned_user_id: Type.Optional(nullable(Id("usr", "The person to whom the step is assigned."))),
    handoff_offer_id: Type.Optional(Uuid("handoff_offer")),
  },
  {
    title: "RunChange",
    description: "A change of a run. Without an actor, the service detected it itself.",
  },
);
