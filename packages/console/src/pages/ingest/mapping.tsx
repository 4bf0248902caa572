import type { Mapping } from "../../../../client/index.ts";
import { TextField } from "../../ui/field.tsx";

/** A mapping as form values; empty ones take their default. */
type MappingDraft = Record<"entity" | "action" | "id" | "subject" | "data", string>;

export const emptyMapping: MappingDraft = { entity: "", action: "", id: "", subject: "", data: "" };

export function draftOfMapping({ entity, action, id, subject, data }: Mapping): MappingDraft {
  return { entity, action, id: id ?? "", subject: subject ?? "", data: data ?? "" };
}

export function mappingOf({ entity, action, ...optional }: MappingDraft): Mapping {
  const given = Object.entries(optional).map(([name, term]) => [name, term.trim() || null]);
  return { entity: entity.trim(), action: action.trim(), ...Object.fromEntries(given) };
}

/** Returns a mapping with all its terms in order, so that equal mappings compare as equal. */
export const wholeMapping = (mapping: Mapping): Mapping => mappingOf(draftOfMapping(mapping));

/** Returns the event type of a mapping, with placeholders: `com.github.{X-GitHub-Event}.{action}`. */
export function typeOf(source: string, { entity, action }: Pick<Mapping, "entity" | "action">): string {
  const part = (term: string) => term.replace(/^(?:header:|\/(?:.*\/)?)(.+)$/, "{$1}");
  return `com.${source || "source"}.${part(entity) || "entity"}.${part(action) || "action"}`;
}

interface Props {
  source: string;
  value: MappingDraft;
  onChange(mapping: MappingDraft): void;
  /** The default for the id. */
  idDefault: string;
}

export function MappingFields({ source, value: mapping, onChange, idDefault }: Props) {
  const field = (name: keyof MappingDraft) => ({
    value: mapping[name],
    onChange: (value: string) => onChange({ ...mapping, [name]: value }),
    maxLength: 300,
    className: "mono",
  });
  return (
    <fieldset className="mapping">
      <legend>Mapping</legend>
      <p className="field-hint">
        Each value is a constant, a JSON Pointer into the payload (<code>/issue/number</code>) or a header (
        <code>header:X-GitHub-Event</code>). The event type becomes <code>{typeOf(source, mapping)}</code>.
      </p>
      <div className="grid-2">
        <TextField label="Entity" {...field("entity")} required placeholder="header:X-GitHub-Event" />
        <TextField label="Action" {...field("action")} required placeholder="/action" />
        <TextField
          label="Subject"
          {...field("subject")}
          placeholder="/repository/full_name"
          hint="What the event is about. Optional."
        />
        <TextField label="ID" {...field("id")} placeholder="/delivery/id" hint={idDefault} />
        <TextField
          label="Data"
          {...field("data")}
          placeholder="/payload"
          hint="Default: the whole payload."
        />
      </div>
    </fieldset>
  );
}
