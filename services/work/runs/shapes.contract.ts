import { type Static, Type } from "typebox";
import { component, nullable, oneOf } from "../../../lib/contract/contract.ts";
import { AnyText, Id, Timestamp, Uuid, Words } from "../../../lib/contract/schema.ts";
import { Specialist } from "../../remember/specialists/specialists.contract.ts";
import { COMPLETION_MODES, StepKey, shownStepFields } from "../templates/templates.contract.ts";

const STEP_STATUSES = ["blocked", "ready", "in_progress", "completed", "skipped"] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const RUN_STATUSES = ["active", "completed", "closed"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const OUTCOMES = ["achieved", "partially_achieved", "abandoned"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const OFFER_STATUSES = ["open", "accepted", "declined"] as const;
export type OfferStatus = (typeof OFFER_STATUSES)[number];

export const reader = { by: "any", scope: "memory:read" } as const;
export const writer = { by: "any", scope: "memory:write" } as const;

export const Text = Type.String({ maxLength: 32_768 });
export const MOST_STEPS = 500;
/** Limits the changes of a run, because showing it reads all of them. */
export const MOST_CHANGES = 10_000;
/** Limits the artifacts of a run, because its history returns all of them. */
export const MOST_ARTIFACTS = 1000;
/**
 * Limits offers and the bytes of their notes: offers are part of their run's row, which MongoDB limits to 16 MB. The
 * same number of bytes limits the steps' notes, so that with 10,000 attempts they still fit into one message between
 * nodes.
 */
export const MOST_OFFERS = 1000;
export const MOST_NOTES = 4_194_304;

/** The author of an action in a run. */
export const actorFields = {
  actor_kind: oneOf(["agent", "user", "event", "deadline"], {
    description:
      "`event`: completed a step that waited for it; `actor_id` is its id. `deadline`: of the step with this id.",
  }),
  actor_id: Type.String({ examples: ["ag_4fXq1mCz8Jw0bT7kLr2N"] }),
};

export const StepEvent = component("StepEvent", {
  id: Id("evt", "Its `event_id`."),
  type: Type.String(),
  source: Type.String(),
  subject: nullable(Type.String()),
});

export type StepEvent = Static<typeof StepEvent>;

export const StepStatusField = oneOf(STEP_STATUSES, {
  description: "`ready`: all of its dependencies are completed or skipped. `blocked`: some are not.",
});

const timeFields = {
  waiting_since: nullable({ ...Timestamp, description: "Since when it waits for the event of `wait_for`." }),
  deadline_at: nullable({
    ...Timestamp,
    description: "Its deadline, from when it is ready until it is done; past once it has passed.",
  }),
};

export const RunStep = component("RunStep", {
  id: Uuid("run_step"),
  ...shownStepFields,
  assigned_user_id: nullable(Id("usr")),
  status: StepStatusField,
  attested_criteria: Type.Array(Type.String(), { description: "Keys of the criteria that were attested." }),
  ...timeFields,
});

const SpecialistError = component("StepSpecialistError", {
  code: oneOf(["not_found", "unavailable"]),
  message: Type.String(),
});

export const Attempt = component("StepAttempt", {
  id: Uuid("attempt"),
  run_step_id: Uuid("run_step"),
  ...actorFields,
  started_at: Timestamp,
  ended_at: nullable(Timestamp),
  outcome: nullable(
    oneOf(["completed", "skipped", "reopened", "closed"], { description: "`closed`: with the run." }),
  ),
  inbound_handoff_id: nullable(Uuid("handoff")),
  bundle_id: nullable(Uuid("bundle")),
  notes: nullable(Text),
  created_at: Timestamp,
  warning: nullable(Type.String({ description: "A warning for the caller who starts the step." })),
  specialist: Type.Optional(
    Type.Union([Specialist, SpecialistError, Type.Null()], {
      description: "The step's specialist as loaded, or why it could not be; null if it has none.",
    }),
  ),
});

export const AmbiguityNote = Type.Object({
  dimension: AnyText(200, "Aspect."),
  score: Type.Optional(nullable(Type.Number({ description: "Its score." }))),
  min: Type.Optional(nullable(Type.Number({ description: "Required score." }))),
  status: Type.Optional(nullable(AnyText(200, "Its status."))),
  note: Type.Optional(nullable({ ...Text, description: "Explanation." })),
});
export type AmbiguityNote = Static<typeof AmbiguityNote>;

export const Goal = Words(8000, "What the run must achieve.", "Ship the release notes");
export const ProjectKey = nullable(AnyText(200, "Key of the project."));
export const Criteria = Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), {
  maxItems: 100,
  description: "Conditions under which the goal is achieved.",
});

/** The subject of the run, for the filters of steps that wait. */
export const Values = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()]),
  {
    description:
      "At most 50 texts, numbers and truth values, which filters of steps read as `run.values.<name>`.",
    examples: [{ order_id: "4711" }],
  },
);
export type RunValues = Static<typeof Values>;

export const runFields = {
  id: Uuid("run"),
  goal: Goal,
  project_id: ProjectKey,
  status: oneOf(RUN_STATUSES),
  initiated_by: Type.Object({ id: Type.String(), display_name: Type.String() }),
  template_id: nullable(Uuid("process_template")),
  created_at: Timestamp,
  updated_at: Timestamp,
  success_criteria: Criteria,
  values: Values,
  ambiguity_score: nullable(Type.Number()),
  ambiguity_notes: Type.Array(AmbiguityNote),
  exemplar_ids: Type.Array(Uuid("exemplar")),
  outcome: nullable(oneOf(OUTCOMES)),
  closed_by_user_id: nullable(Id("usr")),
  close_note: nullable(Text),
  closed_at: nullable(Timestamp),
};

export const Run = component("Run", { ...runFields, steps: Type.Array(RunStep) });

export const PositionStep = component("PositionStep", {
  step_key: StepKey,
  title: Type.String(),
  role: nullable(Type.String()),
  assigned_user_id: nullable(Id("usr")),
  status: StepStatusField,
  completion_mode: oneOf(COMPLETION_MODES),
  why_ready: nullable(Type.String()),
  completion_criteria: shownStepFields.completion_criteria,
  waiting_on: Type.Array(StepKey),
  ordinal: Type.Integer(),
  ready_at: nullable(Timestamp),
  in_progress_since: nullable(Timestamp),
  ...timeFields,
  stale_since: nullable(Timestamp),
  stale_reason: nullable(Type.String()),
  open_attempts: Type.Array(Type.Object({ ...actorFields, started_at: Timestamp })),
});
export const PositionSteps = Type.Array(PositionStep);

const LastCompleted = Type.Object({
  step_key: StepKey,
  ...actorFields,
  at: Timestamp,
  handoff_offer_id: nullable(Uuid("handoff_offer")),
});

export const Position = component("Position", {
  run: Run,
  my_next: nullable(PositionStep),
  ready_steps: Type.Array(PositionStep, {
    description: "Steps that can be worked on: ready or in progress.",
  }),
  blocked_steps: PositionSteps,
  last_completed: nullable(LastCompleted),
  stale_steps: PositionSteps,
});
