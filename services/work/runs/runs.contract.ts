import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, MOST_LISTED, ofAll, partOf, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { COMPLETION_MODES, Slug, StepKey, stepFields } from "../templates/templates.contract.ts";
import * as shapes from "./shapes.contract.ts";

const GivenStep = component("GivenRunStep", {
  ...stepFields,
  completion_mode: Type.Optional(
    oneOf(COMPLETION_MODES, {
      description:
        "Default: `handoff_accepted` if a successor is assigned to someone else, otherwise `attestation`.",
    }),
  ),
  assigned_user_id: Type.Optional(nullable(Id("usr", "Person who does it. Default: anyone."))),
});

export const createRun = operation({
  action: "runs.create",
  route: "POST /runs",
  summary: "Create a run",
  description:
    "Use this for work in several steps. Copies the steps of a template, or takes given ones; returns the run. A run has " +
    `at most ${shapes.MOST_CHANGES} changes and ${shapes.MOST_NOTES / 1_048_576} MB of notes and evidence (rule \`run_limit\`); then ` +
    "it can only be closed.",
  access: shapes.writer,
  audit: true,
  body: {
    goal: shapes.Goal,
    ...optional({
      project_id: shapes.ProjectKey,
      success_criteria: shapes.Criteria,
      values: shapes.Values,
      ambiguity_score: nullable(
        Type.Number({ description: "How unclear the goal is, on the caller's scale." }),
      ),
      ambiguity_notes: Type.Array(shapes.AmbiguityNote, {
        maxItems: 100,
        description: "What is unclear about the goal.",
      }),
      steps: Type.Array(GivenStep, {
        maxItems: shapes.MOST_STEPS,
        description: "Steps; not with `template_id`.",
      }),
      template_id: nullable(Uuid("process_template", "`id` of a template version; not with `steps`.")),
      step_assignments: Type.Array(Type.Object({ step_key: StepKey, assigned_user_id: Id("usr") }), {
        maxItems: shapes.MOST_STEPS,
        description: "People for the template's steps; only with `template_id`.",
      }),
    }),
  },
  needs: { values: 1, "steps.wait_for": 1, "steps.deadline_seconds": 1 },
  results: { 201: shapes.Run },
  errors: ["not_found"],
  mcp: true,
});

export const listRuns = operation({
  action: "runs.list",
  route: "GET /runs",
  summary: "List the tenant's runs, newest first",
  description:
    "Returns all runs of the tenant as an array, or at most `limit`; the header `X-Total-Count` has their number.",
  access: shapes.reader,
  query: {
    ...optional({
      status: oneOf(shapes.RUN_STATUSES, { description: "Only this status." }),
      project_id: AnyText(200, "Key of a project; empty: only runs without one."),
      template_slug: {
        ...Slug,
        "x-identifier": "template_slug",
        description: "Only runs of this process template, in any of its versions.",
      },
    }),
    search: partOf("the goal"),
    ...ofAll,
  },
  inPages: MOST_LISTED,
  answer: Type.Array(shapes.Run),
  mcp: {
    description: `Use this to find a run to work on. Returns at most ${MOST_LISTED} per page, fewer if they are long: continue with \`offset\`.`,
    core: ["status", "project_id", "limit"],
    aliases: { status: ["state"], search: ["query", "q"] },
    answers: [
      "id",
      "goal",
      "status",
      "project_id",
      "updated_at",
      "steps.step_key",
      "steps.title",
      "steps.status",
    ],
  },
});

export const getRun = operation({
  action: "runs.get",
  route: "GET /runs/{run_id}",
  summary: "Read a run, its steps and their attempts",
  description:
    "Use this to see everything about a run; for the caller's next step, read its position. Returns the run with its steps and attempts.",
  access: shapes.reader,
  answer: component("RunWithAttempts", {
    ...shapes.runFields,
    steps: Type.Array(Type.Object({ ...shapes.RunStep.properties, attempts: Type.Array(shapes.Attempt) })),
  }),
  mcp: true,
});

export const getRunPosition = operation({
  action: "runs.position",
  route: "GET /runs/{run_id}/position",
  summary: "Read a run's progress and the caller's next step",
  description:
    "Use this to decide what to do next. `my_next` is the first ready step assigned to the caller (for agents: to the owner), else the first unassigned one.",
  access: shapes.reader,
  answer: shapes.Position,
  mcp: {
    description:
      "Use this to decide what to do next in a run. Returns its steps: `my_next` is the step that the caller should do; `ready_steps` are all that can be started.",
    core: ["run_id"],
    aliases: { run_id: ["id", "process_run_id"] },
    answers: [
      "run.id",
      "run.goal",
      "run.status",
      "run.success_criteria",
      "run.steps.step_key",
      "run.steps.title",
      "run.steps.status",
      "run.steps.instructions",
      "my_next.step_key",
      "my_next.title",
      "my_next.why_ready",
      "my_next.completion_criteria",
      "my_next.open_attempts",
      "ready_steps.step_key",
      "ready_steps.title",
      "blocked_steps.step_key",
      "blocked_steps.waiting_on",
      "last_completed.step_key",
      "stale_steps.step_key",
      "stale_steps.stale_reason",
    ],
  },
});

export const closeRun = operation({
  action: "runs.close",
  route: "POST /runs/{run_id}/close",
  summary: "Close a run with an outcome",
  description:
    "Use this to end a run, finished or not: its steps can no longer change. Returns the run; one that is already closed is `conflict`.",
  access: shapes.writer,
  overQuota: true,
  audit: true,
  body: {
    outcome: oneOf(shapes.OUTCOMES, { description: "Result of the run." }),
    note: Type.Optional(nullable({ ...shapes.Text, description: "Reason or summary." })),
  },
  answer: shapes.Run,
  errors: ["conflict"],
  mcp: { destructive: true },
});

export const getRunRetrospective = operation({
  action: "runs.retrospective",
  route: "GET /runs/{run_id}/retrospective",
  summary: "Read the times and evidence of a closed run's steps",
  description:
    "Use this to learn from a closed run. Returns for each step `elapsed_seconds` from ready to done, `active_seconds` while in progress; null if a step did not get that far. Reopened steps count each time. An open run is `conflict`.",
  access: shapes.reader,
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        step_key: StepKey,
        title: Type.String(),
        role: nullable(Type.String()),
        status: shapes.StepStatusField,
        what_makes_this_done: nullable(
          Type.String({
            description: "The evidence for the step and its criteria, or why it was skipped.",
          }),
        ),
        elapsed_seconds: nullable(Type.Number()),
        active_seconds: nullable(Type.Number()),
      }),
    ),
  }),
  errors: ["conflict"],
  mcp: true,
});

/** Changes of a run that a person, an agent, an event or a deadline made. */
export const ACTIONS = [
  "created",
  "step_started",
  "criterion_attested",
  "step_completed",
  "step_skipped",
  "step_deadline_passed",
  "step_reopened",
  "step_assigned",
  "handoff_offered",
  "handoff_accepted",
  "handoff_declined",
  "closed",
] as const;

const Artifacts = Type.Array(Type.Object({ display_name: nullable(Type.String()) }));

const RunAction = component("RunAction", {
  kind: oneOf(ACTIONS),
  step_key: nullable(StepKey),
  title: nullable(Type.String({ description: "The step's." })),
  ...shapes.actorFields,
  at: Timestamp,
  notes: nullable(Type.String({ description: "The evidence, the reason or the note that was given." })),
  criterion_key: nullable(Type.String()),
  event: nullable(shapes.StepEvent),
  assigned_user_id: nullable(Id("usr")),
  artifacts: Artifacts,
});

export const getRunHistory = operation({
  action: "runs.history",
  route: "GET /runs/{run_id}/history",
  summary: "List the completions of steps, in order",
  description:
    "Use this to see who did what: returns each completion with its author, time, attested criteria and artifacts, also " +
    "those of steps that were reopened since (`reopened_at`).",
  access: shapes.reader,
  query: optional({
    include: oneOf(["actions"], {
      description: "Adds `actions`: also starts, attestations, skips, reopenings, assignments and handoffs.",
    }),
  }),
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        step_key: StepKey,
        title: Type.String(),
        role: nullable(Type.String()),
        ordinal: Type.Integer(),
        ...shapes.actorFields,
        at: Timestamp,
        handoff_offer_id: nullable(Uuid("handoff_offer")),
        attested_criteria: Type.Array(Type.String(), {
          description: "Keys of the criteria that this completion, and attestations before it, attested.",
        }),
        event: nullable(shapes.StepEvent),
        reopened_at: nullable(
          Type.String({ format: "date-time", description: "When the step was reopened after it." }),
        ),
        artifacts: Artifacts,
      }),
    ),
    actions: Type.Optional(Type.Array(RunAction, { description: "In order." })),
  }),
  mcp: true,
});

export const getRunStatusDocument = operation({
  action: "runs.status_document",
  route: "GET /runs/{run_id}/status-document",
  summary: "Read a run as a Markdown document",
  description: "Use this to report on a run. Returns the same bytes until the run changes.",
  access: shapes.reader,
  answer: Type.String(),
  produces: ["text/markdown; charset=utf-8"],
  mcp: true,
});

/** The data of `service.run.*`. */
export const RunChange = component(
  "RunChange",
  {
    run_id: Uuid("run"),
    project_id: shapes.ProjectKey,
    run_status: oneOf(shapes.RUN_STATUSES, { description: "Status of the run after the change." }),
    step_key: nullable(StepKey),
    at: Timestamp,
    actor_kind: Type.Optional(shapes.actorFields.actor_kind),
    actor_id: Type.Optional(shapes.actorFields.actor_id),
    record_id: Type.Optional(
      Type.String({ description: "Id of the attempt, completion, skip or reopening." }),
    ),
    outcome: Type.Optional(oneOf(shapes.OUTCOMES, { description: "Of a closed run." })),
    criterion_key: Type.Optional(Type.String({ description: "The criterion that was attested." })),
    assigned_user_id: Type.Optional(nullable(Id("usr", "The person to whom the step is assigned."))),
    handoff_offer_id: Type.Optional(Uuid("handoff_offer")),
  },
  { description: "A change of a run. Without an actor, the service detected it itself." },
);
