import type { MemoriesSearchResult } from "../../../../client/index.ts";
import { number, plural } from "../../data/format.ts";

type Plan = NonNullable<MemoriesSearchResult["plan"]>;

/** The effect of each stage of a search. */
const STAGES: Record<string, { title: string; keeps: string }> = {
  match: { title: "Matched", keeps: "share words or meaning with the query" },
  candidates: { title: "Ranked", keeps: "close enough to be ranked" },
  floor: { title: "Above threshold", keeps: "scored high enough" },
  limit: { title: "Returned", keeps: "within the requested limit" },
};

/** A search as a funnel: from all that the caller may see to the results, with the candidates of each leg. */
export function Funnel({ plan }: { plan: Plan }) {
  const most = Math.max(1, ...plan.funnel.map((stage) => stage.in));
  const seen = plan.funnel[0]?.in ?? 0;
  return (
    <div className="funnel">
      <ol className="funnel-stages">
        <li className="funnel-stage">
          <Words title="Visible" keeps="memories that you can read and that pass the filters" />
          <Neck from={seen} to={seen} most={most} />
          <span className="funnel-count num">{number(seen)}</span>
        </li>
        {plan.funnel.map((stage) => (
          <li className="funnel-stage" key={stage.stage}>
            <Words
              title={STAGES[stage.stage]?.title ?? stage.stage}
              keeps={STAGES[stage.stage]?.keeps ?? ""}
            />
            <Neck from={stage.in} to={stage.out} most={most} />
            <span className="funnel-count num">
              {number(stage.out)}
              {stage.out < stage.in && <span className="funnel-lost">−{number(stage.in - stage.out)}</span>}
            </span>
          </li>
        ))}
      </ol>
      <ul className="funnel-legs">
        {plan.legs.map((leg) => (
          <li key={leg.name}>
            <span className="leg-name">{leg.name}</span> {plural(leg.candidates, "candidate")} in{" "}
            {leg.ms.toFixed(1)} ms
          </li>
        ))}
      </ul>
    </div>
  );
}

function Words({ title, keeps }: { title: string; keeps: string }) {
  return (
    <div className="funnel-words">
      <span className="funnel-title">{title}</span>
      <span className="funnel-keeps">{keeps}</span>
    </div>
  );
}

/** Counts differ by powers of ten, so their logarithms are drawn; any count above 0 remains visible. */
function Neck({ from, to, most }: { from: number; to: number; most: number }) {
  const width = (count: number) => (count === 0 ? 0 : 6 + (94 * Math.log1p(count)) / Math.log1p(most));
  const [top, bottom] = [width(from) / 2, width(to) / 2];
  return (
    <svg className="funnel-neck" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`${50 - top},0 ${50 + top},0 ${50 + bottom},10 ${50 - bottom},10`} />
    </svg>
  );
}
