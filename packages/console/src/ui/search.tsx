import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Loaded } from "../data/queries.ts";
import { useAddress } from "../data/use-address.ts";
import { Button, IconButton } from "./button.tsx";
import { Search, X } from "./icons.tsx";
import { Load, openRow, RowLink } from "./table.tsx";
import { submitting } from "./task.tsx";
import "../styles/search.css";

/** The current search of the list (`?q=`), and the text being typed. */
function useQuery() {
  const [search, change] = useAddress();
  const q = search.get("q") ?? "";
  const [text, setText] = useState(q);
  const asked = useRef(q);
  // Typing continues during a search, also with spaces: only a search from elsewhere replaces the text.
  useEffect(() => {
    if (q !== asked.current) setText(q);
    asked.current = q;
  }, [q]);
  const ask = (words: string, how?: { replace: boolean }) => {
    asked.current = words.trim();
    change({ q: asked.current }, how);
  };
  return { q, text, setText, ask };
}

interface BoxProps {
  label: string;
  placeholder: string;
  className: string;
  iconSize: number;
  text: string;
  onChange(text: string): void;
  onClear(): void;
}

function Box({ label, placeholder, className, iconSize, text, onChange, onClear }: BoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const clear = () => {
    onClear();
    input.current?.focus();
  };
  return (
    <>
      <Search aria-hidden size={iconSize} className="search-icon" />
      <input
        ref={input}
        className={className}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
      {text && <IconButton icon={X} label="Clear query" onClick={clear} />}
    </>
  );
}

/** A search in the address (`?q=`), so that it can be linked and revisited. */
export function SearchLine({ label, placeholder }: { label: string; placeholder: string }) {
  const { text, setText, ask } = useQuery();
  const clear = () => {
    setText("");
    ask("");
  };
  return (
    <search>
      <form onSubmit={submitting(() => ask(text))} className="search-line">
        <Box
          {...{ label, placeholder, text }}
          className="search-input"
          iconSize={18}
          onChange={setText}
          onClear={clear}
        />
        <Button label="Search" type="submit" small kind="primary" />
      </form>
    </search>
  );
}

/** Wait for a pause in typing before searching. */
const PAUSE_MS = 250;

/** Filters a list during typing; the text is in the address (`?q=`), as one entry of the history. */
export function ListSearch({ label }: { label: string }) {
  const { q, text, setText, ask } = useQuery();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed is what it waits for
  useEffect(() => {
    if (text.trim() === q) return;
    const timer = setTimeout(() => ask(text, { replace: true }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <search className="list-search">
      <Box
        {...{ label, text }}
        placeholder={label}
        className="input"
        iconSize={15}
        onChange={setText}
        onClear={() => setText("")}
      />
    </search>
  );
}

interface Hit {
  key: string;
  to: string;
  title: string;
  text: ReactNode;
  score: number;
  /** The explanation of the score, on hover. */
  why?: string;
  facts: ReactNode;
}

interface FoundProps<R> {
  of: Loaded<{ results: R[] }>;
  label: string;
  hit(result: R): Hit;
  empty: ReactNode;
}

export function Found<R>({ of, label, hit, empty }: FoundProps<R>) {
  return (
    <Load of={of} lines={6}>
      {({ results }) => (results.length === 0 ? empty : <Hits label={label} hits={results.map(hit)} />)}
    </Load>
  );
}

/** Search results, best first. */
export function Hits({ label, hits }: { label: string; hits: readonly Hit[] }) {
  return (
    <ol className="framed" aria-label={label}>
      {hits.map(({ key, to, title, text, score, why, facts }) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: its link does the same
        <li key={key} className="result" onClick={openRow}>
          <div className="result-score" title={why}>
            <span className="num">{score.toFixed(2)}</span>
            <meter min={0} max={1} value={score} aria-label="Score" />
          </div>
          <div className="result-words">
            <RowLink to={to} className="memory-title">
              {title}
            </RowLink>
            <p className="result-text">{text}</p>
            <div className="result-facts">{facts}</div>
          </div>
        </li>
      ))}
    </ol>
  );
}
