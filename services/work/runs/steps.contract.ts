import { Type } from "typebox";
import { nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, SomeText, Uuid, Words } from "../../../lib/contract/schema.ts";
import { StepKey } from "../templates/templates.contract.ts";
import { Attempt, PositionSteps, RunStep, Text, writer } from "./shapes.contract.ts";

/** Evidence is sent in the request as base64: up to 4 MB. */
const MAX_EVIDENCE = 6 * 1_048_576;

const Reason = Words(8000, "Reason, shown in the run.", "Done elsewhere");
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
  body: {
    step_key: StepKey,
    handoff_id: Type.Optional(
      nullable(Uuid("handoff", "Handoff to continue: the caller's, or one offered in the run.")),
    ),
    bundle_id: Type.Optional(nullable(Uuid("bundle", "Bundle of the caller to start with."))),
    notes: Type.Optional(nullable({ ...Text, description: "Notes on the attempt." })),
  },
  results: { 201: Attempt },
  errors: ["conflict", "step_not_ready", "business_rule_violation"],
  mcp: {
    core: ["run_id", "step_key", "notes"],
    aliases: { run_id: ["id"], step_key: ["step", "step_id", "step_name", "key"] },
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
  body: {
    step_key: StepKey,
    ...optional({
      criterion_key: nullable(AnyText(100, "Key of a criterion. Default: all.")),
      what_makes_this_done: nullable({ ...Text, description: "Evidence that the step is done." }),
      artifact_contents: Type.Array(
        Type.Object({
          artifact_id: Uuid("artifact"),
          content_base64: Type.String({
            contentEncoding: "base64",
            pattern: "^[A-Za-z0-9+/\\s]*={0,2}\\s*$",
            description: "Content in base64.",
          }),
          mime_type: SomeText(200, "Media type of the content.", "text/markdown"),
        }),
        { maxItems: 100, description: "Content of registered artifacts, to be stored as evidence." },
      ),
    }),
  },
  maxBody: MAX_EVIDENCE,
  answer: Type.Object({
    run_id: Uuid("run"),
    completed_step_key: nullable(StepKey),
    completed_step: RunStep,
    attested_criteria: Type.Array(Type.String(), {
      description:
        "Keys of the criteria that this call attested: without a `criterion_key`, all that were left.",
    }),
    newly_ready_steps: PositionSteps,
    run_completed: Type.Boolean(),
  }),
  errors: ["conflict", "step_not_completable", "step_not_ready", "business_rule_violation"],
  mcp: {
    description:
      "Call this when a step is done. With `criterion_key`, attests one criterion; the last one completes the step. Returns the completed step, and the steps that are ready now.",
    core: ["run_id", "step_key", "what_makes_this_done", "criterion_key"],
    aliases: {
      run_id: ["id"],
      step_key: ["step", "step_id", "step_name", "key"],
      criterion_key: ["criterion"],
      what_makes_this_done: ["evidence", "notes", "result", "summary", "proof"],
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
  body: Key,
  answer: Type.Object({
    ...decided,
    skipped_step: RunStep,
    newly_ready_steps: PositionSteps,
    run_completed: Type.Boolean(),
  }),
  errors: ["conflict", "step_not_skippable", "business_rule_violation"],
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
  body: Key,
  answer: Type.Object({
    ...decided,
    reopened_step: RunStep,
    demoted_successors: PositionSteps,
    notify_only_successors: PositionSteps,
    run_reactivated: Type.Boolean(),
  }),
  errors: ["conflict", "step_not_reopenable", "business_rule_violation"],
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
  body: { step_key: StepKey, assigned_user_id: nullable(Id("usr", "Person to assign; null: nobody.")) },
  answer: Type.Object({ run_id: Uuid("run"), run_goal: Type.String(), assigned_step: RunStep }),
  errors: ["conflict", "business_rule_violation"],
  mcp: { idempotent: true },
});
