import { Check, X } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { useLoad } from "../data/use-load.ts";
import { IconButton } from "./button.tsx";
import { messageOf } from "./failure.tsx";
import "./combo.css";

export interface Choice {
  id: string;
  label: string;
  /** Small text that distinguishes choices of the same name. */
  detail?: string | undefined;
}

interface ComboProps {
  label: string;
  hint?: string;
  value: Choice | null;
  onChange(choice: Choice | null): void;
  /** Returns the choices that contain the text, or the first ones for an empty text. */
  find(text: string, signal: AbortSignal): Promise<Choice[]>;
  /** Label for choosing nothing. Without it a choice is required. */
  none?: string;
}

/** Wait for a pause in typing before searching. */
const PAUSE_MS = 150;

/** Chooses one of many by typing a part of it: an ARIA combobox with a list below. */
export function Combo({ label, hint, value, onChange, find, none }: ComboProps) {
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const isOpen = text !== null;
  const found = useLoad((signal) => (isOpen ? later(text, signal, find) : Promise.resolve([])), [text]);
  const choices = found.data ?? [];
  const close = () => {
    setText(null);
    setAt(0);
  };
  const take = (choice: Choice | null) => {
    onChange(choice);
    close();
  };
  const press = (event: KeyboardEvent) => {
    const { key } = event;
    if (!isOpen) {
      if (key === "ArrowDown") setText("");
      return;
    }
    const chosen = choices[at];
    if (key === "ArrowDown") setAt(Math.min(at + 1, choices.length - 1));
    else if (key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (key === "Enter" && chosen) take(chosen);
    else if (key === "Escape") close();
    else if (key !== "Enter") return;
    // Escape closes the list, not its dialog; Enter chooses without submitting the form.
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: leaving it closes the list, by whatever way
    <div
      className="field combo"
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || close()}
    >
      <label htmlFor={id}>{label}</label>
      <div className="combo-line">
        <input
          id={id}
          className="input"
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && choices[at] ? `${id}-${at}` : undefined}
          aria-describedby={hint && `${id}-hint`}
          autoComplete="off"
          placeholder={none ?? "Type a part of its name"}
          value={text ?? value?.label ?? ""}
          onClick={() => setText(text ?? "")}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        {value && none !== undefined && (
          <IconButton icon={X} label={`${label}: ${none}`} onClick={() => take(null)} />
        )}
      </div>
      <div id={`${id}-list`} className="combo-list" role="listbox" aria-label={label} hidden={!isOpen}>
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
      {isOpen && choices.length === 0 && <p className="field-hint">{stateOf(found)}</p>}
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

function stateOf({ error, loading }: { error: unknown; loading: boolean }): string {
  if (error !== undefined) return messageOf(error);
  return loading ? "Looking …" : "Nothing has that in its name.";
}

async function later(text: string, signal: AbortSignal, find: ComboProps["find"]): Promise<Choice[]> {
  if (text) await new Promise((done) => setTimeout(done, PAUSE_MS));
  return signal.aborted ? [] : find(text, signal);
}
