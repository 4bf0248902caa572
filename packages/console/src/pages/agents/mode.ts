import type { Agent } from "../../../../client/index.ts";
import type { Option } from "../../ui/field.tsx";

/** How events reach an agent. */
export const MODES: Option<Agent["delivery_mode"]>[] = [
  { value: "poll", label: "Poll: it asks for its events" },
  { value: "sse", label: "SSE: it holds a stream open" },
  { value: "push", label: "Push: events are posted to its endpoint" },
];

/** The format of pushed events. */
export const FORMATS: Option<Agent["push_format"]>[] = [
  { value: "structured", label: "Structured: the event as the body" },
  { value: "binary", label: "Binary: its data, attributes in headers" },
];
