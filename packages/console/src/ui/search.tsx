import { Search, X } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { useAddress } from "../data/use-address.ts";
import { Button, IconButton } from "./button.tsx";
import "../styles/search.css";

/** What the list at hand is searched for (`?q=`), and what is typed on the way there. */
function useQuery() {
  const [search, change] = useAddress();
  const q = search.get("q") ?? "";
  const [text, setText] = useState(q);
  const asked = useRef(q);
  // What one types goes on while it is asked for, also by a space: only another's question takes its place.
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
}

function Box({ label, placeholder, className, iconSize, text, onChange }: BoxProps) {
  return (
    <>
      <Search aria-hidden size={iconSize} className="search-icon" />
      <input
        className={className}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </>
  );
}

/** A search whose words stand in the address (`?q=`), so that it can be linked and gone back to. */
export function SearchLine({ label, placeholder }: { label: string; placeholder: string }) {
  const { q, text, setText, ask } = useQuery();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask(text);
  };
  const clear = () => {
    setText("");
    ask("");
  };
  return (
    <search>
      <form onSubmit={submit} className="search-line">
        <Box {...{ label, placeholder, text }} className="search-input" iconSize={18} onChange={setText} />
        {q && <IconButton icon={X} label="Clear the search" onClick={clear} />}
        <Button type="submit" small kind="primary">
          Search
        </Button>
      </form>
    </search>
  );
}

/** While one types, nothing is asked for. */
const PAUSE_MS = 250;

/** Narrows a list as one types; what is typed stands in the address (`?q=`), and is one step of its history. */
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
      <Box {...{ label, text }} placeholder={label} className="input" iconSize={15} onChange={setText} />
    </search>
  );
}

export interface Hit {
  key: string;
  to: string;
  title: string;
  text: ReactNode;
  score: number;
  /** How the score came about, on hover. */
  why?: string;
  facts: ReactNode;
}

/** What a search found, the best first. */
export function Hits({ label, hits }: { label: string; hits: readonly Hit[] }) {
  return (
    <ol className="results" aria-label={label}>
      {hits.map(({ key, to, title, text, score, why, facts }) => (
        <li key={key} className="result">
          <div className="result-score" title={why}>
            <span className="num">{score.toFixed(2)}</span>
            <meter min={0} max={1} value={score} aria-label="Score" />
          </div>
          <div className="result-words">
            <Link to={to} className="memory-title">
              {title}
            </Link>
            <p className="result-text">{text}</p>
            <div className="result-facts">{facts}</div>
          </div>
        </li>
      ))}
    </ol>
  );
}
