import { type KeyboardEvent, useId, useState } from "react";
import { useName } from "../data/names.ts";
import { pause, useLoad } from "../data/queries.ts";
import { IconButton } from "./button.tsx";
import { messageOf } from "./failure.tsx";
import { Check, X } from "./icons.tsx";
import "./combo.css";
import { api } from "../data/api.ts";

export interface Choice {
  id: string;
  /** Empty for the name of what the id stands for. */
  label: string;
  /** Small text that distinguishes choices of the same name. */
  detail?: string | undefined;
}

/** Returns the choices that contain the text, or the first ones for an empty text. */
export type Find = (text: string, signal: AbortSignal) => Promise<Choice[]>;

interface ComboProps {
  label: string;
  hint?: string;
  value: Choice | null;
  onChange(choice: Choice | null): void;
  find: Find;
  /** Label for choosing nothing. Without it a choice is required. */
  none?: string | undefined;
}

/** Wait for a pause in typing before searching. */
const PAUSE_MS = 150;

/** The typed text, null while the list is closed; what it finds; and the position of the one that Enter takes. */
function useCombo(find: Find, onChange: ComboProps["onChange"]) {
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const found = useLoad(
    async (signal) => {
      if (text === null) return [];
      if (text) await pause(PAUSE_MS, signal);
      return find(text, signal);
    },
    [text],
  );
  const choices = found.data ?? [];
  const type = (typed: string | null) => {
    setText(typed);
    setAt(0);
  };
  const take = (choice: Choice | null) => {
    onChange(choice);
    type(null);
  };
  const press = (event: KeyboardEvent) => {
    const { key } = event;
    if (text === null) {
      if (key === "ArrowDown") setText("");
      return;
    }
    const chosen = choices[at];
    if (key === "ArrowDown") setAt(Math.min(at + 1, choices.length - 1));
    else if (key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (key === "Enter" && chosen) take(chosen);
    else if (key === "Escape") type(null);
    else if (key !== "Enter") return;
    // Escape closes the list, not its dialog; Enter chooses without submitting the form.
    event.preventDefault();
    event.stopPropagation();
  };
  return { text, at, found, choices, type, take, press };
}

/** Chooses one of many by typing a part of it: an ARIA combobox with a list below. */
export function Combo({ label, hint, value, onChange, find, none }: ComboProps) {
  const id = useId();
  const { text, at, found, choices, type, take, press } = useCombo(find, onChange);
  const isOpen = text !== null;
  const { name } = useName(value && !value.label ? value.id : "");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: leaving it closes the list, by whatever way
    <div
      className="field combo"
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || type(null)}
    >
      <label htmlFor={id}>{label}</label>
      <div className="combo-line">
        <input
          id={id}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && choices[at] ? `${id}-${at}` : undefined}
          aria-describedby={hint && `${id}-hint`}
          className="input"
          autoComplete="off"
          placeholder={none ?? "Search by name"}
          value={text ?? (value ? value.label || name : "")}
          onClick={() => isOpen || type("")}
          onChange={(event) => type(event.target.value)}
          onKeyDown={press}
        />
        {value && none !== undefined && (
          <IconButton icon={X} label={`Clear ${label}`} onClick={() => take(null)} />
        )}
      </div>
      <Choices {...{ id, label, choices, at, value, take }} hidden={!isOpen} />
      {isOpen && choices.length === 0 && <p className="field-hint">{stateOf(found)}</p>}
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChoicesProps {
  id: string;
  label: string;
  choices: Choice[];
  /** The position of the one that Enter takes. */
  at: number;
  value: Choice | null;
  take(choice: Choice): void;
  hidden: boolean;
}

function Choices({ id, label, choices, at, value, take, hidden }: ChoicesProps) {
  return (
    <div id={`${id}-list`} className="combo-list" role="listbox" aria-label={label} hidden={hidden}>
      {choices.map((choice, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
        <div
          key={choice.id}
          id={`${id}-${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === at}
          className="combo-choice"
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(choice)}
        >
          <span className="truncate">
            {choice.label} {choice.detail && <span className="faint small">{choice.detail}</span>}
          </span>
          {choice.id === value?.id && <Check aria-hidden size={14} />}
        </div>
      ))}
    </div>
  );
}

function stateOf({ error, loading }: { error: unknown; loading: boolean }): string {
  if (error !== undefined) return messageOf(error);
  return loading ? "Searching…" : "No matches.";
}

const limit = 20;
const part = (text: string) => (text.trim() ? { search: text.trim() } : {});

/** Finds active agents by a part of their name. */
export const findAgents: Find = async (text, signal) => {
  const { agents } = await api.agents.list({ ...part(text), status: "active", limit }, { signal });
  return agents.map(({ id, name, description }) => ({ id, label: name, detail: description ?? undefined }));
};

export const findPeople: Find = async (text, signal) => {
  const { users } = await api.users.list({ ...part(text), limit }, { signal });
  return users.map(({ id, display_name, email }) => ({ id, label: display_name, detail: email }));
};

/** Finds by filtering all of a list, as there are few. */
function among<T>(
  all: (of: { limit: number }, how: { signal: AbortSignal }) => AsyncIterable<T>,
  choiceOf: (row: T) => Choice | false,
): Find {
  return async (text, signal) => {
    const found: Choice[] = [];
    const wanted = text.trim().toLowerCase();
    for await (const row of all({ limit: 200 }, { signal })) {
      const choice = choiceOf(row);
      if (choice && `${choice.label} ${choice.detail ?? ""}`.toLowerCase().includes(wanted))
        found.push(choice);
    }
    return found.slice(0, limit);
  };
}

export const findTeams = among(api.teams.list.all, ({ id, name }) => ({ id, label: name }));

export const findProjects = among(api.projects.list.all, ({ key, name }) => ({
  id: key,
  label: key,
  detail: name === key ? undefined : name,
}));

export const findOwnAgents = among(api.agents.listOwn.all, ({ id, name }) => ({ id, label: name }));

export const findOwnActiveAgents = among(
  api.agents.listOwn.all,
  ({ id, name, status }) => status === "active" && { id, label: name },
);
