import { type ComponentProps, type ReactNode, useEffect, useMemo, useState } from "react";
import { useSession } from "../data/session.ts";
import { useAddress } from "../data/use-address.ts";
import { Button } from "./button.tsx";
import { type Choice, Combo, findAgents, findOwnAgents } from "./combo.tsx";
import { CheckField, type Option, Segments, SelectField, TextField } from "./field.tsx";
import { Search } from "./icons.tsx";
import { submitting } from "./task.tsx";

/** Fields whose value is a parameter of the address, so that what they filter can be linked and revisited. */
interface Filter {
  name: string;
  label: string;
  /** A change is no entry of the history. */
  replace?: boolean;
}

/** Returns the value, and a function that changes it. A new one is shown at once: the address follows a little later. */
function useParameter({ name, replace = false }: Filter) {
  const [search, change] = useAddress();
  const value = search.get(name) ?? "";
  const [shown, show] = useState(value);
  useEffect(() => show(value), [value]);
  const choose = (to: string) => {
    show(to);
    change({ [name]: to }, { replace });
  };
  return [shown, choose] as const;
}

export function SelectFilter({ options, ...filter }: Filter & { options: readonly Option[] }) {
  const [value, change] = useParameter(filter);
  return <SelectField label={filter.label} value={value} options={options} onChange={change} />;
}

/** The first option is the default. */
export function SegmentsFilter({ options, ...filter }: Filter & { options: readonly Option[] }) {
  const [asked, change] = useParameter(filter);
  const first = options[0]?.value ?? "";
  const value = options.some((option) => option.value === asked) ? asked : first;
  const choose = (to: string) => change(to === first ? "" : to);
  return <Segments label={filter.label} value={value} options={options} onChange={choose} />;
}

/** Unchecked by default, or checked if there is a value for `off`. */
export function CheckFilter({ off = "", ...filter }: Filter & { off?: string }) {
  const [value, change] = useParameter(filter);
  const isOn = off ? value !== off : value === "1";
  const choose = (is: boolean) => change(is ? (off ? "" : "1") : off);
  return <CheckField label={filter.label} checked={isOn} onChange={choose} />;
}

/** An agent, a person or something else with a name. */
export function ComboFilter({
  find,
  none,
  ...filter
}: Filter & Pick<ComponentProps<typeof Combo>, "find" | "none">) {
  const [id, change] = useParameter(filter);
  const [chosen, setChosen] = useState<Choice | null>(null);
  return (
    <Combo
      label={filter.label}
      value={id ? { id, label: chosen?.id === id ? chosen.label : "" } : null}
      onChange={(choice) => {
        setChosen(choice);
        change(choice?.id ?? "");
      }}
      {...{ find, none }}
    />
  );
}

/** An agent that the person may read. */
export function AgentFilter(filter: Filter & { none: string }) {
  const { may } = useSession();
  return <ComboFilter {...filter} find={may("agents.list") ? findAgents : findOwnAgents} />;
}

/** A text that takes effect on leaving the field or on Enter, not on each keystroke. */
export function TextFilter({
  placeholder,
  type = "text",
  ...filter
}: Filter & { placeholder?: string; type?: "text" | "date" }) {
  const [value, change] = useParameter(filter);
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => text.trim() !== value && change(text.trim());
  return (
    <TextField
      label={filter.label}
      placeholder={placeholder}
      type={type}
      value={text}
      onChange={setText}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}

interface FormProps {
  /** A label for screen readers. */
  label: string;
  /** Text fields, whose values take effect together. */
  texts: readonly (readonly [name: string, label: string, placeholder: string])[];
  /** Other filters: before the text fields, after them, and next to the button. */
  before?: ReactNode;
  after?: ReactNode;
  end?: ReactNode;
}

/** Filters of a list, with a button that searches for the texts. */
export function FilterForm({ label, texts, before, after, end }: FormProps) {
  const [search, change] = useAddress();
  const asked = Object.fromEntries(texts.map(([name]) => [name, search.get(name) ?? ""]));
  const [draft, setDraft] = useState(asked);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays until something else is searched for
  useEffect(() => setDraft(asked), [JSON.stringify(asked)]);
  return (
    <form className="filters" aria-label={label} onSubmit={submitting(() => change(draft))}>
      {before}
      {texts.map(([name, title, placeholder]) => (
        <TextField
          key={name}
          label={title}
          placeholder={placeholder}
          value={draft[name] ?? ""}
          onChange={(value) => setDraft({ ...draft, [name]: value })}
        />
      ))}
      {after}
      <div className="filter-end">
        {end}
        <Button label="Search" type="submit" icon={Search} />
      </div>
    </form>
  );
}

const HOUR_MS = 3_600_000;

/** Returns the beginning of a time range that ends now, and the same one while it is shown; null for 0 hours. */
export const useSince = (hours: number): string | null =>
  useMemo(() => (hours > 0 ? new Date(Date.now() - hours * HOUR_MS).toISOString() : null), [hours]);
