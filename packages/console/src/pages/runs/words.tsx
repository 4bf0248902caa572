import { Link } from "react-router";
import type { Run, RunAction, RunStep, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { type Loaded, useRead } from "../../data/queries.ts";
import { Paperclip } from "../../ui/icons.tsx";
import { Badge, Time, type Tone, Who } from "../../ui/text.tsx";
import "./runs.css";

const RUN_TONE: Record<Run["status"], Tone> = { active: "info", completed: "good", closed: "neutral" };
const OUTCOME_TONE = { achieved: "good", partially_achieved: "warn", abandoned: "bad" } as const;

export function RunStatus({ run: { status, outcome } }: { run: Pick<Run, "status" | "outcome"> }) {
  return (
    <span className="row">
      <Badge label={capitalised(status)} tone={RUN_TONE[status]} />
      {outcome && <Badge label={capitalised(outcome)} tone={OUTCOME_TONE[outcome]} />}
    </span>
  );
}

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

export interface StepProps {
  run: RunWithAttempts;
  step: Step;
}

/** Loads what was done in a run, in order. */
export function useActions({ id }: RunWithAttempts): Loaded<RunAction[]> {
  const { data, ...loaded } = useRead(api.runs.history, { run_id: id, include: "actions" }, "run", { id });
  return { ...loaded, data: data && (data.actions ?? []) };
}

const DID: Record<RunAction["kind"], { label: string; tone: Tone }> = {
  created: { label: "Created", tone: "neutral" },
  step_started: { label: "Started", tone: "accent" },
  criterion_attested: { label: "Attested", tone: "info" },
  step_completed: { label: "Completed", tone: "good" },
  step_skipped: { label: "Skipped", tone: "warn" },
  step_deadline_passed: { label: "Deadline passed", tone: "warn" },
  step_reopened: { label: "Reopened", tone: "warn" },
  step_assigned: { label: "Assigned", tone: "neutral" },
  handoff_offered: { label: "Handoff offered", tone: "info" },
  handoff_accepted: { label: "Handoff accepted", tone: "good" },
  handoff_declined: { label: "Handoff declined", tone: "warn" },
  closed: { label: "Closed", tone: "neutral" },
};

/** A change and its author, with the words and artifacts that came with it. */
export function Actions({ label, actions }: { label: string; actions: RunAction[] }) {
  return (
    <ol className="framed history" aria-label={label}>
      {actions.map((action) => (
        <li key={`${action.kind} ${action.step_key} ${action.criterion_key} ${action.at} ${action.actor_id}`}>
          <Badge {...DID[action.kind]} />
          <div className="grow">
            <p>
              <strong>{action.title ?? "The run"}</strong>
              {action.criterion_key && <span className="muted">: {action.criterion_key}</span>}{" "}
              <span className="muted small">
                by <Doer action={action} />
                {action.assigned_user_id && (
                  <>
                    {" "}
                    to <Who id={action.assigned_user_id} />
                  </>
                )}
              </span>
            </p>
            {action.notes && (
              <p className="as-written" dir="auto">
                {action.notes}
              </p>
            )}
            {action.artifacts.length > 0 && (
              <p className="row small muted">
                <Paperclip aria-hidden size={14} />
                {action.artifacts.map(({ display_name }) => display_name ?? "Unnamed artifact").join(", ")}
              </p>
            )}
          </div>
          <span className="muted small">
            <Time at={action.at} />
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The author of a change: an event is named by its type, a deadline has no name. */
function Doer({ action: { actor_kind, actor_id, event } }: { action: RunAction }) {
  if (event) return <Link to={`/events/${event.id}`}>{event.type}</Link>;
  return actor_kind === "deadline" ? "its deadline" : <Who id={actor_id} />;
}
