import type { Static } from "typebox";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { NAMED_ADDRESS } from "../../../lib/contract/links.ts";
import { Description, Name, Timestamp, Uuid, Whole } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

export const COMPLETION_MODES = ["attestation", "handoff_accepted"] as const;

const MOST_STEPS = 500;

/** Names a step within its template or run. */
export const StepKey = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
  examples: ["draft"],
});

const pointerFields = {
  uri: Type.Optional(nullable(Type.String({ maxLength: 4000, examples: ["https://example.com/brief"] }))),
  provider: Type.Optional(nullable(Type.String({ maxLength: 200, examples: ["exemplar"] }))),
  native_id: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
  display_name: Type.Optional(nullable(Type.String({ maxLength: 500, examples: ["The brief"] }))),
};

/** A pointer for a person or a system; its content is never read. */
export const Pointer = Type.Object(pointerFields, { title: "Pointer", additionalProperties: false });

/** The input form of `Pointer`. */
export const GivenPointer = Type.Object(
  {
    ...pointerFields,
    uri: Type.Optional(
      nullable(
        Type.String({
          maxLength: 4000,
          pattern: NAMED_ADDRESS,
          examples: ["https://example.com/brief"],
          description: "A path, or a URL of a known scheme.",
        }),
      ),
    ),
  },
  { title: "GivenPointer", additionalProperties: false },
);

const Criterion = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 100, examples: ["reviewed"] }),
  description: Type.String({ maxLength: 2000, examples: ["A second pair of eyes has read it."] }),
});

const Text = Type.String({ maxLength: 32_768 });

/** Input fields of steps of templates and of runs. */
export const stepFields = {
  step_key: StepKey,
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 500, examples: ["Write the draft"] })),
  role: Type.Optional(nullable(Type.String({ maxLength: 200, examples: ["writer"] }))),
  specialist_name: Type.Optional(
    nullable(
      Type.String({
        maxLength: 200,
        examples: ["editor"],
        description: "Its preamble is given to the caller who starts the step.",
      }),
    ),
  ),
  instructions: Type.Optional(nullable(Text)),
  depends_on: Type.Optional(
    Type.Array(StepKey, {
      maxItems: MOST_STEPS,
      description: "Steps that must be completed or skipped first.",
    }),
  ),
  completion_criteria: Type.Optional(
    Type.Array(Criterion, {
      maxItems: 100,
      description: "Attested one by one; the last completes the step.",
    }),
  ),
  expected_artifact_kinds: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }),
  ),
  reference_pointer: Type.Optional(nullable(GivenPointer)),
  reference_note: Type.Optional(nullable(Text)),
  due_in_seconds: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100 * 365 * 86_400,
        description: "Time after becoming ready until the step is stale.",
      }),
    ),
  ),
};

const CompletionMode = oneOf(COMPLETION_MODES, {
  description:
    "`handoff_accepted` without criteria: the step completes when a successor accepts a handoff offer.",
});

const GivenStep = Type.Object(
  { ...stepFields, completion_mode: CompletionMode },
  { title: "GivenTemplateStep" },
);

/** Output fields of steps of templates and of runs. */
export const shownStepFields = {
  step_key: StepKey,
  ordinal: Type.Integer({ description: "Its position among the steps, from 1." }),
  title: Type.String(),
  role: nullable(Type.String()),
  specialist_name: nullable(Type.String()),
  instructions: nullable(Type.String()),
  depends_on: Type.Array(StepKey),
  completion_criteria: Type.Array(Criterion),
  completion_mode: CompletionMode,
  expected_artifact_kinds: Type.Array(Type.String()),
  reference_pointer: nullable(Pointer),
  reference_note: nullable(Type.String()),
  due_in_seconds: nullable(Type.Integer()),
};

const TemplateStep = Type.Object(shownStepFields, { title: "TemplateStep" });
export type TemplateStep = Static<typeof TemplateStep>;

const Slug = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  examples: ["release-notes"],
});

const head = {
  name: Name,
  slug: Slug,
  description: nullable(Description),
  goal_template: nullable(Type.String({ maxLength: 4000 })),
  version_num: Type.Integer({ minimum: 1 }),
};

const Template = Type.Object(
  { id: Uuid("process_template"), ...head, steps: Type.Array(TemplateStep), created_at: Timestamp },
  { title: "ProcessTemplate" },
);

export const authorTemplate = operation({
  action: "templates.author",
  route: "POST /process-templates",
  summary: "Create a process template, or a new version of one",
  description:
    "An existing slug gets a new version; earlier ones do not change. `goal_template` is a description: nothing in it is " +
    "substituted.",
  access: { by: "any", scope: "memory:write" },
  audit: true,
  body: {
    name: Name,
    slug: Slug,
    description: Type.Optional(nullable(Description)),
    goal_template: Type.Optional(head.goal_template),
    steps: Type.Array(GivenStep, { minItems: 1, maxItems: MOST_STEPS }),
  },
  results: { 201: Template },
  errors: ["validation_error"],
  mcp: true,
});

export const listTemplates = operation({
  action: "templates.list",
  route: "GET /process-templates",
  summary: "List the latest version of every process template, by slug",
  access: { by: "any", scope: "memory:read" },
  results: {
    200: Type.Array(
      Type.Object(
        { id: Uuid("process_template"), ...head, step_count: Type.Integer() },
        { title: "TemplateSummary" },
      ),
    ),
  },
  mcp: true,
});

export const getTemplate = operation({
  action: "templates.get",
  route: "GET /process-templates/{slug}",
  summary: "Read a process template",
  description: "The latest version, or the given one. Runs are created from its `id`.",
  access: { by: "any", scope: "memory:read" },
  path: { slug: { ...Slug, "x-identifier": "template_slug" } },
  query: { version_num: Type.Optional(Whole({ minimum: 1 })) },
  results: { 200: Template },
  errors: ["not_found"],
  mcp: true,
});

export const templatesOperations = [authorTemplate, listTemplates, getTemplate] as const;
