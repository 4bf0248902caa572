import type { PushFormat } from "../../identity/agents/agents.contract.ts";

/** An agent with push delivery. */
export interface Target {
  tenant_id: string;
  agent_id: string;
  endpoint: string;
  format: PushFormat;
  /** Whether the agent has limits of its deliveries; absent in answers of older nodes. */
  is_limited?: boolean;
}
