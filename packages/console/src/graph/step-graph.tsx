import { useMemo } from "react";
import { Check, CircleDashed, CircleDot, CirclePlay, type LucideIcon, SkipForward } from "../ui/icons.tsx";
import { Canvas } from "./canvas.tsx";

type StepStatus = "blocked" | "ready" | "in_progress" | "completed" | "skipped";

/** The part of a template's or run's step that the picture shows. */
interface PicturedStep {
  step_key: string;
  title?: string;
  role?: string | null;
  depends_on?: string[];
  status?: StepStatus;
  attested?: { done: number; of: number };
}

interface Props {
  steps: PicturedStep[];
  selected?: string | null;
  onSelect?: (stepKey: string) => void;
  /** Called when the person draws a dependency: `to` is to depend on `from`. */
  onConnect?: (from: string, to: string) => void;
  /** Called when the person clicks a dependency. */
  onRemove?: (from: string, to: string) => void;
  height?: number;
}

export const STEP_STATUS: Record<StepStatus, { says: string; icon: LucideIcon }> = {
  blocked: { says: "Blocked", icon: CircleDashed },
  ready: { says: "Ready", icon: CircleDot },
  in_progress: { says: "In progress", icon: CirclePlay },
  completed: { says: "Completed", icon: Check },
  skipped: { says: "Skipped", icon: SkipForward },
};

const SIZE = { width: 216, height: 62 };
const isDone = (step: PicturedStep | undefined) => step?.status === "completed" || step?.status === "skipped";

/** The steps of a process and their dependencies. */
export function StepGraph({ steps, selected, onSelect, onConnect, onRemove, height }: Props) {
  const nodes = useMemo(
    () => steps.map((step) => ({ id: step.step_key, label: spoken(step), content: <StepBox step={step} /> })),
    [steps],
  );
  const edges = useMemo(() => edgesOf(steps), [steps]);
  return (
    <Canvas
      label="Steps and dependencies"
      nodes={nodes}
      edges={edges}
      size={SIZE}
      {...{ selected, onSelect, onConnect, onRemove, height }}
    />
  );
}

function edgesOf(steps: PicturedStep[]) {
  const byKey = new Map(steps.map((step) => [step.step_key, step]));
  return steps.flatMap((step) =>
    (step.depends_on ?? [])
      .filter((key) => byKey.has(key))
      .map((key) => ({
        id: `${key} → ${step.step_key}`,
        from: key,
        to: step.step_key,
        tone: isDone(byKey.get(key)) ? ("done" as const) : ("waiting" as const),
      })),
  );
}

function spoken({ step_key, title, status, depends_on }: PicturedStep): string {
  const waits = depends_on?.length ? `, after ${depends_on.join(", ")}` : "";
  return `${title || step_key}${status ? `, ${STEP_STATUS[status].says}` : ""}${waits}`;
}

function StepBox({ step }: { step: PicturedStep }) {
  const { step_key, title, role, status, attested } = step;
  const Icon = status ? STEP_STATUS[status].icon : undefined;
  return (
    <div className={`step-box ${status ?? "plain"}`}>
      {Icon && <Icon size={16} aria-hidden="true" className="step-icon" />}
      <div className="step-words">
        <span className="step-title">{title || step_key}</span>
        <span className="step-line">
          {status ? STEP_STATUS[status].says : step_key}
          {attested && attested.of > 0 && ` · ${attested.done}/${attested.of}`}
          {role && ` · ${role}`}
        </span>
      </div>
    </div>
  );
}
