import { useMemo } from "react";
import { plural } from "../data/format.ts";
import { type DiffRow, diffRows } from "./diff-rows.ts";
import "./diff.css";

/** Unchanged lines shown around a change. */
const CONTEXT_LINES = 3;

/** The changes from one text to another, line by line. */
export function Diff({ before, after }: { before: string; after: string }) {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  if (!rows) return <p className="muted">The texts differ too much to compare line by line.</p>;
  if (rows.every((row) => row.kind === "same")) return <p className="muted">No differences.</p>;
  const count = (kind: DiffRow["kind"]) => rows.filter((row) => row.kind === kind).length;
  return (
    <figure className="diff">
      <figcaption className="diff-head">
        <span className="diff-plus">+{plural(count("added"), "line")}</span>
        <span className="diff-minus">−{plural(count("removed"), "line")}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="diff-body" aria-label="Changed lines" tabIndex={0}>
        {hunks(rows).map((hunk) => (
          <div key={`${hunk[0]?.before}/${hunk[0]?.after}`} className="diff-hunk">
            {hunk.map((row) => (
              <Row key={`${row.before}/${row.after}`} row={row} />
            ))}
          </div>
        ))}
      </section>
    </figure>
  );
}

const SIGN = { same: " ", removed: "−", added: "+" };
const SPOKEN = { same: "", removed: "removed: ", added: "added: " };

function Row({ row }: { row: DiffRow }) {
  return (
    <div className={`diff-row ${row.kind}`}>
      <span className="diff-number num">{row.before}</span>
      <span className="diff-number num">{row.after}</span>
      <span className="diff-sign" aria-hidden="true">
        {SIGN[row.kind]}
      </span>
      <span className="diff-text">
        <span className="visually-hidden">{SPOKEN[row.kind]}</span>
        {row.text.map((stretch, index) =>
          stretch.changed ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: stretches have no other name and never move
            <mark key={index}>{stretch.text}</mark>
          ) : (
            stretch.text
          ),
        )}
      </span>
    </div>
  );
}

/** Returns the changes with a few surrounding lines, without the rest. */
function hunks(rows: DiffRow[]): DiffRow[][] {
  const near = new Set<number>();
  for (const [at, row] of rows.entries()) {
    if (row.kind === "same") continue;
    for (let line = at - CONTEXT_LINES; line <= at + CONTEXT_LINES; line++) near.add(line);
  }
  const all: DiffRow[][] = [];
  for (const [at, row] of rows.entries()) {
    if (!near.has(at)) continue;
    if (near.has(at - 1) && at > 0) all.at(-1)?.push(row);
    else all.push([row]);
  }
  return all;
}
