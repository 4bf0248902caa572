import { History as HistoryIcon } from "lucide-react";
import type { RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { duration } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { STEP_STATUS } from "../../graph/step-graph.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { Load, Table } from "../../ui/table.tsx";
import { Copy, Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";

type Props = { run: RunWithAttempts };

/** The completed steps, in order of completion. */
export function History({ run }: Props) {
  const history = useLoad((signal) => api.runs.history({ run_id: run.id }, { signal }), [run.id]);
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

/** The time of each step, and what completed it. */
export function Retrospective({ run }: Props) {
  const loaded = useLoad((signal) => api.runs.retrospective({ run_id: run.id }, { signal }), [run.id]);
  return (
    <Load of={loaded}>
      {({ items }) => (
        <Table
          label="Retrospective"
          rows={items}
          keyOf={(item) => item.step_key}
          columns={[
            { name: "Step", cell: (item) => <strong>{item.title}</strong> },
            { name: "Status", cell: (item) => STEP_STATUS[item.status].says },
            {
              name: "What was done",
              cell: (item) => item.what_makes_this_done ?? <span className="faint">Not stated</span>,
            },
            { name: "Ready to done", cell: (item) => time(item.elapsed_seconds), end: true },
            { name: "Active time", cell: (item) => time(item.active_seconds), end: true },
          ]}
        />
      )}
    </Load>
  );
}

export function StatusDocument({ run }: Props) {
  const loaded = useLoad((signal) => api.runs.statusDocument({ run_id: run.id }, { signal }), [run.id]);
  return (
    <Load of={loaded} lines={8}>
      {(text) => (
        <Card title="Status document" actions={<Copy text={text} label="Copy as Markdown" />}>
          <Markdown title={run.goal}>{text}</Markdown>
        </Card>
      )}
    </Load>
  );
}
