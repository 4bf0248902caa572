import {
  type ComponentType,
  Fragment,
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useState,
} from "react";
import { linesOf, listed, localTime, mistakeInJson, timeOf } from "../data/format.ts";
import { type Choice, Combo, type Find } from "./combo.tsx";
import { CheckField, CodeArea, type Option, Segments, SelectField, TextArea, TextField } from "./field.tsx";
import { saveChanges, type Updated } from "./form-dialog.tsx";

type Native = TextareaHTMLAttributes<HTMLElement> & InputHTMLAttributes<HTMLElement>;

/** The properties of a field where it is declared, or where it is shown. */
interface Attributes extends Omit<Native, "value" | "onChange"> {
  hint?: ReactNode;
  error?: string | undefined;
  options?: readonly Option[];
  find?: Find;
}

interface Shown<D> extends Attributes {
  value: D;
  onChange(draft: D): void;
}

/** A field of a form: it edits a value as a draft, which is what the person has typed or chosen. */
export interface Field<V, D = string> {
  draftOf(value: V | null | undefined): D;
  valueOf(draft: D): V;
  /** Returns what is wrong with a draft. */
  mistakeIn?(draft: D): string | undefined;
  /** Without it, the page shows the field itself, by `drafts` and `change`. */
  show?(props: Shown<D>): ReactNode;
}

type Text<A> = A extends { required: true } ? string : string | null;
type Control = ComponentType<Attributes & { label: string; value: string; onChange(value: string): void }>;

const written =
  (Control: Control, clean: (text: string, attributes: Attributes) => string) =>
  <const A extends Attributes>(label: string, attributes?: A): Field<Text<A>> => ({
    draftOf: (value) => value ?? "",
    valueOf: (draft) => (clean(draft, attributes ?? {}) || (attributes?.required ? "" : null)) as Text<A>,
    show: (props) => <Control label={label} {...attributes} {...props} />,
  });

const asWritten = (text: string) => (text.trim() ? text : "");

/** A line, without spaces around it unless it is a password; null if it is empty and need not be given. */
export const text = written(TextField, (line, { type }) => (type === "password" ? line : line.trim()));
/** Several lines; null if they are empty and need not be given. */
export const area = written(TextArea, asWritten);
/** Several lines of code; null if they are empty and need not be given. */
export const code = written(CodeArea, asWritten);

/** A field whose value is written as text. */
export const converted = <V,>(
  { show }: Field<string | null>,
  write: (value: V) => string,
  read: (draft: string) => V,
): Field<V> => ({
  draftOf: (value) => (value === null || value === undefined ? "" : write(value)),
  valueOf: read,
  show,
});

/** Words separated by commas. */
export const list = (label: string, attributes?: Attributes) =>
  converted(text(label, attributes), (words: string[]) => words.join(", "), listed);

/** Texts, one per line. */
export const lines = (label: string, attributes?: Attributes) =>
  converted(area(label, attributes), (texts: string[]) => texts.join("\n"), linesOf);

/** A number; null if it is not given. */
export const number = (label: string, attributes?: Attributes) =>
  converted<number | null>(text(label, { type: "number", ...attributes }), String, (draft) =>
    draft === "" ? null : Number(draft),
  );

/** A time, edited in the browser's time zone; null if it is not given. */
export const time = (label: string, attributes?: Attributes) =>
  converted<string | null>(
    text(label, { type: "datetime-local", step: 1, ...attributes }),
    (at) => localTime(at ?? ""),
    (draft) => (draft ? timeOf(draft) : null),
  );

/** A date; null if it is not given. A time of day that a program set stays as long as nobody changes the date. */
export const day = (label: string) =>
  converted<string | null>(
    text(label, { type: "date" }),
    (at) => at?.slice(0, 10) ?? "",
    (draft) => draft || null,
  );

/** JSON; undefined if it is not given. */
export const json = (label: string, attributes?: Attributes): Field<unknown> => ({
  ...converted<unknown>(
    code(label, attributes),
    (value) => JSON.stringify(value, null, 2),
    (draft) => (draft.trim() && !mistakeInJson(draft) ? JSON.parse(draft) : undefined),
  ),
  mistakeIn: mistakeInJson,
});

/** One of a few options: at first the first. */
export const select = <T extends string>(
  label: string,
  options: readonly Option<T>[],
  attributes?: Attributes,
): Field<T, T> => ({
  draftOf: (value) => value ?? (options[0]?.value as T),
  valueOf: (draft) => draft,
  show: ({ options: shown = options, ...props }) => (
    <SelectField label={label} options={shown as readonly Option<T>[]} {...attributes} {...props} />
  ),
});

/** The same with all options in view. */
export const segments = <T extends string>(label: string, options: readonly Option<T>[]): Field<T, T> => ({
  ...select(label, options),
  show: ({ value, onChange }) => (
    <div>
      <Segments label={label} options={options} value={value} onChange={onChange} />
    </div>
  ),
});

/** Unchecked at first. */
export const check = (label: string, hint?: string): Field<boolean, boolean> => ({
  draftOf: Boolean,
  valueOf: (draft) => draft,
  show: ({ value, onChange }) => <CheckField label={label} hint={hint} checked={value} onChange={onChange} />,
});

type ComboAttributes = { hint?: string; none?: string; find?: Find };

/** The id of one of many; null if none is chosen. */
export const combo = (label: string, attributes?: ComboAttributes): Field<string | null, Choice | null> => ({
  draftOf: (id) => (id ? { id, label: "" } : null),
  valueOf: (choice) => choice?.id ?? null,
  show: ({ value, onChange, find = attributes?.find ?? (async () => []) }) => (
    <Combo {...{ label, value, onChange, ...attributes, find }} />
  ),
});

type Fields = Record<string, Field<unknown, unknown>>;
type Values<F> = { [N in keyof F]: F[N] extends Field<infer V, infer _> ? V : never };
/** The state of the values. */
type Known<F> = { [N in keyof F]?: Values<F>[N] | null };
export type Drafts<F> = { [N in keyof F]: F[N] extends Field<infer _, infer D> ? D : never };

const mapped = (fields: Fields, of: (field: Field<unknown, unknown>, name: string) => unknown) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, of(field, name)]));

/** Returns the drafts of a form for what is known of the values. */
export const draftsOf = <F extends Fields>(fields: F, values: Known<F> = {}) =>
  mapped(fields, ({ draftOf }, name) => draftOf(values[name])) as Drafts<F>;

/** Returns the values that a form says. One that nobody has changed is as it was. */
export const valuesOf = <F extends Fields>(fields: F, drafts: Drafts<F>, before: Known<F> = {}) =>
  mapped(fields, (field, name) => {
    const draft = drafts[name];
    const isSame = name in before && JSON.stringify(draft) === JSON.stringify(field.draftOf(before[name]));
    return isSame ? before[name] : field.valueOf(draft);
  }) as Values<F>;

/** Shows fields of a form by their names. */
export function shownOf<F extends Fields>(
  fields: F,
  drafts: Drafts<F>,
  change: (name: keyof F & string, draft: never) => void,
) {
  type Name = keyof F & string;
  const show = (name: Name, more?: Attributes) => {
    const field = fields[name] as Field<unknown, unknown>;
    const error = more?.error ?? field.mistakeIn?.(drafts[name]);
    const onChange = (draft: unknown) => change(name, draft as never);
    return <Fragment key={name}>{field.show?.({ ...more, error, value: drafts[name], onChange })}</Fragment>;
  };
  return {
    show,
    /** Shows fields side by side. */
    grid: (...names: Name[]) => <div className="grid-2">{names.map((name) => show(name))}</div>,
    /** Shows fields one below the other; without names all. */
    rows: (...names: Name[]) => (names.length > 0 ? names : Object.keys(fields)).map((name) => show(name)),
  };
}

/**
 * A form whose fields are declared. Calls `onEdit` when the person changes one.
 *
 * @param before the resource as it was when the form was opened; without it, the first values of a new one
 */
export function useForm<F extends Fields, B extends Known<F> = Known<F>>(
  fields: F,
  before?: B,
  onEdit?: () => void,
) {
  const [first, setFirst] = useState(before);
  const [drafts, setDrafts] = useState(() => draftsOf(fields, before));
  const change = (to: Partial<Drafts<F>>) => setDrafts((old) => ({ ...old, ...to }));
  const values = () => valuesOf(fields, drafts, first);
  const reset = (to: Known<F>) => {
    const now = { ...first, ...to } as B;
    setFirst(now);
    setDrafts(draftsOf(fields, now));
  };
  return {
    ...shownOf(fields, drafts, (name, draft) => {
      setDrafts((old) => ({ ...old, [name]: draft }));
      onEdit?.();
    }),
    drafts,
    change,
    values,
    /** Whether a value cannot be read from its draft. */
    isWrong: Object.entries(fields).some(([name, field]) => field.mistakeIn?.(drafts[name])),
    reset,
    /** Saves the changes to `before` as `saveChanges` does, and shows the resource as it is then, with others' changes. */
    async save<W extends object, S extends Known<F>>(
      resource: Updated<W, B, S>,
      which: W,
      look: string,
      wanted: Partial<B> = values() as unknown as Partial<B>,
    ) {
      const saved = await saveChanges(resource, which, first as B, wanted, look);
      if (saved) reset(saved);
      return saved;
    },
  };
}
