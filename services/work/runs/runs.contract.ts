import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Offset, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { COMPLETION_MODES, StepKey, stepFields } from "../templates/templates.contract.ts";
import {
  AmbiguityNote,
  Attempt,
  actorFields,
  Criteria,
  Goal,
  MOST_CHANGES,
  MOST_NOTES,
  MOST_STEPS,
  OUTCOMES,
  Position,
  ProjectKey,
  path,
  RUN_STATUSES,
  Run,
  RunStep,
  reader,
  runFields,
  StepStatusField,
  Text,
  writer,
} from "./shapes.contract.ts";

/** Runs in one answer of the service; the gateway may combine several. */
export const MOST_LISTED = 200;

const GivenStep = Type.Object(
  {
    ...stepFields,
    completion_mode: Type.Optional(
      oneOf(COMPLETION_MODES, {
        description:
          "Default: `handoff_accepted` if a successor is assigned to a different person, else `attestation`.",
      }),
    ),
    assigned_user_id: Type.Optional(nullable(Id("usr"))),
  },
  { title: "GivenRunStep" },
);

export const createRun = operation({
  action: "runs.create",
  route: "POST /runs",
  summary: "Create a run",
  description:
    "From a template, whose steps are copied, or from given steps. `step_assignments` are allowed only with a template. " +
    `After ${MOST_CHANGES} changes a run can only be closed: further changes are 422, rule \`run_limit\`. ` +
    `So are notes and evidence beyond ${MOST_NOTES / 1_048_576} MB over all steps.`,
  access: writer,
  audit: true,
  body: {
    goal: Goal,
    project_id: Type.Optional(ProjectKey),
    success_criteria: Type.Optional(Criteria),
    ambiguity_score: Type.Optional(nullable(Type.Number())),
    ambiguity_notes: Type.Optional(Type.Array(AmbiguityNote, { maxItems: 100 })),
    steps: Type.Optional(Type.Array(GivenStep, { maxItems: MOST_STEPS })),
    template_id: Type.Optional(
      nullable(Uuid("process_template", "The `id` of a version; not with `steps`.")),
    ),
    step_assignments: Type.Optional(
      Type.Array(Type.Object({ step_key: StepKey, assigned_user_id: Id("usr") }), { maxItems: MOST_STEPS }),
    ),
  },
  results: { 201: Run },
  errors: ["validation_error", "not_found"],
  mcp: true,
});

export const listRuns = operation({
  action: "runs.list",
  route: "GET /runs",
  heavy: true,
  summary: "List the tenant's runs, newest first",
  description:
    "All runs of the tenant as a bare array. With `limit`, a page, which may have fewer if runs are long: continue with " +
    "`offset` until the header `X-Total-Count`.",
  access: reader,
  query: {
    status: Type.Optional(oneOf(RUN_STATUSES)),
    project_id: Type.Optional(
      Type.String({ maxLength: 200, description: "Empty: only runs without a project." }),
    ),
    offset: Offset,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_LISTED, description: "Default: all." })),
  },
  inPages: MOST_LISTED,
  results: { 200: Type.Array(Run) },
  mcp: {
    description: `All runs of the tenant. At most ${MOST_LISTED} per page, fewer if they are long: continue with \`offset\`.`,
  },
});

export const getRun = operation({
  action: "runs.get",
  route: "GET /runs/{run_id}",
  summary: "Read a run, its steps and their attempts",
  access: reader,
  path,
  results: {
    200: Type.Object(
      {
        ...runFields,
        steps: Type.Array(Type.Object({ ...RunStep.properties, attempts: Type.Array(Attempt) })),
      },
      { title: "RunWithAttempts" },
    ),
  },
  errors: ["not_found"],
  mcp: true,
});

export const runPosition = operation({
  action: "runs.position",
  route: "GET /runs/{run_id}/position",
  summary: "Read a run's progress and the caller's next step",
  description:
    "`my_next`: the first ready step assigned to the caller (for agents: to the owner), else the first unassigned one.",
  access: reader,
  path,
  results: { 200: Position },
  errors: ["not_found"],
  mcp: true,
});

export const closeRun = operation({
  action: "runs.close",
  route: "POST /runs/{run_id}/close",
  summary: "Close a run with an outcome",
  description: "Its steps can no longer change. A closed run is 409 `conflict`.",
  access: writer,
  overQuota: true,
  audit: true,
  path,
  body: { outcome: oneOf(OUTCOMES), note: Type.Optional(nullable(Text)) },
  results: { 200: Run },
  errors: ["not_found", "conflict"],
  mcp: { destructive: true },
});

export const retrospective = operation({
  action: "runs.retrospective",
  route: "GET /runs/{run_id}/retrospective",
  summary: "Read the times and evidence of a closed run's steps",
  description:
    "`elapsed_seconds` from ready to done, `active_seconds` while in progress; null if a step did not get that far. " +
    "Reopened steps count each time. An open run is 409 `conflict`.",
  access: reader,
  path,
  results: {
    200: Type.Object({
      items: Type.Array(
        Type.Object({
          step_key: StepKey,
          title: Type.String(),
          role: nullable(Type.String()),
          status: StepStatusField,
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
  },
  errors: ["not_found", "conflict"],
  mcp: true,
});

export const runHistory = operation({
  action: "runs.history",
  route: "GET /runs/{run_id}/history",
  summary: "List the completed steps, in order of completion",
  access: reader,
  path,
  results: {
    200: Type.Object({
      items: Type.Array(
        Type.Object({
          step_key: StepKey,
          title: Type.String(),
          role: nullable(Type.String()),
          ordinal: Type.Integer(),
          ...actorFields,
          at: Timestamp,
          handoff_offer_id: nullable(Uuid("handoff_offer")),
          artifacts: Type.Array(Type.Object({ display_name: nullable(Type.String()) })),
        }),
      ),
    }),
  },
  errors: ["not_found"],
  mcp: true,
});

export const statusDocument = operation({
  action: "runs.status_document",
  route: "GET /runs/{run_id}/status-document",
  summary: "Read a run as a Markdown document",
  description: "Identical bytes as long as the run does not change.",
  access: reader,
  path,
  results: { 200: Type.String() },
  produces: ["text/markdown; charset=utf-8"],
  errors: ["not_found"],
  mcp: true,
});

export const runOperations = [
  createRun,
  listRuns,
  getRun,
  runPosition,
  closeRun,
  retrospective,
  runHistory,
  statusDocument,
] as const;
