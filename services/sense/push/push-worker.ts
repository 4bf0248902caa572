import { type KeyObject, randomBytes } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { hostOf } from "../../../connectors/address-guard.ts";
import {
  type Outcome,
  outcomeOf,
  type PushResult,
  type PushSender,
  signingKeys,
} from "../../../connectors/push-sender.ts";
import type { OfAgent } from "../../../lib/access/caller.ts";
import type { FairQueue, Release } from "../../../lib/queue/fair-queue.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { PushSpan, Tracing } from "../../../observability/tracing.ts";
import type { PushFormat } from "../../identity/agents/agents.contract.ts";
import type { Claimed } from "../deliveries/claim.ts";
import type { Received } from "../deliveries/receive.ts";
import type { Outcomes } from "../deliveries/settle.ts";
import type { PushEndpointDoc } from "./push.model.ts";

export interface Target extends OfAgent {
  endpoint: string;
  format: PushFormat;
  /** Whether the agent has limits of its deliveries; absent in answers of older nodes. */
  is_limited?: boolean;
}

export interface WorkerDeps {
  broker: ServiceBroker;
  sender: PushSender;
  /** Shares attempts fairly between tenants, and between the hosts of each. */
  attempts: FairQueue;
  tracing?: Tracing | undefined;
  now(): number;
  report(err: unknown): void;
  /** Persists the breaker's state; null when it closed. */
  saveBreaker(target: Target, breaker: OpenBreaker | null): Promise<void>;
}

/** Attempts at once: at first, and after as many successes. */
const FIRST_AT_ONCE = 8;
const MOST_AT_ONCE = 128;
/** Places asked for at a time: more would keep the free ones from others until so many are. */
const MOST_CLAIMED = 32;
/** Longer than an attempt can take, so that no delivery is attempted twice at the same time. */
const LEASE_SECONDS = 30;
/** Secrets are reloaded after this time: a replaced one expires by itself. */
const SECRETS_FRESH_MS = 60_000;

/** Units of the attempts' queue for the next claim. */
interface Grant {
  units: number;
  release: Release;
}

const noOutcomes = (): Outcomes => ({ acknowledged: [], failed: [], released: [] });
const count = ({ acknowledged, failed, released }: Outcomes) =>
  acknowledged.length + failed.length + released.length;

/**
 * Pushes one agent's deliveries, a few at a time; a slow endpoint gets fewer, and never delays another agent. One call,
 * and one commit, settles what was answered meanwhile and claims the next.
 */
export class PushWorker {
  readonly target: Target;
  readonly #deps: WorkerDeps;
  readonly #abort = new AbortController();
  #keys: { read: Promise<KeyObject[]>; until: number } | undefined;
  #breaker: OpenBreaker | null;
  #pausedUntil = 0;
  /** The agent's limits allow no more until then, or until something is settled. */
  #limitedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #atOnce = FIRST_AT_ONCE;
  #underWay = new Set<Promise<void>>();
  #wanted = false;
  #outcomes = noOutcomes();
  #acquiring: Promise<void> | undefined;
  #grant: Grant | undefined;
  #pumping: NodeJS.Immediate | undefined;
  #exchanging: Promise<void> | undefined;

  constructor(target: Target, breaker: OpenBreaker | null, deps: WorkerDeps) {
    this.target = target;
    this.#breaker = breaker;
    this.#deps = deps;
  }

  /** Whether only a wake-up or a change makes it look for deliveries. */
  get isIdle(): boolean {
    return !this.#wanted && this.#isSettled && this.#underWay.size === 0 && this.#waitMs() <= 0;
  }

  /** Whether its endpoint could not be reached, and is only probed until it is. */
  get isUnreachable(): boolean {
    return this.#breaker !== null;
  }

  nudge(): void {
    this.#wanted = true;
    this.#limitedUntil = 0;
    this.#pump();
  }

  /**
   * Applies a change of the agent: its secrets may have changed, and its endpoint may be valid again. An unreachable one
   * is tried at once: saving its address is how a person asks for that.
   */
  changed(): void {
    this.#keys = undefined;
    if (this.#breaker) this.#breaker = { ...this.#breaker, next_probe_at: new Date(this.#deps.now()) };
    if (this.#pausedUntil === Number.POSITIVE_INFINITY) this.#pausedUntil = 0;
    this.nudge();
  }

  /** Aborts and releases attempts in progress; resolves when all are settled. */
  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await this.#exchanging;
    await Promise.all(this.#underWay);
    await this.#settled();
  }

  get #isSettled(): boolean {
    return !this.#exchanging && count(this.#outcomes) === 0;
  }

  /** Resolves when all outcomes so far are written, or their write has failed: the lease is the backstop. */
  async #settled(): Promise<void> {
    while (!this.#isSettled) await (this.#exchanging ?? new Promise((next) => setImmediate(next)));
  }

  /** Answers of one event loop tick are settled together. */
  #pumpSoon(): void {
    this.#pumping ??= setImmediate(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#exchanging) return;
    if (!this.#acquire() && !this.#grant && this.#isSettled) return;
    this.#exchanging = this.#exchange()
      .catch((err) => this.#failed(err))
      .finally(() => {
        this.#exchanging = undefined;
        this.#pump();
      });
  }

  /** Asks for as many attempts as may begin now; returns whether it did. */
  #acquire(): boolean {
    if (this.#acquiring || this.#grant) return false;
    const units = Math.min(this.#capacity(), MOST_CLAIMED);
    if (units === 0) return false;
    const { tenant_id, endpoint } = this.target;
    this.#acquiring = this.#deps.attempts
      .acquire({ tenant_id, caller: hostOf(endpoint) }, units, { queued: 0 })
      .then((release) => {
        this.#grant = { units, release };
      })
      .catch((err) => this.#failed(err))
      .finally(() => {
        this.#acquiring = undefined;
        this.#pump();
      });
    return true;
  }

  #capacity(): number {
    if (!this.#wanted || this.#abort.signal.aborted) return 0;
    const wait = this.#waitMs();
    if (wait > 0) this.#later(wait);
    // A probe runs alone.
    const most = this.#breaker ? 1 : this.#atOnce;
    return wait > 0 ? 0 : Math.max(most - this.#underWay.size, 0);
  }

  #waitMs(): number {
    const limits = [Number(this.#breaker?.next_probe_at ?? 0), this.#pausedUntil, this.#limitedUntil];
    return Math.max(...limits) - this.#deps.now();
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#pump(), Math.min(ms, 60_000));
  }

  /** Retries soon: a required service is unavailable. */
  #failed(err: unknown): void {
    this.#deps.report(err);
    this.#wanted = true;
    this.#pausedUntil = this.#deps.now() + 1000;
  }

  /** Settles what was answered, and claims and begins as many attempts as are granted. */
  async #exchange(): Promise<void> {
    // Attempts that need not wait for other endpoints are granted by then.
    await Promise.resolve();
    const { units: granted, release } = this.#grant ?? { units: 0, release: () => {} };
    this.#grant = undefined;
    let used = 0;
    try {
      const keys = Math.min(granted, this.#capacity()) > 0 ? await this.#signingKeys() : null;
      const units = keys ? Math.min(granted, this.#capacity()) : 0;
      // Only now: without the keys they are settled by the next call.
      const outcomes = this.#outcomes;
      this.#outcomes = noOutcomes();
      if (units === 0 && count(outcomes) === 0) return;
      if (units) this.#wanted = false;
      const { deliveries, drained, limited_ms } = await this.#claim(units, outcomes);
      used = deliveries.length;
      if (limited_ms !== undefined) {
        this.#wanted = true;
        this.#limitedUntil = this.#deps.now() + limited_ms;
      }
      if (drained === false) this.#wanted = true;
      for (const delivery of deliveries) this.#start(delivery, keys as KeyObject[], release);
    } catch (err) {
      this.#keys = undefined;
      throw err;
    } finally {
      release(granted - used);
    }
  }

  #claim(limit: number, outcomes: Outcomes): Promise<Received> {
    const { tenant_id, agent_id, is_limited } = this.target;
    const lease = randomBytes(9).toString("base64url");
    const own = { tenant_id, agent_id, is_limited };
    const request = { ...own, limit, wait_ms: 0, lease, lease_seconds: LEASE_SECONDS, outcomes };
    return this.#deps.broker.call<Received, unknown>("deliveries.exchange", request);
  }

  #signingKeys(): Promise<KeyObject[]> {
    const { broker, now } = this.#deps;
    if (!this.#keys || this.#keys.until <= now()) {
      const { tenant_id, agent_id } = this.target;
      const read = broker.call<string[], unknown>("agents.signing_secrets", { tenant_id, agent_id });
      this.#keys = { read: read.then(signingKeys), until: now() + SECRETS_FRESH_MS };
    }
    return this.#keys.read;
  }

  #start(delivery: Claimed, keys: KeyObject[], release: Release): void {
    const attempt = this.#attempt(delivery, keys)
      .catch((err) => this.#deps.report(err))
      .finally(() => {
        this.#underWay.delete(attempt);
        release(1);
        this.#pumpSoon();
      });
    this.#underWay.add(attempt);
  }

  async #attempt(delivery: Claimed, keys: KeyObject[]): Promise<void> {
    const { id, envelope } = delivery;
    const span = this.#span(delivery);
    const { tenant_id, agent_id, endpoint: url, format } = this.target;
    const share = { tenant_id, caller: agent_id };
    const traceparent = span?.traceparent ?? delivery.traceparent;
    const how = { binary: format === "binary", keys, traceparent, signal: this.#abort.signal };
    const result = await this.#deps.sender.send({ share, url, id, envelope, ...how });
    span?.end(spanOutcome(result));
    const outcome = outcomeOf(result);
    metrics.pushAttempts.inc({ outcome: outcome.do });
    this.#adapt(outcome);
    if (outcome.do === "stop") await this.#gone();
    if (outcome.do === "park") await this.#unreachable(outcome.reason);
    else if (outcome.do !== "release" && this.#breaker) await this.#reached();
    this.#add(delivery, outcome);
    if (outcome.do === "park") await this.#settled().then(() => this.#giveUp());
  }

  #add({ id, lease }: Claimed, outcome: Outcome): void {
    if (outcome.do === "acknowledge") this.#outcomes.acknowledged.push(id);
    else if (outcome.do === "retry") this.#outcomes.failed.push({ id, lease, ...outcome });
    else this.#outcomes.released.push({ id, lease });
    this.#limitedUntil = 0;
    this.#pumpSoon();
  }

  #span({ id: delivery_id, attempt_count, traceparent }: Claimed): PushSpan | undefined {
    if (!traceparent) return undefined;
    const { endpoint: url } = this.target;
    return this.#deps.tracing?.push({ url, delivery_id, attempt_count, traceparent });
  }

  #adapt(outcome: Outcome): void {
    if (outcome.do === "acknowledge") this.#atOnce = Math.min(this.#atOnce + 1, MOST_AT_ONCE);
    if (outcome.do !== "retry") return;
    this.#atOnce = Math.max(Math.floor(this.#atOnce / 2), 1);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#deps.now() + (outcome.delay_seconds ?? 0) * 1000);
  }

  async #unreachable(reason: string): Promise<void> {
    const now = this.#deps.now();
    this.#wanted = true;
    // Concurrent attempts fail for the same reason.
    if (this.#breaker && now < this.#breaker.next_probe_at.getTime()) return;
    if (!this.#breaker) metrics.pushBreakersOpened.inc();
    this.#breaker = opened(this.#breaker, now, reason);
    await this.#deps.saveBreaker(this.target, this.#breaker);
  }

  async #reached(): Promise<void> {
    this.#breaker = null;
    this.#wanted = true;
    await this.#deps.saveBreaker(this.target, null);
  }

  async #giveUp(): Promise<void> {
    const before = this.#breaker && parkedTooLong(this.#breaker, this.#deps.now());
    if (before === null) return;
    const { tenant_id, agent_id } = this.target;
    const reason = `the endpoint could not be reached for 24 h: ${this.#breaker?.last_error}`;
    await this.#deps.broker.call("deliveries.give_up", { tenant_id, agent_id, before, reason });
  }

  /** 410: stops pushing; deliveries remain for polls. */
  async #gone(): Promise<void> {
    const { tenant_id, agent_id, endpoint } = this.target;
    const { broker, now } = this.#deps;
    // If this write fails, the next push gets another 410.
    this.#pausedUntil = now() + LEASE_SECONDS * 1000;
    await broker.call("agents.stop_push", { tenant_id, agent_id, endpoint });
    this.#pausedUntil = Number.POSITIVE_INFINITY;
  }
}

/** Reasons are free text, but a span's `error.type` must be one of a few values. */
function spanOutcome(result: PushResult): Parameters<PushSpan["end"]>[0] {
  return result.kind === "answered" ? { status: result.status } : { error: result.kind };
}

export type OpenBreaker = Pick<PushEndpointDoc, "opened_at" | "probes" | "next_probe_at" | "last_error">;

const FIRST_PROBE_MS = 5_000;
const LONGEST_INTERVAL_MS = 3_600_000;

/** How long deliveries are parked for an unreachable endpoint. */
const PARKED_MS = DAY_MS;

/** Returns the breaker after another failure: probes at 5 s, 10 s, 20 s … up to every hour. */
export function opened(before: OpenBreaker | null, now: number, last_error: string): OpenBreaker {
  const probes = before ? before.probes + 1 : 0;
  return {
    opened_at: before?.opened_at ?? new Date(now),
    probes,
    next_probe_at: new Date(now + intervalAfter(probes)),
    last_error,
  };
}

const intervalAfter = (probes: number) => Math.min(FIRST_PROBE_MS * 2 ** probes, LONGEST_INTERVAL_MS);

/** Returns when the endpoint last could not be reached. */
export function failedAt({ next_probe_at, probes }: OpenBreaker): Date {
  return new Date(next_probe_at.getTime() - intervalAfter(probes));
}

/** Returns the creation time before which deliveries have been parked too long; null while there are none. */
export function parkedTooLong({ opened_at }: OpenBreaker, now: number): number | null {
  return now - opened_at.getTime() >= PARKED_MS ? now - PARKED_MS : null;
}
