import {
  type ChangeEvent,
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { capitalised } from "../data/format.ts";

interface FieldProps {
  label: string;
  /** Text below the field: its meaning and allowed values. */
  hint?: ReactNode;
  error?: string | undefined;
}

interface Wired {
  id: string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: true | undefined;
}

/** A label and its field, hint and error, linked for screen readers. */
function Field({ label, hint, error, children }: FieldProps & { children(wired: Wired): ReactNode }) {
  const id = useId();
  const described = error || hint ? `${id}-hint` : undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": described, "aria-invalid": error ? true : undefined })}
      {described && (
        <p id={described} className={error ? "field-error" : "field-hint"}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

type Changed<T = string> = { onChange(value: T): void };

type TextProps<A> = FieldProps & Changed & Omit<A, "onChange">;

export function TextField(props: TextProps<InputHTMLAttributes<HTMLElement>>) {
  return <Text {...props} as="input" autoComplete={props.autoComplete ?? "off"} />;
}

export function TextArea(props: TextProps<TextareaHTMLAttributes<HTMLElement>>) {
  return <Text {...props} as="textarea" rows={props.rows ?? 4} />;
}

type Control = InputHTMLAttributes<HTMLElement> & TextareaHTMLAttributes<HTMLElement>;

function Text(props: TextProps<Control> & { as: "input" | "textarea" }) {
  const { as: Control, label, hint, error, onChange, className = "", ...input } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <Control
          dir="auto"
          {...input}
          {...wired}
          className={`input ${className}`}
          onChange={(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
            onChange(event.target.value)
          }
        />
      )}
    </Field>
  );
}

type FileProps = FieldProps & Changed<File | null> & { accept?: string };

export function FileField({ accept, onChange, ...labels }: FileProps) {
  return (
    <Field {...labels}>
      {(wired) => (
        <input
          {...wired}
          type="file"
          className="input"
          accept={accept}
          onChange={({ target }) => onChange(target.files?.[0] ?? null)}
        />
      )}
    </Field>
  );
}

/** Several lines of code: monospaced and without spell checking. */
export function CodeArea(props: ComponentProps<typeof TextArea>) {
  return <TextArea {...props} className="code" spellCheck={false} />;
}

export interface Option<T extends string = string> {
  value: T;
  label: string;
}

/** Options that are called as their values, after one for all. */
export const anyOf = (all: string, values: readonly string[]): Option[] => [
  { value: "", label: all },
  ...optionsOf(values),
];

export const optionsOf = <const T extends string>(values: readonly T[]): Option<T>[] =>
  values.map((value) => ({ value, label: capitalised(value) }));

type ChoiceProps<T extends string> = Changed<T> & { value: T; options: readonly Option<T>[] };

export function SelectField<T extends string>({
  value,
  onChange,
  options,
  ...labels
}: FieldProps & ChoiceProps<T>) {
  return (
    <Field {...labels}>
      {(wired) => (
        <select
          {...wired}
          value={value}
          className="input"
          onChange={(event) => onChange(event.target.value as T)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps extends Omit<FieldProps, "error">, Changed<boolean> {
  checked: boolean;
  disabled?: boolean;
  /** It cannot be changed now, but keeps the focus. */
  fixed?: boolean;
}

export function CheckField({ label, hint, checked, onChange, disabled, fixed }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-disabled={fixed || undefined}
        onChange={(event) => fixed || onChange(event.target.checked)}
      />
      <span>
        {label}
        {hint && <span className="field-hint">{hint}</span>}
      </span>
    </label>
  );
}

/** A few choices side by side, with one selected. */
export function Segments<T extends string>(props: ChoiceProps<T> & { label: string }) {
  const { label, value, onChange, options } = props;
  const name = useId();
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={option.value === value ? "segment on" : "segment"}>
          <input
            type="radio"
            name={name}
            className="visually-hidden"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
