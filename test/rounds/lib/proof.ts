import type { Ledger, ReceiverRecord, SentEvent } from "./ledger.ts";

/** An event as the server shows it to an admin after the run. */
export interface StoredEvent {
  event_id: string;
  state: string;
  payload: SentEvent;
  receivers: StoredReceiver[];
}

interface StoredReceiver {
  delivery_id: string;
  /** Name of the agent. */
  receiver: string;
  state: string;
  timeline: { at: string; what: string }[];
}

/** A channel as the server lists it after the run. */
export interface StoredChannel {
  id: string;
  name: string;
}

/** Holds what the clients know against what the server says once everything is delivered. @returns all that is wrong */
export function prove(ledger: Ledger, stored: StoredEvent[], channels: StoredChannel[] = []): string[] {
  return [
    ...ledger.findings,
    ...wrongChannels(ledger, channels),
    ...missing(ledger, stored),
    ...stored.flatMap((event) => wrongWithEvent(ledger, event)),
    ...stored.flatMap((event) => ledger.receivers.flatMap((receiver) => wrongWithRows(receiver, event))),
    ...ledger.receivers.flatMap((receiver) => [...receiver.overlaps(), ...wrongCount(receiver)]),
  ];
}

function missing(ledger: Ledger, stored: StoredEvent[]): string[] {
  const there = new Map<string, string>();
  const doubled: string[] = [];
  for (const { event_id, payload } of stored) {
    if (there.has(payload.id)) doubled.push(`${payload.id} is stored twice`);
    there.set(payload.id, event_id);
  }
  const lost = [...ledger.accepted].flatMap(([id, event_id]) => {
    if (there.get(id) === event_id) return [];
    return [`${id} was accepted as ${event_id} and is ${there.get(id) ?? "lost"}`];
  });
  return [...doubled, ...lost];
}

function wrongWithEvent(ledger: Ledger, { event_id, state, payload }: StoredEvent): string[] {
  const sent = ledger.sent.get(payload.id);
  if (!sent) return [`${event_id} (${payload.id}) is stored and was never sent`];
  const wrong: string[] = [];
  if (state !== "matched") wrong.push(`${payload.id} is ${state}, not matched`);
  if (JSON.stringify(payload) !== JSON.stringify(sent)) wrong.push(`${payload.id} is not what was sent`);
  return wrong;
}

/** Expects one acknowledged and received row if an interest matched, else none. */
function wrongWithRows(receiver: ReceiverRecord, { payload, receivers }: StoredEvent): string[] {
  const rows = receivers.filter((row) => row.receiver === receiver.name);
  const wanted = receiver.wants(payload) ? 1 : 0;
  const about = `${receiver.name}: ${payload.id}`;
  if (rows.length !== wanted) return [`${about} has ${rows.length} deliveries, expected ${wanted}`];
  return rows.flatMap(({ delivery_id, state, timeline }) => {
    const wrong: string[] = [];
    if (state !== "acknowledged") wrong.push(`${about} is ${state} at the end`);
    if (receiver.receipts.get(delivery_id)?.[0]?.ce_id !== payload.id) wrong.push(`${about} never arrived`);
    const done = timeline.findIndex(({ what }) => what === "acknowledged");
    if (done >= 0 && timeline.slice(done).some(({ what }) => what === "handed_out"))
      wrong.push(`${about} was delivered after it was acknowledged`);
    return wrong;
  });
}

/** Each delivery counts once, in an answer that came or in one that was lost. */
function wrongCount({ name, counted, receipts, unsure }: ReceiverRecord): string[] {
  const least = receipts.size - unsure.size;
  if (counted >= least && counted <= receipts.size) return [];
  return [
    `${name}: ${counted} deliveries were counted as acknowledged, expected ${least} to ${receipts.size}`,
  ];
}

/** Each idempotency key created one resource, however often the request was repeated. */
function wrongChannels({ made, unmade }: Ledger, channels: StoredChannel[]): string[] {
  const wrong = [...made].flatMap(([name, id]) => {
    const ids = channels.filter((channel) => channel.name === name).map((channel) => channel.id);
    return ids.length === 1 && ids[0] === id
      ? []
      : [`channel ${name} was made as ${id} and is ${ids.join(" and ")}`];
  });
  const unknown = channels
    .filter(({ name }) => !made.has(name))
    .map(({ name }) => `channel ${name} was not made`);
  return [...wrong, ...unknown, ...[...unmade].map((name) => `channel ${name} was never answered`)];
}
