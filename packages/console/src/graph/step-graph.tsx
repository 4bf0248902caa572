import { useEffect, useMemo, useRef, useState } from "react";
import type { RunStep } from "../../../client/index.ts";
import { capitalised, fullTime, relative } from "../data/format.ts";
import { store, stored } from "../data/stored.ts";
import { optionsOf, Segments } from "../ui/field.tsx";
import { Check, CircleDashed, CircleDot, CirclePlay, type LucideIcon, SkipForward } from "../ui/icons.tsx";
import type { Tone } from "../ui/text.tsx";
import { Canvas, type CanvasProps } from "./canvas.tsx";

/** The part of a template's or run's step that the picture shows. */
interface PicturedStep extends Pick<RunStep, "step_key">, Partial<Pick<RunStep, Shown>> {
  attested?: { done: number; of: number };
}
type Shown = "title" | "role" | "depends_on" | "status" | "wait_for" | "waiting_since" | "deadline_at";

interface Props extends Pick<CanvasProps, "selected" | "onSelect" | "onConnect" | "onRemove" | "height"> {
  steps: PicturedStep[];
}

export const STEP_STATUS: Record<RunStep["status"], { icon: LucideIcon; tone: Tone }> = {
  blocked: { icon: CircleDashed, tone: "neutral" },
  ready: { icon: CircleDot, tone: "info" },
  in_progress: { icon: CirclePlay, tone: "accent" },
  completed: { icon: Check, tone: "good" },
  skipped: { icon: SkipForward, tone: "neutral" },
};

const SIZE = { width: 216, height: 62 };
const isDone = (step: PicturedStep | undefined) => step?.status === "completed" || step?.status === "skipped";

const VIEWS = optionsOf(["graph", "list"]);
const KEY = "sensorium.steps";

/** The steps of a process and their dependencies, as a graph or a list; this browser remembers which. */
export function StepGraph(props: Props) {
  const [view, setView] = useState(stored(KEY) === "list" ? "list" : "graph");
  const change = (to: (typeof VIEWS)[number]["value"]) => {
    setView(to);
    store(KEY, to);
  };
  return (
    <div className="stack tight">
      <div className="row end">
        <Segments label="View" value={view} onChange={change} options={VIEWS} />
      </div>
      {view === "list" ? <StepList {...props} /> : <Picture {...props} />}
    </div>
  );
}

function Picture({ steps, selected, onSelect, onConnect, onRemove, height }: Props) {
  const nodes = useMemo(
    () =>
      steps.map((step) => ({
        id: step.step_key,
        label: spoken(step),
        content: (
          <div className={`step-box ${step.status ?? "plain"}`}>
            <StepWords step={step} />
          </div>
        ),
        tone: step.status,
      })),
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

/** In the order of the process: a step comes after those that it depends on. */
function StepList({ steps, selected, onSelect }: Props) {
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selected one must be in sight
  useEffect(() => {
    const row = list.current?.querySelector("[aria-current=true]");
    // Only the list is scrolled: the page stays where it is.
    if (list.current && row) scrollWithin(list.current, row);
  }, [selected]);
  const titles = new Map(steps.map(({ step_key, title }) => [step_key, title || step_key]));
  return (
    <ol ref={list} className="framed step-list" aria-label="Steps">
      {steps.map((step, at) => (
        <li key={step.step_key}>
          <button
            type="button"
            className={`step-row ${step.status ?? ""}`}
            aria-current={step.step_key === selected || undefined}
            onClick={() => onSelect?.(step.step_key)}
          >
            <span className="step-number num small">{at + 1}</span>
            <StepWords step={step} after={step.depends_on?.map((key) => titles.get(key) ?? key)} />
          </button>
        </li>
      ))}
    </ol>
  );
}

function scrollWithin(list: Element, row: Element): void {
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
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

function spoken(step: PicturedStep): string {
  const { step_key, title, status, depends_on } = step;
  const waits = depends_on?.length ? `, after ${depends_on.join(", ")}` : "";
  return `${title || step_key}${status ? `, ${stateOf(step)}` : ""}${waits}`;
}

/** Returns the step's state in words: what it waits for if it does, and the time left until its deadline. */
function stateOf({ status, wait_for, waiting_since, deadline_at }: PicturedStep): string {
  const event = wait_for && (!status || waiting_since) ? wait_for.event_type : undefined;
  const state = event ? `Waits for ${event}` : status && capitalised(status);
  const since = event && waiting_since ? `since ${relative(waiting_since)}` : "";
  const left = deadline_at ? ` · deadline ${relative(deadline_at)}` : "";
  return `${[state, since].filter(Boolean).join(" ")}${left}`;
}

/** The exact times of what `stateOf` says in relative ones. */
const timesOf = ({ waiting_since, deadline_at }: PicturedStep): string | undefined =>
  [
    waiting_since && `Waits since ${fullTime(waiting_since)}`,
    deadline_at && `Deadline ${fullTime(deadline_at)}`,
  ]
    .filter(Boolean)
    .join("\n") || undefined;

function StepWords({ step, after = [] }: { step: PicturedStep; after?: string[] | undefined }) {
  const { step_key, title, role, status, attested } = step;
  const Icon = status ? STEP_STATUS[status].icon : undefined;
  return (
    <>
      {Icon && <Icon size={16} aria-hidden="true" className="step-icon" />}
      <span className="step-words">
        <span className="step-title" title={title || step_key}>
          {title || step_key}
        </span>
        <span className="step-line" title={timesOf(step)}>
          {status || step.wait_for ? stateOf(step) : step_key}
          {attested && attested.of > 0 && ` · ${attested.done}/${attested.of}`}
          {role && ` · ${role}`}
          {after.length > 0 && ` · after ${after.join(", ")}`}
        </span>
      </span>
    </>
  );
}
