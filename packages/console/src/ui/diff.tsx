import { diffWordsWithSpace, type StructuredPatchHunk, structuredPatch } from "diff";
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
  const hunks = useMemo(() => hunksOf(before, after), [before, after]);
  if (!hunks) return <p className="muted">The texts differ too much to compare line by line.</p>;
  if (hunks.length === 0) return <p className="muted">No differences.</p>;
  const count = (kind: DiffRow["kind"]) => hunks.flat().filter((row) => row.kind === kind).length;
  return (
    <figure className="diff">
      <figcaption className="diff-head">
        <span className="diff-plus">+{plural(count("added"), "line")}</span>
        <span className="diff-minus">−{plural(count("removed"), "line")}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="diff-body" aria-label="Changed lines" tabIndex={0}>
        {hunks.map((hunk) => (
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

interface DiffRow {
  kind: (typeof KINDS)[keyof typeof KINDS];
  /** The line's number in the old and in the new text, from 1. */
  before: number | null;
  after: number | null;
  /** Parts of the line; `changed` if they differ from the corresponding line. */
  text: { text: string; changed: boolean }[];
}

/** By the first character of a patch's line. */
const KINDS = { " ": "same", "-": "removed", "+": "added" } as const;

/** With more edits, the texts are unrelated, and finding the smallest difference would take minutes. */
const MAX_EDITS = 20_000;

/** Returns the changes with a few surrounding lines; null if the texts differ too much to compare. */
function hunksOf(before: string, after: string): DiffRow[][] | null {
  const limits = { context: CONTEXT_LINES, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", ended(before), ended(after), "", "", limits);
  return patch ? patch.hunks.map(rowsOf) : null;
}

/** With a line end after the last line: without it that line would differ from the same one within a text. */
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

function rowsOf({ oldStart, newStart, lines }: StructuredPatchHunk): DiffRow[] {
  const at = { before: oldStart, after: newStart };
  const runs: string[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (run?.[0]?.charAt(0) === line.charAt(0)) run.push(line);
    else runs.push([line]);
  }
  return runs.flatMap((run, index) => {
    const kind = KINDS[run[0]?.charAt(0) as keyof typeof KINDS];
    // Removed lines correspond to as many added ones right after them.
    const next = kind === "same" ? [] : (runs[index + (kind === "removed" ? 1 : -1)] ?? []);
    const others = next.length === run.length && !next[0]?.startsWith(" ") ? next : [];
    return run.map((line, number) => ({
      kind,
      before: kind === "added" ? null : at.before++,
      after: kind === "removed" ? null : at.after++,
      text: stretches(line.slice(1), others[number]?.slice(1)),
    }));
  });
}

/** Splits a line into parts, marking words that the other line lacks. */
function stretches(line: string, against = line): DiffRow["text"] {
  return diffWordsWithSpace(against, line)
    .filter((word) => !word.removed)
    .map((word) => ({ text: word.value, changed: word.added === true }));
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
