import { useState } from "react";
import { Link } from "react-router";
import type { MemoriesSearchResult } from "../../../../client/index.ts";
import { Button } from "../../ui/button.tsx";

type Plan = NonNullable<MemoriesSearchResult["plan"]>;

interface Props {
  plan: Plan;
  /** The results: other candidates were only scored. */
  given: ReadonlySet<string>;
}

const PARTS = [
  ["vector", "Meaning"],
  ["bm25", "Words"],
  ["fused", "Content"],
  ["confidence", "Confidence"],
  ["recency", "Recency"],
  ["final", "Score"],
] as const;

/** Further candidates are shown on demand: none of them was close. */
const SHOWN_FIRST = 8;

/** The parts of each candidate's score, results first. */
export function Scores({ plan, given }: Props) {
  const [all, setAll] = useState(false);
  const shown = all ? plan.results : plan.results.slice(0, Math.max(SHOWN_FIRST, given.size));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="table-scroll" aria-label="Candidate scores" tabIndex={0}>
      <table className="scores">
        <thead>
          <tr>
            <th scope="col">Candidate</th>
            {PARTS.map(([part, says]) => (
              <th key={part} scope="col" className="score-cell">
                {says}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((result) => {
            const isGiven = given.has(result.memory_id);
            return (
              <tr key={result.memory_id} className={isGiven ? "" : "not-given"}>
                <th scope="row" className="score-name">
                  <Link to={`/memories/${result.memory_id}`}>{result.title ?? "Deleted memory"}</Link>
                  {!isGiven && <span className="faint"> · not returned</span>}
                </th>
                {PARTS.map(([part]) => (
                  <td key={part} className={`score-cell ${part}`}>
                    <Bar value={result[part]} />
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {shown.length < plan.results.length && (
        <Button
          label={`Show all ${plan.results.length} candidates`}
          small
          kind="quiet"
          onClick={() => setAll(true)}
        />
      )}
    </section>
  );
}

function Bar({ value }: { value: number | null }) {
  if (value === null) return <span className="faint">–</span>;
  return (
    <span className="score-bar">
      <span className="score-fill" style={{ width: `${Math.min(1, Math.max(0, value)) * 100}%` }} />
      <span className="num">{value.toFixed(2)}</span>
    </span>
  );
}
