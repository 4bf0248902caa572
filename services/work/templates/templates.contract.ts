import { type Static, Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import {
  AnyText,
  Description,
  MOST_LISTED,
  NAMED_ADDRESS,
  Name,
  ofAll,
  SomeText,
  Timestamp,
  Uuid,
  Whole,
} from "../../../lib/contract/schema.ts";
import { FilterExpression, TypeGlob } from "../../../lib/contract/subscription.ts";

export const COMPLETION_MODES = ["attestation", "handoff_accepted"] as const;

const MOST_STEPS = 500;

/** Names a step within its template or run. */
export const StepKey = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
  "x-expected": "letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
  description: "Key of the step.",
  examples: ["draft"],
});

const pointerFields = optional({
  uri: nullable(Type.String({ maxLength: 4000, examples: ["https://example.com/brief"] })),
  provider: nullable(AnyText(200, "System that holds it.", "exemplar")),
  native_id: nullable(AnyText(1000, "Id in that system.")),
  display_name: nullable(AnyText(500, "Display name.", "The brief")),
});

/** A pointer for a person or a system; its content is never read. */
export const Pointer = component("Pointer", pointerFields, { additionalProperties: false });

/** The input form of `Pointer`. */
export const GivenPointer = component(
  "GivenPointer",
  {
    ...pointerFields,
    uri: Type.Optional(
      nullable(
        Type.String({
          maxLength: 4000,
          pattern: NAMED_ADDRESS,
          examples: ["https://example.com/brief"],
          description: "Path, or URL of a known scheme.",
        }),
      ),
    ),
  },
  { additionalProperties: false, description: "Where the content is. Never followed." },
);

const Criterion = Type.Object({
  key: SomeText(100, "Its key.", "reviewed"),
  description: AnyText(2000, "What must be true.", "A second pair of eyes has read it."),
});

const Text = Type.String({ maxLength: 32_768 });

/** Actions at a step's deadline. */
export const ON_DEADLINE = ["notify", "skip", "abandon"] as const;

const OnDeadline = oneOf(ON_DEADLINE, {
  description:
    "What happens at the deadline, besides the event `service.run.step_deadline_passed`. `notify`: nothing. `skip`: " +
    "the step is skipped. `abandon`: the run is closed as `abandoned`.",
});

/** The event a step waits for, as given and as shown. */
const waitFields = {
  event_type: TypeGlob,
  filter_expression: nullable({
    ...FilterExpression,
    description:
      "CEL predicate as of interests. It also sees the run: `run.values.<name>`, `run.id`, `run.goal` and " +
      "`run.project_id`. Empty: no filter.",
    examples: ["data.order_id == run.values.order_id"],
  }),
};

const Seconds = (description: string) =>
  nullable(Type.Integer({ minimum: 1, maximum: 100 * 365 * 86_400, description }));

/** Input fields of steps of templates and of runs. */
export const stepFields = {
  step_key: StepKey,
  ...optional({
    title: SomeText(500, "Display title. Default: the key.", "Write the draft"),
    role: nullable(AnyText(200, "Role of the person or agent.", "writer")),
    specialist_name: nullable(AnyText(200, "Specialist to load when the step starts.", "editor")),
    instructions: nullable({ ...Text, description: "What to do." }),
    depends_on: Type.Array(StepKey, {
      maxItems: MOST_STEPS,
      description: "Keys of steps to complete or skip first.",
    }),
    completion_criteria: Type.Array(Criterion, {
      maxItems: 100,
      description: "Criteria, attested one by one; the last completes the step.",
    }),
    expected_artifact_kinds: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 100,
      description: "Kinds of artifacts to register.",
    }),
    reference_pointer: nullable(GivenPointer),
    reference_note: nullable({ ...Text, description: "Note on the reference." }),
    due_in_seconds: Seconds("Seconds from ready until the step is stale."),
    deadline_seconds: Seconds("Seconds from ready until `on_deadline` happens, unless the step is done."),
    on_deadline: { ...OnDeadline, default: "notify" },
    wait_for: nullable(
      component(
        "GivenStepWait",
        { ...waitFields, filter_expression: Type.Optional(waitFields.filter_expression) },
        {
          additionalProperties: false,
          description:
            "The step starts by itself when it is ready, and the first event that matches and is accepted from then " +
            "on completes it. Not with `completion_criteria` or `handoff_accepted`.",
        },
      ),
    ),
  }),
};

const CompletionMode = oneOf(COMPLETION_MODES, {
  description:
    "`handoff_accepted`: unless it has criteria, the step completes when a successor accepts a handoff offer.",
});

const GivenStep = component("GivenTemplateStep", { ...stepFields, completion_mode: CompletionMode });

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
  deadline_seconds: nullable(Type.Integer()),
  on_deadline: OnDeadline,
  wait_for: nullable(component("StepWait", waitFields)),
};

const TemplateStep = component("TemplateStep", shownStepFields);
export type TemplateStep = Static<typeof TemplateStep>;

export const Slug = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  "x-expected": "lower-case letters and digits, separated by hyphens",
  description: "Slug of the template; its versions share it.",
  examples: ["release-notes"],
});

const head = {
  name: Name,
  slug: Slug,
  description: nullable(Description),
  goal_template: nullable(AnyText(4000, "Describes the goal of its runs; nothing in it is substituted.")),
  version_num: Type.Integer({ minimum: 1 }),
};

export const Template = component("ProcessTemplate", {
  id: Uuid("process_template"),
  ...head,
  steps: Type.Array(TemplateStep),
  created_at: Timestamp,
});

export const TemplateSummary = component("TemplateSummary", {
  id: Uuid("process_template"),
  ...head,
  step_count: Type.Integer(),
});

export const authorTemplate = operation({
  action: "templates.author",
  route: "POST /process-templates",
  summary: "Create a process template, or a new version of one",
  description:
    "Use this for a process that runs repeat. An existing slug gets a new version; earlier ones do not change. " +
    "Returns the version, whose `id` creates runs.",
  access: { by: "any", scope: "memory:write" },
  audit: true,
  body: {
    name: Name,
    slug: Slug,
    description: Type.Optional(nullable(Description)),
    goal_template: Type.Optional(head.goal_template),
    steps: Type.Array(GivenStep, { minItems: 1, maxItems: MOST_STEPS, description: "Steps of the template" }),
  },
  needs: { "steps.wait_for": 1, "steps.deadline_seconds": 1 },
  results: { 201: Template },
  errors: ["validation_error"],
  mcp: true,
});

export const listTemplates = operation({
  action: "templates.list",
  route: "GET /process-templates",
  summary: "List the latest version of every process template, by slug",
  description:
    "Use this to find a process for a run. Returns names, descriptions and step counts, without the steps; of all, or " +
    "of at most `limit`. The header `X-Total-Count` has their number.",
  access: { by: "any", scope: "memory:read" },
  query: ofAll,
  inPages: MOST_LISTED,
  answer: Type.Array(TemplateSummary),
  mcp: {
    description: `Use this to find a process for a run. Returns names, descriptions and step counts, without the steps; at most ${MOST_LISTED}: continue with \`offset\`.`,
  },
});

export const getTemplate = operation({
  action: "templates.get",
  route: "GET /process-templates/{slug}",
  summary: "Read a process template",
  description: "Use this before creating a run. Returns the steps, and the `id` to create runs with.",
  access: { by: "any", scope: "memory:read" },
  path: { slug: { ...Slug, "x-identifier": "template_slug" } },
  query: { version_num: Type.Optional(Whole({ minimum: 1, description: "Version. Default: the latest." })) },
  answer: Template,
  errors: ["not_found"],
  mcp: true,
});
