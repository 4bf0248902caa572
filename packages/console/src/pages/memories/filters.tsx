import { useEffect, useState } from "react";
import { listed } from "../../data/text.ts";
import { useAddress } from "../../data/use-address.ts";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { SearchLine } from "../../ui/search.tsx";
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

/** Reads the filters from the address, so that a search can be linked and revisited. */
export function filtersOf(search: URLSearchParams): MemoryFilters {
  const one = <T extends string>(name: string, values: readonly T[]) =>
    values.find((value) => value === search.get(name));
  return {
    q: search.get("q") ?? "",
    type: one("type", TYPES),
    scope: one("scope", SCOPES),
    project: search.get("project") || undefined,
    tags: listed(search.get("tags") ?? ""),
    superseded: search.get("superseded") === "1",
    neverCited: search.get("never_cited") === "1",
    explain: search.get("explain") !== "0",
  };
}

export function Filters() {
  const [search, setAddress] = useAddress();
  const filters = filtersOf(search);
  const change = (name: string, value: string) => setAddress({ [name]: value });
  return (
    <div className="memory-search">
      <SearchLine label="Search memories" placeholder="Search by question, words or meaning" />
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
          label="Include superseded"
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
    </div>
  );
}

/** Takes effect on leaving the field or on Enter, not on each keystroke. */
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
