import { useState } from "react";
import { Link } from "react-router";
import type { MemoriesSearchResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, listed, number, plural } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button } from "../../ui/button.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { anyOf } from "../../ui/field.tsx";
import { AgentFilter, CheckFilter, SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { SearchX, TriangleAlert } from "../../ui/icons.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { Hits, SearchLine } from "../../ui/search.tsx";
import { Load } from "../../ui/table.tsx";
import { Time, Who } from "../../ui/text.tsx";
import { metadataIn } from "./metadata.ts";
import { MetadataChips, MetadataFilterField } from "./metadata-filter.tsx";
import { findMemories, SCOPES, ScopeBadge, StatusBadge, Tags, TYPES } from "./words.tsx";

export type MemoryFilters = ReturnType<typeof filtersOf>;

/** Reads the filters from the address, so that a search can be linked and revisited. */
export function filtersOf(search: URLSearchParams) {
  const one = <T extends string>(name: string, values: readonly T[]) =>
    values.find((value) => value === search.get(name));
  return {
    q: search.get("q") ?? "",
    type: one("type", TYPES),
    metadata: metadataIn(search.get("metadata") ?? ""),
    neverCited: search.get("never_cited") === "1",
    explain: search.get("explain") !== "0",
    /** Of the list and the search alike. */
    params: filled({
      scope: one("scope", SCOPES),
      agent_id: search.get("agent"),
      project_id: search.get("project"),
      subject: search.get("subject"),
      tags: listed(search.get("tags") ?? ""),
      as_of: search.get("as_of"),
      include_superseded: search.get("superseded") === "1",
    }),
  };
}

export function Filters() {
  const { q } = filtersOf(useAddress()[0]);
  return (
    <div className="memory-search">
      <SearchLine label="Search memories" placeholder="Search by question, words or meaning" />
      <div className="filter-line">
        <FilterFields />
        <MetadataFilterField />
        {q ? (
          <CheckFilter name="explain" label="Explain" off="0" />
        ) : (
          <CheckFilter name="never_cited" label="Never cited" />
        )}
      </div>
      <MetadataChips />
    </div>
  );
}

/** Filters of the list, the search and the map. */
export function FilterFields() {
  return (
    <>
      <SelectFilter name="type" label="Type" options={anyOf("All types", TYPES)} />
      <SelectFilter name="scope" label="Scope" options={anyOf("All scopes", SCOPES)} />
      <AgentFilter name="agent" label="Owner" none="All owners" />
      <TextFilter name="project" label="Project" placeholder="Key" />
      <TextFilter name="subject" label="Subject" placeholder="customer-42" />
      <TextFilter name="tags" label="Tags" placeholder="Any of: a, b" />
      <TextFilter name="as_of" label="As of" type="date" />
      <CheckFilter name="superseded" label="Include superseded" />
    </>
  );
}

export function Found({ filters }: { filters: MemoryFilters }) {
  const [expect, setExpect] = useState("");
  return (
    <Load of={useRead(api.memories.search, paramsOf(filters, expect), [], { name: "found" })} lines={8}>
      {(answer) => (
        <div className={answer.plan ? "sides" : "stack"}>
          <div className="stack">
            {answer.degraded && (
              <p className="notice warn">
                <TriangleAlert aria-hidden size={16} /> Partial results: {answer.degraded_reasons.join("; ")}
              </p>
            )}
            {answer.results.length === 0 ? (
              <Empty icon={SearchX} title="No matching memories">
                Try other words or fewer filters, or look up a missing memory in the explanation.
              </Empty>
            ) : (
              <Hits
                label="Results"
                hits={answer.results.map(({ memory, score, sources, superseded }) => ({
                  key: memory.id,
                  to: `/memories/${memory.id}`,
                  title: memory.title,
                  text: <Plain>{memory.content}</Plain>,
                  score,
                  why: Object.entries(sources)
                    .map(([leg, value]) => `${leg} ${value}`)
                    .join(" · "),
                  facts: (
                    <>
                      <ScopeBadge scope={memory.scope} />
                      {superseded && <StatusBadge memory={memory} />}
                      <span>{capitalised(memory.type)}</span>
                      <Who id={memory.agent_id ?? memory.user_id ?? ""} />
                      <Time at={memory.created_at} />
                      <Tags tags={memory.tags} />
                    </>
                  ),
                }))}
              />
            )}
          </div>
          {answer.plan && (
            <Explained
              plan={answer.plan}
              given={new Set(answer.results.map(({ memory }) => memory.id))}
              onExpect={setExpect}
            />
          )}
        </div>
      )}
    </Load>
  );
}

function paramsOf({ q, type, metadata, explain, params }: MemoryFilters, expect: string) {
  const further = {
    memory_types: type && [type],
    metadata: Object.keys(metadata).length > 0 && metadata,
    expect: explain && expect,
  };
  return { query: q, limit: 20, explain, ...params, ...filled(further) };
}

interface ExplainedProps {
  plan: Plan;
  /** The results: other candidates were only scored. */
  given: ReadonlySet<string>;
  onExpect(id: string): void;
}

function Explained({ plan, given, onExpect }: ExplainedProps) {
  const [memory, setMemory] = useState<Choice | null>(null);
  const choose = (choice: Choice | null) => {
    setMemory(choice);
    onExpect(choice?.id ?? "");
  };
  const most = Math.max(1, ...plan.funnel.map((stage) => stage.in));
  const seen = plan.funnel[0]?.in ?? 0;
  const stages = [{ stage: "visible", in: seen, out: seen }, ...plan.funnel];
  return (
    <div className="stack explanation">
      <Card title="Search stages">
        <div className="funnel">
          <ol className="funnel-stages">
            {stages.map(({ stage, in: from, out }) => (
              <li className="funnel-stage" key={stage}>
                <div className="funnel-words">
                  <span className="funnel-title">{STAGES[stage]?.title ?? stage}</span>
                  <span className="funnel-keeps">{STAGES[stage]?.keeps}</span>
                </div>
                <Neck from={from} to={out} most={most} />
                <span className="funnel-count num">
                  {number(out)}
                  {out < from && <span className="funnel-lost">−{number(from - out)}</span>}
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
      </Card>
      {plan.results.length > 0 && (
        <Card title="Scores">
          <Scores plan={plan} given={given} />
        </Card>
      )}
      <Card title="Missing memory">
        <div className="stack tight">
          <Combo
            label="Expected memory"
            value={memory}
            onChange={choose}
            find={findMemories}
            none="Search by title or content"
          />
          {plan.expect && (
            <p role="status">
              <strong>{plan.expect.found ? "Found." : `Dropped at “${plan.expect.stage}”.`}</strong>{" "}
              {plan.expect.reason}
            </p>
          )}
        </div>
      </Card>
    </div>
  );
}

type Plan = NonNullable<MemoriesSearchResult["plan"]>;

/** The effect of each stage of a search. */
const STAGES: Record<string, { title: string; keeps: string }> = {
  visible: { title: "Visible", keeps: "memories that you can read and that pass the filters" },
  match: { title: "Matched", keeps: "share words or meaning with the query" },
  candidates: { title: "Ranked", keeps: "close enough to be ranked" },
  floor: { title: "Above threshold", keeps: "scored high enough" },
  limit: { title: "Returned", keeps: "within the requested limit" },
  relationships: { title: "Related", keeps: "and what relationships lead to" },
};

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
function Scores({ plan, given }: Omit<ExplainedProps, "onExpect">) {
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
