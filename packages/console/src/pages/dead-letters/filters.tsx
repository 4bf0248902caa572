import { useEffect, useState } from "react";
import { findAgents } from "../../data/find.ts";
import { useAddress } from "../../data/use-address.ts";
import { useNames } from "../../data/use-names.ts";
import { Button } from "../../ui/button.tsx";
import { Combo } from "../../ui/combo.tsx";
import { TextField } from "../../ui/field.tsx";
import { Search } from "../../ui/icons.tsx";

/** Which letters are shown. It is in the address, and has the names of the API's parameters. */
export interface LetterFilter {
  reason?: string;
  agent_id?: string;
  type?: string;
  text?: string;
}

const NAMES = ["reason", "agent_id", "type", "text"] as const;

export function filterIn(search: URLSearchParams): LetterFilter {
  return Object.fromEntries(NAMES.flatMap((name) => (search.get(name) ? [[name, search.get(name)]] : [])));
}

/** Clears all parameters of the filter. */
export const NO_FILTER = Object.fromEntries(NAMES.map((name) => [name, null]));

export function Filters({ filter }: { filter: LetterFilter }) {
  const [, change] = useAddress();
  const nameOf = useNames();
  const { agent_id, type = "", text = "" } = filter;
  const [draft, setDraft] = useState({ type, text });
  // What is typed stays until something else is searched for.
  useEffect(() => setDraft({ type, text }), [type, text]);
  return (
    <form
      className="filters"
      aria-label="Filter dead letters"
      onSubmit={(event) => {
        event.preventDefault();
        change(draft);
      }}
    >
      <Combo
        label="Agent"
        value={agent_id ? { id: agent_id, label: nameOf(agent_id) } : null}
        onChange={(agent) => change({ agent_id: agent?.id ?? null })}
        find={findAgents}
        none="Any agent"
      />
      <TextField
        label="Type"
        placeholder="com.github.*"
        value={draft.type}
        onChange={(value) => setDraft({ ...draft, type: value })}
      />
      <TextField
        label="Text"
        placeholder="In error, subject, type or source"
        value={draft.text}
        onChange={(value) => setDraft({ ...draft, text: value })}
      />
      <div className="filter-end">
        <Button label="Search" type="submit" icon={Search} />
      </div>
    </form>
  );
}
