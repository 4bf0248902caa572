import type { GivenTemplateStep, ProcessTemplate } from "../../../../client/index.ts";
import { linesOf, listed } from "../../data/format.ts";

export interface DraftStep {
  /** Identifies the step while its key is being typed. */
  id: number;
  step_key: string;
  title: string;
  role: string;
  instructions: string;
  depends_on: string[];
  completion_mode: GivenTemplateStep["completion_mode"];
  /** One per line. */
  criteria: string;
  specialist: string;
  /** Hours after the step becomes ready; empty for no due date. */
  due: string;
  /** Hours after the step becomes ready; empty for no deadline. */
  deadline: string;
  on_deadline: NonNullable<GivenTemplateStep["on_deadline"]>;
  /** Type of the event that completes the step, or empty; and its filter. */
  awaited: string;
  filter: string;
  /** Kinds of artifacts, separated by commas. */
  brings: string;
  /** The step as it was, with fields that the form does not show but must keep. */
  given: Partial<GivenTemplateStep>;
}

export interface Draft {
  name: string;
  slug: string;
  description: string;
  goal: string;
  steps: DraftStep[];
}

const HOUR_S = 3600;
let next = 0;

const EMPTY = { title: "", role: "", instructions: "", criteria: "", specialist: "", due: "", brings: "" };
const UNTIMED = { deadline: "", on_deadline: "notify", awaited: "", filter: "" } as const;

export const newStep = (after: DraftStep | undefined, taken: readonly DraftStep[]): DraftStep => ({
  ...EMPTY,
  ...UNTIMED,
  id: next++,
  step_key: freeKey("step", taken),
  depends_on: after ? [after.step_key] : [],
  completion_mode: "attestation",
  given: {},
});

const NAMES = { name: "", slug: "", description: "", goal: "" };
export const emptyDraft = (): Draft => ({ ...NAMES, steps: [newStep(undefined, [])] });

export function draftOf(template: ProcessTemplate): Draft {
  const { name, slug, description, goal_template, steps } = template;
  return {
    name,
    slug,
    description: description ?? "",
    goal: goal_template ?? "",
    steps: steps.map(({ ordinal: _, ...step }) => ({
      id: next++,
      step_key: step.step_key,
      title: step.title,
      role: step.role ?? "",
      instructions: step.instructions ?? "",
      depends_on: step.depends_on,
      completion_mode: step.completion_mode,
      criteria: step.completion_criteria
        .map(({ key, description: says }) => (says ? `${key}: ${says}` : key))
        .join("\n"),
      specialist: step.specialist_name ?? "",
      due: step.due_in_seconds ? String(step.due_in_seconds / HOUR_S) : "",
      deadline: step.deadline_seconds ? String(step.deadline_seconds / HOUR_S) : "",
      on_deadline: step.on_deadline,
      awaited: step.wait_for?.event_type ?? "",
      filter: step.wait_for?.filter_expression ?? "",
      brings: step.expected_artifact_kinds.join(", "),
      given: step,
    })),
  };
}

/** Converts a draft to the request's template. */
export function templateOf({ name, slug, description, goal, steps }: Draft) {
  return {
    name: name.trim(),
    slug: slug.trim(),
    description: description.trim() || null,
    goal_template: goal.trim() || null,
    steps: steps.map(
      (step): GivenTemplateStep => ({
        ...step.given,
        step_key: step.step_key,
        title: step.title.trim() || step.step_key,
        role: step.role.trim() || null,
        instructions: step.instructions.trim() || null,
        depends_on: step.depends_on,
        completion_mode: step.completion_mode,
        completion_criteria: criteriaOf(step.criteria),
        specialist_name: step.specialist.trim() || null,
        due_in_seconds: step.due ? Math.round(Number(step.due) * HOUR_S) : null,
        deadline_seconds: step.deadline ? Math.round(Number(step.deadline) * HOUR_S) : null,
        on_deadline: step.on_deadline,
        wait_for: step.awaited.trim()
          ? { event_type: step.awaited.trim(), filter_expression: step.filter.trim() || null }
          : null,
        expected_artifact_kinds: listed(step.brings),
      }),
    ),
  };
}

/** Parses `reviewed: A second pair of eyes has read it.` A line without a key gets a generated one. */
function criteriaOf(text: string) {
  return linesOf(text).map((line, at) => {
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
