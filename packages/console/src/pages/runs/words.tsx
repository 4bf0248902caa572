import type { Run, RunStep, RunWithAttempts } from "../../../../client/index.ts";
import { capitalised } from "../../data/format.ts";
import { Badge, type Tone } from "../../ui/text.tsx";

const RUN_TONE: Record<Run["status"], Tone> = { active: "info", completed: "good", closed: "neutral" };
const OUTCOME: Record<NonNullable<Run["outcome"]>, { tone: Tone; says: string }> = {
  achieved: { tone: "good", says: "Achieved" },
  partially_achieved: { tone: "warn", says: "Partially achieved" },
  abandoned: { tone: "bad", says: "Abandoned" },
};

export function RunStatus({ run }: { run: Pick<Run, "status" | "outcome"> }) {
  const outcome = run.outcome && OUTCOME[run.outcome];
  return (
    <span className="row">
      <Badge label={capitalised(run.status)} tone={RUN_TONE[run.status]} />
      {outcome && <Badge label={outcome.says} tone={outcome.tone} />}
    </span>
  );
}

/** The number of completed steps, with a progress bar. */
export function Steps({ steps }: { steps: RunStep[] }) {
  const done = steps.filter(({ status }) => status === "completed" || status === "skipped").length;
  if (steps.length === 0) return <span className="faint">None</span>;
  return (
    <span className="run-steps">
      <progress value={done} max={steps.length} aria-label={`${done} of ${steps.length} steps done`} />
      <span className="num muted small">
        {done}/{steps.length}
      </span>
    </span>
  );
}

export type Step = RunWithAttempts["steps"][number];

/** What the parts of a step's panel work on. */
export interface StepProps {
  run: RunWithAttempts;
  step: Step;
  reload(): Promise<void>;
}
