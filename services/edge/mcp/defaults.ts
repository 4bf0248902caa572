import type { Caller } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { newUuid } from "../../../lib/ids.ts";

interface Default {
  /** Appended to the tool's schema. */
  description: string;
  /** Returns undefined if this caller has no default. @param key that makes a call safe to repeat */
  value(caller: Caller, key: string | undefined): string | undefined;
}

const OWN_AGENT: Default = {
  description: "Default: the calling agent.",
  value: (caller) => (caller.kind === "agent" ? caller.agent_id : undefined),
};

/** Attributes of every CloudEvent that a language model should not make up. */
const EVENT: Record<string, Default> = {
  specversion: { description: "Default: 1.0.", value: () => "1.0" },
  id: {
    description: "The deduplication key, unique within the tenant. Default: a new one.",
    value: (_, key) => key ?? newUuid(),
  },
  source: {
    description: "The producing system. Default: the caller.",
    value: (caller) => `urn:sensorium:${caller.kind === "agent" ? caller.agent_id : caller.user_id}`,
  },
};

/** Returns the values that a tool fills in for required parameters. */
export function defaultsOf({ consumes, path = {} }: Operation): Record<string, Default> {
  if (consumes === "cloudevents") return EVENT;
  return "agent_id" in path ? { agent_id: OWN_AGENT } : {};
}
