import { useDeferredValue, useState } from "react";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { TextField } from "../../ui/field.tsx";

interface Props {
  label: string;
  /** The memory that cannot be chosen. */
  not: string;
  value: string;
  onChange(id: string): void;
}

const SHOWN = 6;

/** Chooses a memory by part of its title or content. */
export function MemoryPicker({ label, not, value, onChange }: Props) {
  const [text, setText] = useState("");
  const part = useDeferredValue(text.trim());
  const found = useLoad(
    (signal) => api.memories.list({ ...(part && { search: part }), limit: SHOWN + 1 }, { signal }),
    [part],
  );
  const choices = (found.data?.memories ?? []).filter(({ id }) => id !== not).slice(0, SHOWN);
  return (
    <div className="stack tight">
      <TextField label={label} value={text} onChange={setText} placeholder="Part of its title or content" />
      <fieldset className="picker">
        <legend className="visually-hidden">{label}</legend>
        {choices.map((memory) => (
          <label key={memory.id} className="picker-choice">
            <input
              type="radio"
              name="memory"
              checked={memory.id === value}
              onChange={() => onChange(memory.id)}
            />
            <span className="truncate">
              <strong>{memory.title}</strong> <span className="muted">{memory.content}</span>
            </span>
          </label>
        ))}
        {found.data && choices.length === 0 && (
          <p className="muted small">No other memory has “{part}” in it.</p>
        )}
      </fieldset>
    </div>
  );
}
