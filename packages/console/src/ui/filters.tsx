import { type ComponentProps, useEffect, useState } from "react";
import { useAddress } from "../data/use-address.ts";
import { type Choice, Combo, useNamed } from "./combo.tsx";
import { CheckField, type Option, Segments, SelectField, TextField } from "./field.tsx";

/** Fields whose value is a parameter of the address, so that what they filter can be linked and revisited. */
interface Filter {
  name: string;
  label: string;
  /** A change is no entry of the history. */
  replace?: boolean;
}

function useParameter({ name, replace = false }: Filter) {
  const [search, change] = useAddress();
  return [search.get(name) ?? "", (value: string) => change({ [name]: value }, { replace })] as const;
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
      value={useNamed(id ? { id, label: chosen?.id === id ? chosen.label : "" } : null)}
      onChange={(choice) => {
        setChosen(choice);
        change(choice?.id ?? "");
      }}
      {...{ find, none }}
    />
  );
}

/** A text that takes effect on leaving the field or on Enter, not on each keystroke. */
export function TextFilter({ placeholder, ...filter }: Filter & { placeholder: string }) {
  const [value, change] = useParameter(filter);
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const done = () => text.trim() !== value && change(text.trim());
  return (
    <TextField
      label={filter.label}
      placeholder={placeholder}
      value={text}
      onChange={setText}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}
