import type { ServiceBroker } from "moleculer";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import type { A2aTaskDoc } from "./a2a-tasks.model.ts";

/**
 * Delivers an event about a task to its agent alone, whatever its interests. Repeating it adds nothing: the ids of the
 * event and of its delivery derive from the task and `what`.
 */
export async function announceTask(
  broker: ServiceBroker,
  { _id: task_id, tenant_id, agent_id, context_id }: A2aTaskDoc,
  type: PlatformEventType,
  what: string,
): Promise<void> {
  const data = { task_id, context_id };
  const audience = { scope: "agent", agent_id, team_id: null };
  const emission = { type, subject: task_id, data, dedupe: `a2a ${task_id} ${type} ${what}`, audience };
  const { event_id } = await broker.call<{ event_id: string }, object>("events.emit", {
    tenant_id,
    ...emission,
  });
  const delivery = {
    ...{ tenant_id, event_id, agent_id, type, priority: 0, enrichment_depth: "none" },
    matched: { interest_ids: [], feed_ids: [] },
  };
  await broker.call("deliveries.enqueue", { deliveries: [delivery] });
}
