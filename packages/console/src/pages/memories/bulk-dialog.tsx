import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { plural } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Load } from "../../ui/table.tsx";
import { type Decision, decideAll, isExact, type Outcome, type Pair } from "./bulk.ts";

interface Props {
  decision: Decision;
  /** Returns the proposals to decide. */
  find(signal: AbortSignal): Promise<Pair[]>;
  onClose(): void;
}

/** Decides many proposals: what will happen, the progress, and the outcome of each. */
export function BulkDialog({ decision, find, onClose }: Props) {
  const found = useLoad(find, []);
  const [outcomes, setOutcomes] = useState<Outcome[]>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const pairs = found.data ?? [];
  const left = pairs.length - (outcomes?.length ?? 0);
  const isRunning = outcomes !== undefined && left > 0;
  const run = async () => {
    running.current = new AbortController();
    setOutcomes([]);
    for await (const outcome of decideAll(pairs, decision, running.current.signal))
      setOutcomes((before = []) => [...before, outcome]);
  };
  const count = plural(pairs.length, "pair");
  const verb = decision === "merge" ? "Merge" : "Reject";
  const footer =
    outcomes === undefined ? (
      <>
        <Button label="Cancel" onClick={onClose} />
        <Button
          label={pairs.length === 0 ? verb : `${verb} ${count}`}
          kind="primary"
          disabled={pairs.length === 0}
          onClick={run}
        />
      </>
    ) : (
      <Button label={isRunning ? "Stop" : "Done"} kind={isRunning ? "plain" : "primary"} onClick={onClose} />
    );
  return (
    <Dialog title={`${verb} pairs of memories`} onClose={onClose} footer={footer}>
      <Load of={found} lines={3}>
        {() => (
          <div className="stack tight">
            {outcomes === undefined ? (
              <Consequences decision={decision} pairs={pairs} />
            ) : (
              <>
                <progress value={outcomes.length} max={pairs.length} aria-label="Decided" />
                <Outcomes decision={decision} outcomes={outcomes} of={pairs.length} />
              </>
            )}
          </div>
        )}
      </Load>
    </Dialog>
  );
}

function Consequences({ decision, pairs }: { decision: Decision; pairs: Pair[] }) {
  const different = pairs.filter((pair) => !isExact(pair)).length;
  if (pairs.length === 0)
    return <p className="muted">No open proposal has two memories with the same text.</p>;
  if (decision === "reject")
    return <p className="muted">All memories stay as they are. These pairs are not proposed again.</p>;
  return (
    <>
      <p className="muted">
        Of each pair the memory with the wider scope is kept, else the newer one. The other is retired and
        stays in the lineage. This cannot be undone.
      </p>
      {different > 0 ? (
        <p className="notice warn">
          {different} of {pairs.length} differ in their text. What only the retired memory says is no longer
          found: open a pair to combine both.
        </p>
      ) : (
        <p className="muted">The memories of each pair have the same title and content.</p>
      )}
    </>
  );
}

/** Counts what went well, and lists what did not. */
function Outcomes({ decision, outcomes, of }: { decision: Decision; outcomes: Outcome[]; of: number }) {
  const problems = outcomes.filter(({ problem }) => problem !== undefined);
  const done = outcomes.length - problems.length;
  return (
    <>
      <p role="status">
        {decision === "merge" ? "Merged" : "Rejected"} {done} of {of}.
        {problems.length > 0 && ` ${problems.length} failed:`}
      </p>
      {problems.length > 0 && (
        <ul className="framed" aria-label="Failed">
          {problems.map(({ pair, problem }) => (
            <li key={pair.id}>
              <Link to={`/memories/merges/${pair.id}`}>
                {pair.a?.title ?? pair.b?.title ?? "Not readable"}
              </Link>
              <p className="muted small">{problem}</p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
