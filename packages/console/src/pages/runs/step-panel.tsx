import type { Position, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useTask } from "../../data/use-task.ts";
import { STEP_STATUS } from "../../graph/step-graph.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { CheckField } from "../../ui/field.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Who } from "../../ui/who.tsx";
import { Offers } from "./offers.tsx";
import type { Step } from "./step.ts";
import { StepActions } from "./step-actions.tsx";
import "../../styles/choice.css";

interface Props {
  run: RunWithAttempts;
  step: Step;
  position: Position;
  reload(): Promise<void>;
  choose(key: string): void;
  hold(key: string | null): void;
}

const TONE: Record<Step["status"], Tone> = {
  blocked: "neutral",
  ready: "info",
  in_progress: "accent",
  completed: "good",
  skipped: "neutral",
};

/** The selected step: its requirements, attempts and actions. */
export function StepPanel({ run, step, position, reload, choose, hold }: Props) {
  const at = [...position.ready_steps, ...position.blocked_steps].find(
    ({ step_key }) => step_key === step.step_key,
  );
  return (
    <Card
      title={
        <span className="row">
          {step.title}
          <Badge label={STEP_STATUS[step.status].says} tone={TONE[step.status]} />
        </span>
      }
      actions={run.status !== "closed" && <StepActions {...{ run, step, reload, hold }} />}
    >
      <div className="sides with-facts">
        <div className="stack">
          {at?.waiting_on.length ? (
            <p className="muted">
              Waiting for{" "}
              {at.waiting_on.map((key) => (
                <button key={key} type="button" className="link-button" onClick={() => choose(key)}>
                  {run.steps.find((each) => each.step_key === key)?.title ?? key}
                </button>
              ))}
            </p>
          ) : null}
          {step.instructions ? (
            <Markdown>{step.instructions}</Markdown>
          ) : (
            <p className="muted">No instructions.</p>
          )}
          {step.completion_criteria.length > 0 && (
            <Criteria run={run} step={step} reload={reload} keep={() => choose(step.step_key)} />
          )}
          <Offers run={run} step={step} reload={reload} />
          {step.attempts.length > 0 && <Attempts step={step} />}
        </div>
        <About step={step} />
      </div>
    </Card>
  );
}

function Attempts({ step }: { step: Step }) {
  return (
    <section>
      <h3>Attempts</h3>
      <ul className="attempts">
        {step.attempts.map((attempt) => (
          <li key={attempt.id}>
            <strong>
              <Who id={attempt.actor_id} />
            </strong>{" "}
            <span className="muted">
              Started <Time at={attempt.started_at} />
              {attempt.ended_at && (
                <>
                  , {attempt.outcome ?? "ended"} <Time at={attempt.ended_at} />
                </>
              )}
              {attempt.inbound_handoff_id && ", from a handoff"}
            </span>
            {attempt.notes && (
              <p className="as-written" dir="auto">
                {attempt.notes}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function About({ step }: { step: Step }) {
  const { reference_pointer: pointer } = step;
  return (
    <Facts
      of={{
        Key: <code>{step.step_key}</code>,
        Role: step.role,
        "Assigned to": step.assigned_user_id && <Who id={step.assigned_user_id} />,
        Specialist: step.specialist_name,
        "Completed by": step.completion_mode === "attestation" ? "Attestation" : "Accepted handoff",
        "Expected artifacts": step.expected_artifact_kinds.join(", "),
        Reference: pointer && (pointer.display_name ?? pointer.uri ?? pointer.native_id),
        "Reference note": step.reference_note,
      }}
    />
  );
}

interface CriteriaProps {
  run: RunWithAttempts;
  step: Step;
  reload(): Promise<void>;
  /** Keeps the step selected, also when the last criterion completes it. */
  keep(): void;
}

/** The completion criteria of a step. Ticking one attests it; the last one completes the step. */
function Criteria({ run, step, reload, keep }: CriteriaProps) {
  const { completion_criteria: criteria, attested_criteria: attested } = step;
  const left = criteria.length - attested.length;
  const attest = useTask(async (criterion_key: string) => {
    keep();
    const done = await api.runs.completeStep({ run_id: run.id, step_key: step.step_key, criterion_key });
    if (done.run_completed) toast({ title: "All steps are done." });
    else if (left === 1) toast({ title: `Completed: ${step.title}` });
    await reload();
  });
  const isOpen = run.status !== "closed" && (step.status === "ready" || step.status === "in_progress");
  return (
    <fieldset className="criteria-choice">
      <legend>Completion criteria</legend>
      {criteria.map(({ key, description }) => {
        const met = attested.includes(key);
        return (
          <CheckField
            key={key}
            label={description || key}
            checked={met}
            disabled={!isOpen && !met}
            fixed={met || attest.busy}
            onChange={() => attest.run(key)}
          />
        );
      })}
      {isOpen && (
        <p className="field-hint">
          Ticking a criterion records that it is met, in your name. The last one completes the step. Only
          reopening the step undoes it.
        </p>
      )}
    </fieldset>
  );
}
