import type { Api } from "./http.ts";
import { ok } from "./tenancy.ts";

/** Publishes an event for each of these reasons to an agent whose deliveries die at the first nack. */
export async function makeDeadLetters(agent: Api, type: string, reasons: readonly string[]): Promise<void> {
  for (let from = 0; from < reasons.length; from += 100) {
    const some = reasons.slice(from, from + 100);
    const events = some.map((_, i) => ({
      ...{ specversion: "1.0", source: "https://shop.example.com", type },
      ...{ id: `${type} ${from + i}`, subject: `order-${from + i}`, data: {} },
    }));
    const batch = { "Content-Type": "application/cloudevents-batch+json" };
    ok(await agent.post("/events", events, batch));
    for (let left = [...some]; left.length > 0; ) {
      const { deliveries } = ok(await agent.get("/delivery/poll?wait=30"));
      const byReason = Map.groupBy(deliveries as { id: string }[], (_, i) => left[i] as string);
      for (const [reason, own] of byReason)
        ok(await agent.post("/delivery/nack", { delivery_ids: own.map(({ id }) => id), reason }));
      left = left.slice(deliveries.length);
    }
  }
}
