import { wordsOn } from "./facts.ts";
import { doneKeys, isDone, waitingOn } from "./run-state.ts";
import type { PlacedFact, Run, StepDef, StepProgress } from "./runs.model.ts";

const SHOWN = 300;
const MARKS = { completed: "x", skipped: "-", in_progress: "~", ready: " ", blocked: " " } as const;

/** Renders a run as Markdown. Depends only on the run and its facts, so the same run always gives the same bytes. */
export function renderStatusDocument(run: Run, facts: readonly PlacedFact[]): string {
  const done = doneKeys(run.steps, run.progress);
  const words = wordsOn(facts);
  const lines = [
    `# ${line(run.goal)}`,
    "",
    `- Run: ${run._id}`,
    `- Status: ${run.status}${run.outcome ? ` (${run.outcome})` : ""}`,
    ...(run.project_id ? [`- Project: ${run.project_id}`] : []),
    `- Started by ${line(run.initiated_by.display_name)} at ${run.created_at.toISOString()}`,
    `- Steps done: ${done.size} of ${run.steps.length}`,
    ...section(
      "Success criteria",
      run.success_criteria.map((each) => `- ${line(each)}`),
    ),
    ...section(
      "Steps",
      run.steps.flatMap((step, i) => {
        const { reopened = null, done: said = [] } = words.get(step.step_key) ?? {};
        const progress = run.progress[i] as StepProgress;
        const why = reopened === null || isDone(progress) ? [] : [`Reopened: ${reopened}`];
        return [...stepLines(step, progress, done), ...[...why, ...said].map((each) => `   > ${clip(each)}`)];
      }),
    ),
    ...(run.closed_at ? ["", "## Closed", "", `At ${run.closed_at.toISOString()}.`] : []),
    ...(run.close_note ? ["", quote(run.close_note)] : []),
  ];
  return `${lines.join("\n")}\n`;
}

function stepLines(step: StepDef, progress: StepProgress, done: ReadonlySet<string>): string[] {
  const { status, completion, skipped_at, attested } = progress;
  const waiting = isDone(progress) ? [] : waitingOn(step, done);
  const more = [
    status.replace("_", " "),
    ...(step.role ? [line(step.role)] : []),
    ...(waiting.length ? [`waiting for ${waiting.join(", ")}`] : []),
    ...(completion ? [`by ${completion.actor_id} at ${completion.at.toISOString()}`] : []),
    ...(skipped_at ? [`at ${skipped_at.toISOString()}`] : []),
  ];
  return [
    `${step.ordinal}. [${MARKS[status]}] **${line(step.title)}** (\`${step.step_key}\`): ${more.join("; ")}`,
    ...step.completion_criteria.map(
      ({ key, description }) => `   - [${attested.includes(key) ? "x" : " "}] ${line(description || key)}`,
    ),
  ];
}

function section(title: string, lines: string[]): string[] {
  return lines.length ? ["", `## ${title}`, "", ...lines] : [];
}

/** Puts users' text on one line: a line break in a title must not start a heading. */
function line(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Shortens text: the retrospective has the full length. */
function clip(text: string): string {
  const short = line(text);
  return short.length > SHOWN ? `${short.slice(0, SHOWN - 1)}…` : short;
}

function quote(text: string): string {
  return text
    .split(/\r\n|[\n\r]/)
    .map((each) => `> ${each}`)
    .join("\n");
}
