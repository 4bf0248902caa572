import type { Ledger, Receipt, ReceiverRecord, SentEvent } from "./ledger.ts";
import type { Listed } from "./make.ts";

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

/** Holds what the clients know against what the server says once everything is delivered. @returns all that is wrong */
export function prove(ledger: Ledger, stored: StoredEvent[], things: Listed[] = []): string[] {
  return [
    ...ledger.findings,
    ...wrongThings(ledger, things),
    ...missing(ledger, stored),
    ...stored.flatMap((event) => wrongWithEvent(ledger, event)),
    ...stored.flatMap((event) => ledger.receivers.flatMap((receiver) => wrongWithRows(receiver, event))),
    ...ledger.receivers.flatMap((receiver) => [...receiver.overlaps(), ...wrongCount(receiver)]),
    ...ledger.receivers.flatMap((receiver) => (receiver.inOrder ? outOfOrder(ledger, receiver) : [])),
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

/** Each idempotency key created one thing, however often the request was repeated, and what was ended stays so. */
function wrongThings({ made, unmade, ended }: Ledger, things: Listed[]): string[] {
  const byName = Map.groupBy(things, ({ name }) => name);
  const wrong = [...made.keys()].flatMap((name) => {
    const { length, 0: first } = byName.get(name) ?? [];
    if (length !== 1) return [`${name} was made, and is there ${length} times`];
    return ended.has(name) && !first?.isEnded ? [`${name} was ended, and is open`] : [];
  });
  const unknown = [...byName.keys()].filter((name) => !made.has(name) && !unmade.has(name));
  return [
    ...wrong,
    ...unknown.map((name) => `${name} is there, and was never made`),
    ...[...unmade].map((name) => `${name} was never answered`),
  ];
}

/** Of two events with one key, the second sent after the first was answered: it comes when that was acknowledged. */
function outOfOrder(
  { sent, sentAt, answeredAt }: Ledger,
  { name, receipts, settling }: ReceiverRecord,
): string[] {
  const given = [...receipts].map(([id, [first]]) => {
    const { ce_id, came_at } = first as Receipt;
    const settled_at = settling.get(id) ?? Number.POSITIVE_INFINITY;
    return { ce_id, came_at, settled_at, key: sent.get(ce_id)?.data.key };
  });
  return [...Map.groupBy(given, ({ key }) => key).values()].flatMap((all) => {
    const time = (times: Map<string, number>, { ce_id }: (typeof given)[0]) =>
      times.get(ce_id) ?? Number.POSITIVE_INFINITY;
    const earlier = all.toSorted((a, b) => time(answeredAt, a) - time(answeredAt, b));
    const later = all.toSorted((a, b) => time(sentAt, a) - time(sentAt, b));
    let latest: (typeof given)[0] | undefined;
    return later.flatMap((each) => {
      for (let [next] = earlier; next && time(answeredAt, next) < time(sentAt, each); [next] = earlier) {
        if (!latest || next.settled_at > latest.settled_at) latest = next;
        earlier.shift();
      }
      return latest && latest.settled_at > each.came_at
        ? [`${name}: ${each.ce_id} of ${each.key} came before ${latest.ce_id} was acknowledged`]
        : [];
    });
  });
}
