import { useState } from "react";
import { useParams } from "react-router";
import type { Position, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { nameIs } from "../../data/names.ts";
import { useAddress } from "../../data/use-address.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { StepGraph } from "../../graph/step-graph.tsx";
import { ArrowRight, Clock } from "../../ui/icons.tsx";
import { Card, Empty, Facts, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Time } from "../../ui/text.tsx";
import { Artifacts } from "./artifacts.tsx";
import { CloseRun } from "./close.tsx";
import { History, Retrospective, StatusDocument } from "./records.tsx";
import { StepPanel } from "./step-panel.tsx";
import { RunStatus, Steps } from "./words.tsx";
import "./runs.css";

/** One run: its position, next actions and history. */
export function RunPage() {
  const { id = "" } = useParams();
  const loaded = useFollowed(
    "run",
    async (signal) => {
      const [run, position] = await Promise.all([
        api.runs.get({ run_id: id }, { signal }),
        api.runs.position({ run_id: id }, { signal }),
      ]);
      nameIs(run.initiated_by.id, run.initiated_by.display_name);
      return { run, position };
    },
    [id],
    { id },
  );
  const run = loaded.data?.run;
  return (
    <Page
      title={run?.goal ?? "Run"}
      above={[{ to: "/runs", label: "Runs" }]}
      state={run && <RunStatus run={run} />}
      actions={run && run.status !== "closed" && <CloseRun run={run} reload={loaded.reload} />}
    >
      <Load of={loaded} lines={10}>
        {(data) => <Parts {...data} reload={loaded.reload} />}
      </Load>
    </Page>
  );
}

interface Props {
  run: RunWithAttempts;
  position: Position;
  reload(): Promise<void>;
}

function Parts({ run, position, reload }: Props) {
  const closed = run.status === "closed";
  // Data loaded for an older version of the run must not be shown after a change.
  const version = run.updated_at;
  return (
    <Tabs
      label="Run"
      tabs={[
        { key: "steps", label: "Steps", content: <Work run={run} position={position} reload={reload} /> },
        { key: "history", label: "History", content: <History key={version} run={run} /> },
        { key: "evidence", label: "Evidence", content: <Artifacts key={version} run={run} /> },
        { key: "document", label: "Status document", content: <StatusDocument key={version} run={run} /> },
        ...(closed
          ? [{ key: "retrospective", label: "Retrospective", content: <Retrospective run={run} /> }]
          : []),
        { key: "about", label: "About", content: <About run={run} /> },
      ]}
    />
  );
}

function Work({ run, position, reload }: Props) {
  const first =
    position.my_next?.step_key ?? position.ready_steps[0]?.step_key ?? run.steps[0]?.step_key ?? null;
  const [search, change] = useAddress();
  const choose = (key: string) => change({ step: key }, { replace: true });
  const named = (key: string | null) => run.steps.find(({ step_key }) => step_key === key);
  // Others' work changes which step comes first, but must not change the step that the person is writing about.
  const [held, hold] = useState<string | null>(null);
  const step = named(search.get("step")) ?? named(held) ?? named(first);
  if (run.steps.length === 0) {
    return (
      <Empty icon={ArrowRight} title="No steps">
        This run records only a goal and an outcome. Close it when the goal is reached.
      </Empty>
    );
  }
  const pictured = run.steps.map((each) => ({
    ...each,
    attested: { done: each.attested_criteria.length, of: each.completion_criteria.length },
  }));
  return (
    <div className="stack">
      <Next run={run} position={position} choose={choose} />
      <StepGraph steps={pictured} selected={step?.step_key ?? null} onSelect={choose} />
      {step && (
        <StepPanel
          key={step.step_key}
          run={run}
          step={step}
          position={position}
          reload={reload}
          choose={choose}
          hold={hold}
        />
      )}
    </div>
  );
}

function Next({ run, position, choose }: Omit<Props, "reload"> & { choose(key: string): void }) {
  const { my_next, stale_steps } = position;
  return (
    <div className="run-next">
      <Steps steps={run.steps} />
      {run.status === "active" && my_next && (
        <button type="button" className="next-step" onClick={() => choose(my_next.step_key)}>
          <ArrowRight aria-hidden size={16} />
          <span>
            Your next step: <strong>{my_next.title}</strong>
            {my_next.why_ready && <span className="muted"> · {my_next.why_ready}</span>}
          </span>
        </button>
      )}
      {run.status === "completed" && (
        <span className="muted">All steps are done. Close the run to record its outcome.</span>
      )}
      {stale_steps.map((step) => (
        <button
          key={step.step_key}
          type="button"
          className="next-step stale"
          onClick={() => choose(step.step_key)}
        >
          <Clock aria-hidden size={16} />
          <span>
            <strong>{step.title}</strong> is stale: {step.stale_reason}
          </span>
        </button>
      ))}
    </div>
  );
}

function About({ run }: { run: RunWithAttempts }) {
  return (
    <Card>
      <Facts
        of={{
          "Created by": run.initiated_by.display_name,
          Created: <Time at={run.created_at} />,
          Project: run.project_id,
          "Success criteria": run.success_criteria.length > 0 && (
            <ul className="plain-list">
              {run.success_criteria.map((criterion) => (
                <li key={criterion}>{criterion}</li>
              ))}
            </ul>
          ),
          Ambiguity: run.ambiguity_score,
          ...Object.fromEntries(
            run.ambiguity_notes.map(({ dimension, score, status, note }) => [
              dimension,
              [score, status, note].filter((part) => part != null).join(" · "),
            ]),
          ),
          Closed: run.closed_at && (
            <>
              <Time at={run.closed_at} />
              {run.close_note && ` · ${run.close_note}`}
            </>
          ),
          ID: <Id>{run.id}</Id>,
        }}
      />
    </Card>
  );
}
