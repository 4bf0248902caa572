import type { Agent } from "../../../../client/index.ts";
import { SelectField } from "../../ui/field.tsx";

type Mode = Agent["delivery_mode"];

const MODES: { value: Mode; label: string }[] = [
  { value: "poll", label: "Poll: it asks for its events" },
  { value: "sse", label: "SSE: it holds a stream open" },
  { value: "push", label: "Push: events are posted to its endpoint" },
];

type Format = Agent["push_format"];

const FORMATS: { value: Format; label: string }[] = [
  { value: "structured", label: "Structured: the event as the body" },
  { value: "binary", label: "Binary: its data, attributes in headers" },
];

/** The format of pushed events. */
export function FormatField({ value, onChange }: { value: Format; onChange(format: Format): void }) {
  return <SelectField label="Push format" options={FORMATS} value={value} onChange={onChange} />;
}

/** How events reach an agent. */
export function ModeField({ value, onChange }: { value: Mode; onChange(mode: Mode): void }) {
  return <SelectField label="How it receives events" options={MODES} value={value} onChange={onChange} />;
}
