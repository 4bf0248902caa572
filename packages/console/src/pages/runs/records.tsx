import type { RunsRetrospectiveResult, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { duration } from "../../data/format.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useNames } from "../../data/use-names.ts";
import { STEP_STATUS } from "../../graph/step-graph.tsx";
import { History as HistoryIcon } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, Load, Table } from "../../ui/table.tsx";
import { Copy, Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";

type Props = { run: RunWithAttempts };

/** Loads a part of a run, and again as the run changes. */
function useOfRun<T>({ id }: RunWithAttempts, load: (run_id: string, signal: AbortSignal) => Promise<T>) {
  return useFollowed("run", (signal) => load(id, signal), [id], { id });
}

/** The completed steps, in order of completion. */
export function History({ run }: Props) {
  const history = useOfRun(run, (run_id, signal) => api.runs.history({ run_id }, { signal }));
  return (
    <Load of={history}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon={HistoryIcon} title="No completed steps yet">
            Completed steps appear here with their actor, time and artifacts.
          </Empty>
        ) : (
          <ol className="framed history" aria-label="Completed steps">
            {items.map((item) => (
              <li key={`${item.step_key} ${item.at}`}>
                <span className="history-dot" aria-hidden="true" />
                <div className="grow">
                  <strong>{item.title}</strong>
                  <p className="muted small">
                    <Who id={item.actor_id} />
                    {item.role && ` as ${item.role}`}
                    {item.handoff_offer_id && ", by handoff"}
                    {item.artifacts.length > 0 &&
                      ` · ${item.artifacts.map(({ display_name }) => display_name ?? "unnamed artifact").join(", ")}`}
                  </p>
                </div>
                <span className="muted small">
                  <Time at={item.at} />
                </span>
              </li>
            ))}
          </ol>
        )
      }
    </Load>
  );
}

const time = (seconds: number | null) => (seconds === null ? "–" : duration(seconds));

const COLUMNS: Column<RunsRetrospectiveResult["items"][number]>[] = [
  column("Step", (item) => <strong>{item.title}</strong>),
  column("Status", (item) => STEP_STATUS[item.status].says),
  column("What was done", (item) => item.what_makes_this_done ?? <span className="faint">Not stated</span>),
  endColumn("Ready to done", (item) => time(item.elapsed_seconds)),
  endColumn("Active time", (item) => time(item.active_seconds)),
];

/** The time of each step, and what completed it. */
export function Retrospective({ run }: Props) {
  const loaded = useOfRun(run, (run_id, signal) => api.runs.retrospective({ run_id }, { signal }));
  return (
    <Load of={loaded}>
      {({ items }) => (
        <Table label="Retrospective" rows={items} keyOf={(item) => item.step_key} columns={COLUMNS} />
      )}
    </Load>
  );
}

/** Who did what is an id in the document, which is the same for all readers. */
const ACTOR = /(?<=; by )(usr|ag)_[\w-]+/g;

export function StatusDocument({ run }: Props) {
  const nameOf = useNames();
  const loaded = useOfRun(run, (run_id, signal) => api.runs.statusDocument({ run_id }, { signal }));
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
