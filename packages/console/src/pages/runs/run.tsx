import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import type {
  Position,
  RunArtifact,
  RunsRetrospectiveResult,
  RunWithAttempts,
} from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, capitalised, duration, filled } from "../../data/format.ts";
import { nameIs, useNames } from "../../data/names.ts";
import { useFollowed, useList, useRead } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { StepGraph } from "../../graph/step-graph.tsx";
import { DialogButton } from "../../ui/button.tsx";
import { optionsOf } from "../../ui/field.tsx";
import { area, select, useForm } from "../../ui/form.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { ArrowRight, Clock, Flag, Paperclip } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty, FactsCard } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, Load, Table, wideColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useSaving } from "../../ui/task.tsx";
import { Copy, Id, Time } from "../../ui/text.tsx";
import { StepPanel } from "./step-panel.tsx";
import { TimeAxis } from "./time-axis.tsx";
import { Actions, RunStatus, Steps, useActions } from "./words.tsx";
import "./runs.css";

export function RunPage() {
  const { id = "" } = useParams();
  const cache = useQueryClient();
  const loaded = useFollowed(
    "run",
    async (signal) => {
      const [run, position] = await Promise.all([
        api.runs.get({ run_id: id }, { signal }),
        api.runs.position({ run_id: id }, { signal }),
      ]);
      nameIs(cache, run.initiated_by.id, { name: run.initiated_by.display_name });
      return { run, position };
    },
    [id],
    { id },
  );
  return (
    <DetailPage
      of={loaded}
      kind="Run"
      above={{ "/runs": "Runs" }}
      titleOf={({ run }) => run.goal}
      stateOf={({ run }) => <RunStatus run={run} />}
      actionsOf={({ run }) =>
        run.status !== "closed" && (
          <DialogButton
            label="Close run"
            kind={run.status === "completed" ? "primary" : "plain"}
            icon={Flag}
            dialog={(onClose) => <CloseDialog run={run} onClose={onClose} />}
          />
        )
      }
      lines={10}
    >
      {(data) => <Parts {...data} />}
    </DetailPage>
  );
}

interface PartsProps {
  run: RunWithAttempts;
  position: Position;
}

function Parts({ run, position }: PartsProps) {
  const closed = run.status === "closed";
  // Data loaded for an older version of the run must not be shown after a change.
  const version = run.updated_at;
  return (
    <Tabs
      label="Run"
      tabs={[
        { key: "steps", label: "Steps", content: <Work run={run} position={position} /> },
        { key: "history", label: "History", content: <History key={version} run={run} /> },
        { key: "evidence", label: "Evidence", content: <Artifacts key={version} run={run} /> },
        { key: "document", label: "Status document", content: <StatusDocument key={version} run={run} /> },
        ...(closed
          ? [{ key: "retrospective", label: "Retrospective", content: <Retrospective run={run} /> }]
          : []),
        {
          key: "about",
          label: "About",
          content: (
            <FactsCard
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
          ),
        },
      ]}
    />
  );
}

function Work({ run, position }: PartsProps) {
  const first =
    position.my_next?.step_key ?? position.ready_steps[0]?.step_key ?? run.steps[0]?.step_key ?? null;
  const history = useActions(run);
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
      {history.data && (
        <TimeAxis run={run} actions={history.data} selected={step?.step_key} choose={choose} />
      )}
      {step && (
        <StepPanel
          key={step.step_key}
          run={run}
          step={step}
          position={position}
          history={history}
          choose={choose}
          hold={hold}
        />
      )}
    </div>
  );
}

function Next({ run, position, choose }: PartsProps & { choose(key: string): void }) {
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

const ARTIFACT_COLUMNS: Column<RunArtifact>[] = [
  column("Artifact", ({ pointer }) => (
    <strong>{pointer.display_name ?? pointer.uri ?? pointer.native_id ?? "Unnamed"}</strong>
  )),
  column("Kind", ({ kind }) => kind),
  wideColumn("Location", ({ pointer }) => [pointer.provider, pointer.uri].filter(Boolean).join(" · ") || "–"),
  endColumn("Size", ({ byte_size }) => (byte_size === null ? "–" : bytes(byte_size))),
  wideColumn("SHA-256", ({ content_hash }) =>
    content_hash ? <code title={content_hash}>{content_hash.slice(0, 12)}…</code> : "Not stored",
  ),
  endColumn("Registered", ({ created_at }) => <Time at={created_at} />),
];

function Artifacts({ run }: { run: RunWithAttempts }) {
  const pages = useList(api.runs.listArtifacts, { run_id: run.id }, undefined, "run");
  return (
    <List
      pages={pages}
      label="Artifacts"
      columns={ARTIFACT_COLUMNS}
      empty={
        <Empty icon={Paperclip} title="No evidence yet">
          Attach a file when you complete a step. Agents register artifacts with{" "}
          <code>POST /v1/runs/{"{id}"}/artifacts</code>.
        </Empty>
      }
    />
  );
}

const CLOSING = {
  outcome: select("Outcome", optionsOf(["achieved", "partially_achieved", "abandoned"])),
  note: area("Note", { hint: "The result. Optional." }),
};

function CloseDialog({ run, onClose }: SavingProps & { run: RunWithAttempts }) {
  const form = useForm(CLOSING, { outcome: run.status === "completed" ? "achieved" : "abandoned" });
  const open = run.steps.filter(({ status }) => status !== "completed" && status !== "skipped").length;
  const close = useSaving(onClose, async () => {
    await api.runs.close({ run_id: run.id, ...filled(form.values()) });
    return "Run closed. Its retrospective is available.";
  });
  return (
    <FormDialog title="Close this run?" submit="Close run" onClose={onClose} task={close}>
      <p className="muted">
        A closed run cannot be changed or reopened.
        {open > 0 && ` Steps not done: ${open} of ${run.steps.length}.`}
      </p>
      {form.rows()}
    </FormDialog>
  );
}

type RecordProps = { run: RunWithAttempts };

function History({ run }: RecordProps) {
  const history = useActions(run);
  return <Load of={history}>{(actions) => <Actions label="History" actions={actions.toReversed()} />}</Load>;
}

const time = (seconds: number | null) => (seconds === null ? "–" : duration(seconds));

const RETROSPECTIVE_COLUMNS: Column<RunsRetrospectiveResult["items"][number]>[] = [
  column("Step", (item) => <strong>{item.title}</strong>),
  column("Status", (item) => capitalised(item.status)),
  column("What was done", (item) => item.what_makes_this_done ?? <span className="faint">Not stated</span>),
  endColumn("Ready to done", (item) => time(item.elapsed_seconds)),
  endColumn("Active time", (item) => time(item.active_seconds)),
];

function Retrospective({ run }: RecordProps) {
  return (
    <Load of={useRead(api.runs.retrospective, { run_id: run.id }, "run", { id: run.id })}>
      {({ items }) => <Table label="Retrospective" rows={items} columns={RETROSPECTIVE_COLUMNS} />}
    </Load>
  );
}

/** The author of a change is an id in the document, which is the same for all readers. */
const ACTOR = /(?<=; by )(usr|ag)_[\w-]+/g;

function StatusDocument({ run }: RecordProps) {
  const loaded = useRead(api.runs.statusDocument, { run_id: run.id }, "run", { id: run.id });
  const nameOf = useNames([...new Set(loaded.data?.match(ACTOR))]);
  return (
    <Load of={loaded} lines={8}>
      {(text) => (
        <Card title="Status document" actions={<Copy text={text} label="Copy as Markdown" />}>
          <Markdown title={run.goal}>{text.replace(ACTOR, nameOf)}</Markdown>
        </Card>
      )}
    </Load>
  );
}
