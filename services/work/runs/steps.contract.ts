import { Type } from "typebox";
import { nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, Uuid } from "../../../lib/contract/schema.ts";
import { StepKey } from "../templates/templates.contract.ts";
import { Attempt, PositionSteps, path, ShownStep, Text, writer } from "./shapes.contract.ts";

/** Evidence is sent in the request as base64: up to 4 MB. */
const MAX_EVIDENCE = 6 * 1_048_576;

const Reason = Type.String({
  minLength: 1,
  maxLength: 8000,
  pattern: "\\S",
  description: "Reason, shown in the run.",
  examples: ["Done elsewhere"],
});
const Key = Type.Object({ step_key: StepKey, reason: Reason }).properties;

export const startRunStep = operation({
  action: "runs.start_step",
  route: "POST /runs/{run_id}/steps/start",
  summary: "Start a step",
  description:
    "Call this before working on a step. Returns the attempt and the step's specialist. Not exclusive: `warning` " +
    "names other open attempts. `step_not_ready` while a dependency is unfinished.",
  access: writer,
  audit: true,
  path,
  body: {
    step_key: StepKey,
    handoff_id: Type.Optional(
      nullable(Uuid("handoff", "Handoff to continue: the caller's, or one offered in the run.")),
    ),
    bundle_id: Type.Optional(nullable(Uuid("bundle", "Bundle of the caller to start with."))),
    notes: Type.Optional(nullable({ ...Text, description: "Notes on the attempt." })),
  },
  results: { 201: Attempt },
  errors: ["not_found", "validation_error", "conflict", "step_not_ready", "business_rule_violation"],
  mcp: {
    core: ["run_id", "step_key", "notes"],
    aliases: { id: "run_id", step: "step_key", step_id: "step_key", step_name: "step_key", key: "step_key" },
    answers: ["id", "started_at", "notes", "warning", "specialist"],
  },
});

export const completeRunStep = operation({
  action: "runs.complete_step",
  route: "POST /runs/{run_id}/steps/complete",
  summary: "Complete a step, or attest one of its criteria",
  description:
    "Call this when a step is done. With `criterion_key`, attests one criterion; the last one completes the " +
    "step, and until then `completed_step_key` is null.",
  access: writer,
  audit: true,
  path,
  body: {
    step_key: StepKey,
    ...optional({
      criterion_key: nullable(
        Type.String({ maxLength: 100, description: "Key of a criterion. Default: all." }),
      ),
      what_makes_this_done: nullable({ ...Text, description: "Evidence that the step is done." }),
      artifact_contents: Type.Array(
        Type.Object({
          artifact_id: Uuid("artifact"),
          content_base64: Type.String({
            contentEncoding: "base64",
            pattern: "^[A-Za-z0-9+/\\s]*={0,2}\\s*$",
            description: "Content in base64.",
          }),
          mime_type: Type.String({
            minLength: 1,
            maxLength: 200,
            description: "Media type of the content.",
            examples: ["text/markdown"],
          }),
        }),
        { maxItems: 100, description: "Content of registered artifacts, to be stored as evidence." },
      ),
    }),
  },
  maxBody: MAX_EVIDENCE,
  results: {
    200: Type.Object({
      run_id: Uuid("run"),
      completed_step_key: nullable(StepKey),
      completed_step: ShownStep,
      attested_criteria: Type.Array(Type.String(), {
        description:
          "Keys of the criteria that this call attested: without a `criterion_key`, all that were left.",
      }),
      newly_ready_steps: PositionSteps,
      run_completed: Type.Boolean(),
    }),
  },
  errors: [
    "not_found",
    "validation_error",
    "conflict",
    "step_not_completable",
    "step_not_ready",
    "business_rule_violation",
  ],
  mcp: {
    description:
      "Call this when a step is done. With `criterion_key`, attests one criterion; the last one completes the step. Returns the completed step, and the steps that are ready now.",
    core: ["run_id", "step_key", "what_makes_this_done", "criterion_key"],
    aliases: {
      ...{ id: "run_id", step: "step_key", step_id: "step_key", step_name: "step_key", key: "step_key" },
      ...{ criterion: "criterion_key", evidence: "what_makes_this_done", notes: "what_makes_this_done" },
      ...{ result: "what_makes_this_done", summary: "what_makes_this_done", proof: "what_makes_this_done" },
    },
    answers: [
      "completed_step_key",
      "completed_step.step_key",
      "completed_step.status",
      "completed_step.attested_criteria",
      "newly_ready_steps.step_key",
      "newly_ready_steps.title",
      "run_completed",
    ],
  },
});

const decided = { run_id: Uuid("run"), run_goal: Type.String(), reason: Reason, record_id: Uuid("record") };

export const skipRunStep = operation({
  action: "runs.skip_step",
  route: "POST /runs/{run_id}/steps/skip",
  summary: "Skip a step",
  description:
    "Use this for a step that is not needed. Dependent steps no longer wait for it. Returns the step, and the steps that are ready now.",
  access: writer,
  audit: true,
  path,
  body: Key,
  results: {
    200: Type.Object({
      ...decided,
      skipped_step: ShownStep,
      newly_ready_steps: PositionSteps,
      run_completed: Type.Boolean(),
    }),
  },
  errors: ["not_found", "conflict", "step_not_skippable", "business_rule_violation"],
  mcp: true,
});

export const reopenRunStep = operation({
  action: "runs.reopen_step",
  route: "POST /runs/{run_id}/steps/reopen",
  summary: "Reopen a completed or skipped step",
  description:
    "Use this if a step's result must be redone. Ready successors are blocked again; later steps do not change, but it returns them. A completed run becomes active again.",
  access: writer,
  audit: true,
  path,
  body: Key,
  results: {
    200: Type.Object({
      ...decided,
      reopened_step: ShownStep,
      demoted_successors: PositionSteps,
      notify_only_successors: PositionSteps,
      run_reactivated: Type.Boolean(),
    }),
  },
  errors: ["not_found", "conflict", "step_not_reopenable", "business_rule_violation"],
  mcp: true,
});

export const assignRunStep = operation({
  action: "runs.assign_step",
  route: "POST /runs/{run_id}/steps/assign",
  summary: "Assign a step to a person",
  description:
    "Use this to set who does a step; null: nobody. Open attempts and the completion mode do not change. Returns the step.",
  access: writer,
  audit: true,
  path,
  body: { step_key: StepKey, assigned_user_id: nullable(Id("usr", "Person to assign; null: nobody.")) },
  results: { 200: Type.Object({ run_id: Uuid("run"), run_goal: Type.String(), assigned_step: ShownStep }) },
  errors: ["not_found", "validation_error", "conflict", "business_rule_violation"],
  mcp: { idempotent: true },
});
