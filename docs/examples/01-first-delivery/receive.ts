import type { Api } from "./api.ts";

interface Delivery {
  id: string;
  event_id: string;
  payload: { id: string; type: string };
}

/** Long-polls until `wanted` events have arrived, acknowledging each page with the next poll. Returns their types. */
export async function receiveByPoll(api: Api, wanted: number): Promise<string[]> {
  const seen = new Map<string, string>();
  let held: Delivery[] = [];
  while (seen.size < wanted) {
    const ack = { delivery_ids: held.map(({ id }) => id) };
    const next = await api.post<{ deliveries: Delivery[] }>("/delivery/next", { ack, wait: 10 });
    held = next.deliveries;
    if (held.length === 0) break;
    for (const { payload } of held) seen.set(payload.id, payload.type);
  }
  await acknowledge(api, held);
  return [...seen.values()];
}

/** Reads `wanted` events from a stream, acknowledging five at a time. Returns their types. */
export async function receiveByStream(api: Api, wanted: number): Promise<string[]> {
  const seen = new Map<string, string>();
  let held: Delivery[] = [];
  for await (const line of api.lines("/delivery/stream")) {
    if (!line.startsWith("data:")) continue;
    const delivery = JSON.parse(line.slice(5)) as Delivery;
    seen.set(delivery.payload.id, delivery.payload.type);
    held.push(delivery);
    if (held.length === 5 || seen.size === wanted) {
      await acknowledge(api, held);
      held = [];
    }
    if (seen.size === wanted) break;
  }
  return [...seen.values()];
}

async function acknowledge(api: Api, deliveries: Delivery[]): Promise<void> {
  await api.post("/delivery/ack", { delivery_ids: deliveries.map(({ id }) => id) });
}
