import type { GivenTemplateStep, ProcessTemplate, TemplateStep } from "../../../../client/index.ts";
import { linesOf } from "../../data/format.ts";
import type { Option } from "../../ui/field.tsx";
import { area, converted, type Drafts, draftsOf, list, select, text, valuesOf } from "../../ui/form.tsx";
import { AT_DEADLINE } from "./step-words.ts";

const MODES: Option<TemplateStep["completion_mode"]>[] = [
  { value: "attestation", label: "The assignee attests completion" },
  { value: "handoff_accepted", label: "The next assignee accepts the handoff" },
];

const AT_DEADLINES = Object.entries(AT_DEADLINE).map(([value, label]) => ({
  value: value as TemplateStep["on_deadline"],
  label,
}));

const HOUR_S = 3600;

/** A time after the step becomes ready: in hours for the person, in seconds for the service. */
const hours = (label: string, attributes: { min: number; hint: string }) =>
  converted<number | null>(
    text(label, { type: "number", step: "any", ...attributes }),
    (seconds) => (seconds ? String(seconds / HOUR_S) : ""),
    (draft) => (draft ? Math.round(Number(draft) * HOUR_S) : null),
  );

/** The fields of a step, except those that other steps depend on. */
export const STEP = {
  title: text("Title", { maxLength: 500 }),
  role: text("Role", { placeholder: "writer" }),
  instructions: area("Instructions", { rows: 4, hint: "Markdown." }),
  completion_mode: select("Completed when", MODES),
  completion_criteria: converted<TemplateStep["completion_criteria"]>(
    area("Completion criteria", {
      rows: 3,
      placeholder: "reviewed: A second pair of eyes has read it.",
      hint: "One per line. Each is attested separately.",
    }),
    (criteria) =>
      criteria.map(({ key, description }) => (description ? `${key}: ${description}` : key)).join("\n"),
    criteriaOf,
  ),
  awaited: text("Wait for event", {
    placeholder: "com.example.order.paid",
    hint: "The step starts by itself, and the first event of this type completes it.",
  }),
  filter: text("Filter", {
    placeholder: "data.order_id == run.values.order_id",
    hint: "CEL over the event and the run’s values. Optional.",
  }),
  deadline_seconds: hours("Deadline in hours", { min: 0.001, hint: "Counted from when the step is ready." }),
  on_deadline: select("At the deadline", AT_DEADLINES),
  specialist_name: text("Specialist", {
    placeholder: "release-writer",
    hint: "The step includes the specialist's brief.",
  }),
  due_in_seconds: hours("Due in hours", {
    min: 0.01,
    hint: "Counted from when the step is ready; after that it is stale.",
  }),
  expected_artifact_kinds: list("Expected artifacts", {
    placeholder: "pull_request, file",
    hint: "Kinds, separated by commas.",
  }),
};

export interface DraftStep extends Drafts<typeof STEP> {
  /** Identifies the step while its key is being typed. */
  id: number;
  step_key: string;
  depends_on: string[];
  /** The step as it was, with fields that the form does not show but must keep. */
  given: Partial<GivenTemplateStep>;
}

/** Fields of a template, except its name and slug. */
export const TEMPLATE = {
  description: text("Description"),
  goal_template: text("Goal", { hint: "The default goal of its runs, used as written." }),
};

export interface Draft extends Drafts<typeof TEMPLATE> {
  name: string;
  slug: string;
  steps: DraftStep[];
}

let next = 0;

export const newStep = (after: DraftStep | undefined, taken: readonly DraftStep[]): DraftStep => ({
  ...draftsOf(STEP),
  id: next++,
  step_key: freeKey("step", taken),
  depends_on: after ? [after.step_key] : [],
  given: {},
});

export const emptyDraft = (): Draft => ({
  ...draftsOf(TEMPLATE),
  name: "",
  slug: "",
  steps: [newStep(undefined, [])],
});

export function draftOf(template: ProcessTemplate): Draft {
  const { name, slug } = template;
  const steps = template.steps.map(({ ordinal: _, ...step }) => {
    const { event_type: awaited, filter_expression: filter } = step.wait_for ?? {};
    const { step_key, depends_on } = step;
    return { ...draftsOf(STEP, { ...step, awaited, filter }), id: next++, step_key, depends_on, given: step };
  });
  return { ...draftsOf(TEMPLATE, template), name, slug, steps };
}

export function templateOf(draft: Draft) {
  return {
    ...valuesOf(TEMPLATE, draft),
    name: draft.name.trim(),
    slug: draft.slug.trim(),
    steps: draft.steps.map((step): GivenTemplateStep => {
      const { step_key, depends_on, given } = step;
      const { title, awaited, filter, ...values } = valuesOf(STEP, step);
      const wait_for = awaited ? { event_type: awaited, filter_expression: filter } : null;
      return { ...given, ...values, step_key, depends_on, title: title ?? step_key, wait_for };
    }),
  };
}

/** Parses `reviewed: A second pair of eyes has read it.` A line without a key gets a generated one. */
function criteriaOf(texts: string) {
  return linesOf(texts).map((line, at) => {
    const [, key, description] = /^([\w.-]+):\s+(.+)$/.exec(line) ?? [];
    return key && description ? { key, description } : { key: `criterion-${at + 1}`, description: line };
  });
}

/** Returns a name as part of an address: lower case, words joined by `-`. */
export function slugOf(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 100);
}

export function freeKey(wanted: string, taken: readonly DraftStep[]): string {
  const keys = new Set(taken.map(({ step_key }) => step_key));
  for (let number = taken.length + 1; ; number++) {
    const key = wanted === "step" ? `step-${number}` : keys.has(wanted) ? `${wanted}-${number}` : wanted;
    if (!keys.has(key)) return key;
  }
}

/** Renames a step's key, also in the dependencies of other steps. */
export function renamed(steps: DraftStep[], id: number, key: string): DraftStep[] {
  const old = steps.find((step) => step.id === id)?.step_key;
  return steps.map((step) => ({
    ...step,
    step_key: step.id === id ? key : step.step_key,
    depends_on: step.depends_on.map((each) => (each === old ? key : each)),
  }));
}

/** Removes a step; its dependants inherit its dependencies. */
export function without(steps: DraftStep[], id: number): DraftStep[] {
  const gone = steps.find((step) => step.id === id);
  if (!gone) return steps;
  return steps
    .filter((step) => step !== gone)
    .map((step) => {
      if (!step.depends_on.includes(gone.step_key)) return step;
      const kept = step.depends_on.filter((key) => key !== gone.step_key);
      return { ...step, depends_on: [...new Set([...kept, ...gone.depends_on])] };
    });
}

/** Whether `from` depends on `to`, directly or indirectly: then `to` must not depend on `from`. */
export function waitsFor(steps: readonly DraftStep[], from: string, to: string): boolean {
  const byKey = new Map(steps.map((step) => [step.step_key, step]));
  const seen = new Set<string>();
  const queue = [from];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    if (key === to) return true;
    if (seen.has(key)) continue;
    seen.add(key);
    queue.push(...(byKey.get(key)?.depends_on ?? []));
  }
  return false;
}

/** Makes step `to` depend on `from`, or no longer. */
export function dependent(steps: DraftStep[], from: string, to: string, on: boolean): DraftStep[] {
  return steps.map((step) => {
    if (step.step_key !== to) return step;
    const others = step.depends_on.filter((key) => key !== from);
    return { ...step, depends_on: on ? [...others, from] : others };
  });
}

/** Returns why step `to` cannot depend on `from`; undefined if it can. */
export function whyNot(steps: readonly DraftStep[], from: string, to: string): string | undefined {
  const named = (key: string) => {
    const step = steps.find(({ step_key }) => step_key === key);
    return `“${step?.title || key}”`;
  };
  if (from === to) return "A step cannot depend on itself.";
  if (!waitsFor(steps, from, to)) return undefined;
  return `${named(to)} cannot depend on ${named(from)}: that already depends on ${named(to)}, so neither could start.`;
}
