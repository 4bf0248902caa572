import type { Agent } from "../../../../client/index.ts";
import type { Option } from "../../ui/field.tsx";

/** How events reach an agent. */
export const MODES: Option<Agent["delivery_mode"]>[] = [
  { value: "poll", label: "Poll: the agent fetches its events" },
  { value: "sse", label: "SSE: the agent keeps a stream open" },
  { value: "push", label: "Push: events are posted to an endpoint" },
];

export const MODE_NAMES: Record<Agent["delivery_mode"], string> = { poll: "Poll", sse: "SSE", push: "Push" };

/** The format of pushed events. */
export const FORMATS: Option<Agent["push_format"]>[] = [
  { value: "structured", label: "Structured: the whole event in the body" },
  { value: "binary", label: "Binary: data in the body, attributes in headers" },
];
