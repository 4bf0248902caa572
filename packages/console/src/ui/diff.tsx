import { diffLines, diffWordsWithSpace } from "diff";
import { type ReactNode, useMemo, useState } from "react";
import { plural } from "../data/format.ts";
import { useLoad } from "../data/queries.ts";
import { SelectField } from "./field.tsx";
import { Load } from "./table.tsx";
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
              <div key={`${row.before}/${row.after}`} className={`diff-row ${row.kind}`}>
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
            ))}
          </div>
        ))}
      </section>
    </figure>
  );
}

const SIGN = { same: " ", removed: "−", added: "+" };
const SPOKEN = { same: "", removed: "removed: ", added: "added: " };

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

/** A part of a line; `changed` if it differs from the corresponding line. */
interface Stretch {
  text: string;
  changed: boolean;
}

interface DiffRow {
  kind: "same" | "removed" | "added";
  /** The line's number in the old and in the new text, from 1. */
  before: number | null;
  after: number | null;
  text: Stretch[];
}

/** With more edits, the texts are unrelated, and finding the smallest difference would take minutes. */
const MAX_EDITS = 20_000;

/** Merges the lines of two texts into one list, with changed words marked; null if they differ too much to compare. */
function diffRows(before: string, after: string): DiffRow[] | null {
  const parts = diffLines(ended(before), ended(after), { maxEditLength: MAX_EDITS });
  if (!parts) return null;
  const at = { before: 0, after: 0 };
  return parts.flatMap((part, index) => {
    const other = counterpart(parts, index);
    const lines = linesOf(part.value);
    const marked = other && linesOf(other.value).length === lines.length ? linesOf(other.value) : undefined;
    return lines.map((line, number) => rowOf(part, line, marked?.[number], at));
  });
}

/** With a line end after the last line: without it that line would differ from the same one within a text. */
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

interface Part {
  value: string;
  added?: boolean;
  removed?: boolean;
}

/** A removed part corresponds to the added part right after it. */
function counterpart(parts: Part[], index: number): Part | undefined {
  const [last, part, next] = [parts[index - 1], parts[index], parts[index + 1]];
  if (part?.removed && next?.added) return next;
  return part?.added && last?.removed ? last : undefined;
}

function rowOf(
  part: Part,
  line: string,
  against: string | undefined,
  at: { before: number; after: number },
): DiffRow {
  const kind = part.removed ? "removed" : part.added ? "added" : "same";
  return {
    kind,
    before: kind === "added" ? null : ++at.before,
    after: kind === "removed" ? null : ++at.after,
    text: against === undefined ? [{ text: line, changed: false }] : stretches(line, against),
  };
}

/** Splits a line into parts, marking words that the other line lacks. */
function stretches(line: string, against: string): Stretch[] {
  return diffWordsWithSpace(against, line)
    .filter((word) => !word.removed)
    .map((word) => ({ text: word.value, changed: word.added === true }));
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

interface VersionsProps<V> {
  /** Newest first. */
  of: readonly V[];
  textOf(version: V, signal: AbortSignal): Promise<string> | string;
}

/** Versions of a text, and the changes between any two: at first between the last two. */
export function VersionList<V extends { version_num: number }>({
  children,
  ...versions
}: VersionsProps<V> & { children(version: V): ReactNode }) {
  return (
    <div className="sides by-list">
      <ol className="framed" aria-label="Versions" reversed>
        {versions.of.map((version) => (
          <li key={version.version_num}>{children(version)}</li>
        ))}
      </ol>
      {versions.of.length > 1 ? (
        <Compared {...versions} />
      ) : (
        <p className="muted">Save a second version to compare.</p>
      )}
    </div>
  );
}

function Compared<V extends { version_num: number }>({ of, textOf }: VersionsProps<V>) {
  const options = of.map(({ version_num: number }) => ({
    value: String(number),
    label: `Version ${number}`,
  }));
  const [from, setFrom] = useState(options[1]?.value ?? "");
  const [to, setTo] = useState(options[0]?.value ?? "");
  const texts = useLoad(
    (signal) => {
      const chosen = [from, to].map(
        (value) => of.find(({ version_num }) => String(version_num) === value) as V,
      );
      return Promise.all(chosen.map((version) => textOf(version, signal)));
    },
    [from, to],
  );
  return (
    <div className="stack">
      <div className="row compare-choice">
        <SelectField label="From" value={from} onChange={setFrom} options={options} />
        <SelectField label="To" value={to} onChange={setTo} options={options} />
      </div>
      <Load of={texts} lines={6}>
        {([old = "", current = ""]) => <Diff before={old} after={current} />}
      </Load>
    </div>
  );
}
