import "./agents.css";
import type { Agent, DeliveryHealth } from "../../../../client/index.ts";
import type { Resource } from "../../data/live.ts";
import type { Option } from "../../ui/field.tsx";
import { Badge, type Tone } from "../../ui/text.tsx";

type State = DeliveryHealth["state"];

const SHOWN: Record<Exclude<State, "ok">, { label: string; tone: Tone }> = {
  unreachable: { label: "Unreachable", tone: "bad" },
  stuck: { label: "Stuck", tone: "bad" },
  failing: { label: "Failing", tone: "bad" },
  behind: { label: "Behind", tone: "warn" },
  unsubscribed: { label: "No interests", tone: "warn" },
  unmatched: { label: "No match yet", tone: "warn" },
  quiet: { label: "Quiet", tone: "neutral" },
};

/** An agent's health changes with its deliveries, and as they get older. */
export const HEALTH: Resource[] = ["agent", "event", "clock"];

/** Whether a person should look at it. */
export const needsAttention = ({ state }: DeliveryHealth) => state !== "ok" && state !== "quiet";

/** An agent's status in a word: whether it is active and, if that was read, how its deliveries go. */
export function AgentState({ agent }: { agent: Pick<Agent, "status" | "push_stopped" | "delivery"> }) {
  const { status, push_stopped, delivery } = agent;
  if (status === "inactive") return <Badge label="Inactive" />;
  if (push_stopped) return <Badge label="Push stopped" tone="bad" />;
  if (delivery && delivery.state !== "ok") return <Badge {...SHOWN[delivery.state]} />;
  return <Badge label="Active" tone="good" dot />;
}

/** The same with the reason below and, unless that says it, the last error. */
export function AgentStateReason({ agent }: { agent: Agent }) {
  const { delivery } = agent;
  const reason = agent.status === "active" && delivery?.reason;
  const error = delivery && needsAttention(delivery) && delivery.last_error?.reason;
  return (
    <div className="health">
      <span>
        <AgentState agent={agent} />
      </span>
      {reason && <span className="muted small">{reason}</span>}
      {delivery?.limited_by && <span className="muted small">{LIMITED[delivery.limited_by]}</span>}
      {reason && error && !reason.includes(error) && <span className="muted small">Last error: {error}</span>}
    </div>
  );
}

const LIMITED = {
  max_in_flight: "Deliveries wait: its limit of deliveries at once is reached.",
  max_per_minute: "Deliveries wait: its limit per minute is reached.",
};

export const MODES: Option<Agent["delivery_mode"]>[] = [
  { value: "poll", label: "Poll: the agent fetches its events" },
  { value: "sse", label: "SSE: the agent keeps a stream open" },
  { value: "push", label: "Push: events are posted to an endpoint" },
];

export const MODE_NAMES: Record<Agent["delivery_mode"], string> = { poll: "Poll", sse: "SSE", push: "Push" };

export const FORMATS: Option<Agent["push_format"]>[] = [
  { value: "structured", label: "Structured: the whole event in the body" },
  { value: "binary", label: "Binary: data in the body, attributes in headers" },
];
