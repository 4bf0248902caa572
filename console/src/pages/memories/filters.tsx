import { Search } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { Button } from "../../ui/button.tsx";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { anyOf, SCOPES, TYPES } from "./words.tsx";

export interface MemoryFilters {
  q: string;
  type: (typeof TYPES)[number] | undefined;
  scope: (typeof SCOPES)[number] | undefined;
  project: string | undefined;
  tags: string[];
  superseded: boolean;
  neverCited: boolean;
  explain: boolean;
}

/** They stand in the address, so that a search can be linked and gone back to. */
export function filtersOf(search: URLSearchParams): MemoryFilters {
  const one = <T extends string>(name: string, values: readonly T[]) =>
    values.find((value) => value === search.get(name));
  return {
    q: search.get("q") ?? "",
    type: one("type", TYPES),
    scope: one("scope", SCOPES),
    project: search.get("project") || undefined,
    tags: (search.get("tags") ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
    superseded: search.get("superseded") === "1",
    neverCited: search.get("never_cited") === "1",
    explain: search.get("explain") !== "0",
  };
}

export function Filters() {
  const [search, setSearch] = useSearchParams();
  const filters = filtersOf(search);
  const [q, setQ] = useState(filters.q);
  useEffect(() => setQ(filters.q), [filters.q]);
  const change = (name: string, value: string) =>
    setSearch((old) => {
      const next = new URLSearchParams(old);
      if (value) next.set(name, value);
      else next.delete(name);
      return next;
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change("q", q.trim());
  };
  return (
    <search className="memory-search">
      <form onSubmit={submit} className="search-line">
        <Search aria-hidden size={18} className="search-icon" />
        <input
          className="search-input"
          type="search"
          aria-label="Search memories"
          placeholder="Ask a question or name what you look for"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
        <Button type="submit" kind="primary" small>
          Search
        </Button>
      </form>
      <div className="filter-line">
        <SelectField
          label="Type"
          value={filters.type ?? ""}
          options={anyOf("All types", TYPES)}
          onChange={(value) => change("type", value)}
        />
        <SelectField
          label="Scope"
          value={filters.scope ?? ""}
          options={anyOf("All scopes", SCOPES)}
          onChange={(value) => change("scope", value)}
        />
        <LateField
          label="Project"
          value={filters.project ?? ""}
          placeholder="Key"
          onDone={(value) => change("project", value)}
        />
        <LateField
          label="Tags"
          value={filters.tags.join(", ")}
          placeholder="Any of: a, b"
          onDone={(value) => change("tags", value)}
        />
        <CheckField
          label="Replaced ones too"
          checked={filters.superseded}
          onChange={(on) => change("superseded", on ? "1" : "")}
        />
        {filters.q ? (
          <CheckField
            label="Explain"
            checked={filters.explain}
            onChange={(on) => change("explain", on ? "" : "0")}
          />
        ) : (
          <CheckField
            label="Never cited"
            checked={filters.neverCited}
            onChange={(on) => change("never_cited", on ? "1" : "")}
          />
        )}
      </div>
    </search>
  );
}

/** Takes effect when it is left or Enter is pressed, not with each letter. */
function LateField({
  value,
  onDone,
  ...field
}: {
  label: string;
  value: string;
  placeholder: string;
  onDone(value: string): void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => text.trim() !== value && onDone(text.trim());
  return (
    <TextField
      {...field}
      value={text}
      onChange={setText}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}
