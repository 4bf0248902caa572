/** An event as it was sent. */
export interface SentEvent {
  specversion: "1.0";
  id: string;
  type: string;
  source: string;
  data: { n: number; key: string; text: string };
}

/** A delivery as a poll or a stream gave it. */
export interface Delivery {
  id: string;
  event_id: string;
  payload: SentEvent;
  attempt_count: number;
  lease_expires_at: string;
}

/** A delivery attempt that reached its receiver. Times are in ms since the epoch: client and server share a clock. */
export interface Receipt {
  ce_id: string;
  attempt: number;
  /** The server took it for this receiver then, or later. */
  claimed_at: number;
  came_at: number;
  lease_until: number;
}

/** From when to when a process was killed whose memory held leases. */
interface Kill {
  from: number;
  to: number;
}

/** How many values the key has by which one receiver wants its events in order. */
const KEYS = 7;

/** A lease is in the store after so long: a killed process has forgotten younger ones only. */
const WRITTEN_MS = 2_000;

/** Deliveries to one receiver, and its answers. */
export class ReceiverRecord {
  readonly name: string;
  readonly via: "poll" | "stream";
  readonly wants: (event: SentEvent) => boolean;
  /** Whether it wants events of one key in their order. */
  readonly inOrder: boolean;
  readonly receipts = new Map<string, Receipt[]>();
  /** Deliveries → when their acknowledgement was first sent. */
  readonly settling = new Map<string, number>();
  /** Acknowledged deliveries → when the 200 arrived. */
  readonly acknowledged = new Map<string, number>();
  readonly kills: Kill[] = [];
  /** In acknowledgements that were never answered. */
  readonly unsure = new Set<string>();
  /** Deliveries the server counted as acknowledged, over all answers. */
  counted = 0;
  readonly #underWay = new Set<string>();
  /** Acknowledged by two requests at a time: either may be the one that counts. */
  readonly #contested = new Set<string>();
  /** Delivery attempts that the receiver gave back: delivery id and attempt. */
  readonly #givenBack = new Set<string>();

  constructor(name: string, via: "poll" | "stream", wants: (event: SentEvent) => boolean, inOrder = false) {
    this.name = name;
    this.via = via;
    this.wants = wants;
    this.inOrder = inOrder;
  }

  /** Deliveries that came more than once, counting each time but the first. */
  get repeats(): number {
    return [...this.receipts.values()].reduce((sum, { length }) => sum + length - 1, 0);
  }

  /** Records a delivery attempt. @returns its problems */
  receive(delivery: Delivery, claimed_at: number, came_at = claimed_at): string[] {
    const { id, payload, attempt_count: attempt, lease_expires_at } = delivery;
    const lease_until = Date.parse(lease_expires_at);
    const receipt = { ce_id: payload.id, attempt, claimed_at, came_at, lease_until };
    const before = this.receipts.get(id) ?? [];
    this.receipts.set(id, [...before, receipt]);
    const answered = this.acknowledged.get(id);
    const wrong: string[] = [];
    if (!this.wants(payload))
      wrong.push(`was given ${payload.type} (n ${payload.data.n}), which it does not want`);
    if (answered !== undefined && claimed_at > answered)
      wrong.push("came again after its acknowledgement was answered");
    return wrong.map((what) => `${this.name}: ${id} ${what}`);
  }

  /**
   * Returns overlaps between the attempts of a delivery: attempts with the same number or with overlapping leases.
   * Covers polls only, because attempts given back by a stream are not counted.
   */
  overlaps(): string[] {
    if (this.via === "stream") return [];
    return [...this.receipts].flatMap(([id, receipts]) => {
      const sorted = receipts.toSorted((a, b) => a.attempt - b.attempt || a.came_at - b.came_at);
      return sorted.slice(1).flatMap((later, i) => {
        const earlier = sorted[i] as Receipt;
        if (this.#wasForgotten(earlier, later)) return [];
        const where = `${this.name}: ${id}, attempts ${earlier.attempt} and ${later.attempt}`;
        if (later.attempt === earlier.attempt) return [`${where} are one attempt that came twice`];
        const free =
          later.claimed_at >= earlier.lease_until || this.#givenBack.has(`${id} ${earlier.attempt}`);
        return free ? [] : [`${where} were leased at once`];
      });
    });
  }

  /** Whether the first attempt was under way, and not in the store yet, when a process was killed. */
  #wasForgotten({ came_at }: Receipt, later: Receipt): boolean {
    return this.kills.some(
      ({ from, to }) => came_at > from - WRITTEN_MS && came_at <= to && later.came_at >= from,
    );
  }

  /** Records that an attempt is about to be given back: the server may do so even if it never answers. */
  giveBack({ id, attempt_count }: Delivery): void {
    this.#givenBack.add(`${id} ${attempt_count}`);
  }

  /** Notes that an acknowledgement is about to be sent. */
  acknowledging(ids: string[]): void {
    for (const id of ids) {
      (this.#underWay.has(id) ? this.#contested : this.#underWay).add(id);
      if (!this.settling.has(id)) this.settling.set(id, Date.now());
    }
  }

  /** Notes that the answer to an acknowledgement did not come. */
  acknowledgeLost(ids: string[]): void {
    for (const id of ids) {
      this.#underWay.delete(id);
      if (!this.acknowledged.has(id)) this.unsure.add(id);
    }
  }

  /** Notes an answered acknowledgement. @returns what is wrong with the count, if anything */
  acknowledge(ids: string[], counted: number, at: number): string[] {
    const fresh = ids.filter((id) => !this.acknowledged.has(id));
    const sure = fresh.filter((id) => !this.unsure.has(id) && !this.#contested.has(id)).length;
    const most = ids.filter((id) => !this.acknowledged.has(id) || this.#contested.has(id)).length;
    for (const id of fresh) this.acknowledged.set(id, at);
    for (const id of ids) this.#underWay.delete(id);
    this.counted += counted;
    if (counted >= sure && counted <= most) return [];
    return [`${this.name}: an acknowledgement counted ${counted}, expected ${sure} to ${most}`];
  }
}

/** Requests and answers of the clients of a run, to be compared with the server's state at the end. */
export class Ledger {
  readonly sent = new Map<string, SentEvent>();
  /** Events that were answered with 202, or with 200 on a second try → their event_id. */
  readonly accepted = new Map<string, string>();
  /** Events whose answer never came. */
  readonly unanswered = new Map<string, SentEvent>();
  readonly receivers: ReceiverRecord[] = [];
  /** When events were sent and things were asked for first, and when events were answered. */
  readonly sentAt = new Map<string, number>();
  readonly answeredAt = new Map<string, number>();
  /** Names of things whose making was answered with 201 → their id. */
  readonly made = new Map<string, string>();
  /** Those whose answer never came. */
  readonly unmade = new Set<string>();
  /** Those that were brought to their end, and the answer said so. */
  readonly ended = new Set<string>();
  /** Everything that must not be, in the order it was seen. */
  readonly findings: string[] = [];
  #count = 0;

  find(...findings: string[]): void {
    this.findings.push(...findings);
  }

  /** Notes that a process was killed whose memory held leases. */
  killed(from: number, to: number): void {
    for (const { kills } of this.receivers) kills.push({ from, to });
  }

  newEvent(run: string, kind: string, text: string): SentEvent {
    const n = ++this.#count;
    const event: SentEvent = {
      ...{ specversion: "1.0", id: `${run}-${n}`, type: `com.example.${kind}`, source: "/rounds/kill" },
      data: { n, key: `k${n % KEYS}`, text },
    };
    this.sentAt.set(event.id, Date.now());
    this.sent.set(event.id, event);
    this.unanswered.set(event.id, event);
    return event;
  }

  /** Notes the answer to one event. */
  answered({ id }: SentEvent, result: { event_id?: string; status?: string }): void {
    const { event_id, status } = result;
    if (!event_id || (status !== "accepted" && status !== "duplicate")) {
      this.find(`${id} was answered with ${JSON.stringify(result)}`);
      return;
    }
    const before = this.accepted.get(id);
    if (before !== undefined && before !== event_id) this.find(`${id} is ${before} and ${event_id}`);
    this.accepted.set(id, event_id);
    if (before === undefined) this.answeredAt.set(id, Date.now());
    this.unanswered.delete(id);
  }

  newName(run: string): string {
    const name = `${run}-${++this.#count}`;
    this.unmade.add(name);
    this.sentAt.set(name, Date.now());
    return name;
  }

  make(name: string, id: string): void {
    this.made.set(name, id);
    this.unmade.delete(name);
  }
}
