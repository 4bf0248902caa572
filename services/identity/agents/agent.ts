import type { SigningSecret } from "../../../lib/crypto/secrets.ts";
import { defined } from "../../../lib/defined.ts";
import type { AgentState, DeliveryMode } from "./agents.contract.ts";
import type { AgentDoc } from "./agents.model.ts";

const SETTABLE = [
  "name",
  "description",
  "delivery_mode",
  "delivery_endpoint",
  "push_format",
  "a2a",
  "team_id",
  "owner_user_id",
  "visibility_timeout_seconds",
  "retry_budget",
  "retry_delays_seconds",
  "max_in_flight",
  "max_per_minute",
] as const satisfies (keyof AgentDoc)[];

/** Settings that callers may change; absent ones stay unchanged. */
export type Settings = Partial<Pick<AgentDoc, (typeof SETTABLE)[number]>>;

/** Returns the fields to write for an update. Setting an endpoint, even the same, resumes pushes. */
export function toChanges(given: Settings): Settings & { push_stopped?: false } {
  const changes: Settings = defined(Object.fromEntries(SETTABLE.map((field) => [field, given[field]])));
  return given.delivery_endpoint === undefined ? changes : { ...changes, push_stopped: false };
}

interface Beginning {
  _id: string;
  tenant_id: string;
  at: Date;
  signing: SigningSecret;
}

export function newAgent(
  given: Settings & { name: string; delivery_mode: DeliveryMode },
  { _id, tenant_id, at, signing }: Beginning,
): AgentDoc {
  return {
    description: null,
    delivery_endpoint: null,
    push_format: "structured",
    a2a: false,
    team_id: null,
    owner_user_id: null,
    visibility_timeout_seconds: null,
    retry_budget: null,
    retry_delays_seconds: null,
    max_in_flight: null,
    max_per_minute: null,
    name: given.name,
    delivery_mode: given.delivery_mode,
    ...toChanges(given),
    _id,
    tenant_id,
    status: "active",
    push_stopped: false,
    signing_secrets: [signing],
    signing_version: 1,
    created_at: at,
    updated_at: at,
  };
}

/** Returns an agent's state for other domains. */
export function toState(agent: AgentDoc): AgentState {
  const { token_version = 0, owner_version = 0 } = agent;
  return { ...presentShared(agent), token_version, owner_version, created_at: agent.created_at.getTime() };
}

function presentShared(agent: AgentDoc): Omit<AgentState, "token_version" | "owner_version" | "created_at"> {
  const { _id, tenant_id, name, status, team_id, delivery_mode, delivery_endpoint, push_stopped } = agent;
  const { owner_user_id, visibility_timeout_seconds, retry_budget } = agent;
  return {
    id: _id,
    tenant_id,
    name,
    status,
    team_id,
    owner_user_id,
    delivery_mode,
    delivery_endpoint,
    push_format: agent.push_format ?? "structured",
    push_stopped,
    a2a: agent.a2a ?? false,
    visibility_timeout_seconds,
    retry_budget,
    retry_delays_seconds: agent.retry_delays_seconds ?? null,
    max_in_flight: agent.max_in_flight ?? null,
    max_per_minute: agent.max_per_minute ?? null,
  };
}

/** Formats an agent for callers. */
export function present(agent: AgentDoc) {
  return {
    ...presentShared(agent),
    description: agent.description,
    created_at: agent.created_at.toISOString(),
    updated_at: agent.updated_at.toISOString(),
  };
}
