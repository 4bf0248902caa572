import { AsyncLocalStorage } from "node:async_hooks";
import { type Fault, ruleBroken } from "../contract/faults.ts";
import { LruMap } from "../lru-map.ts";
import { FairQueue, type Release, type Share, type Waiting } from "./fair-queue.ts";
import { TokenBuckets } from "./token-bucket.ts";

/** Bytes of rows that one call may read. */
export const ALLOWANCE = 33_554_432;

/** Processor time of a call from which its steps wait for their turns. */
const DEAR_MS = 5;
/** Reading, decoding and presenting so many bytes of rows takes about a millisecond. */
const BYTES_PER_MS = 50_000;
/** Calls of a kind that run at once before it is known what they cost. */
const MOST_UNKNOWN = 4;
/** The known cost of a kind falls by this share with every cheap call. */
const FORGOTTEN = 1 / 20;
const MOST_KINDS = 10_000;

/** The calls of one operation by one tenant. */
interface Kind {
  /** Cost of the dearest of the latest calls; null until one has ended. */
  ms: number | null;
  running: number;
}

/** A call of an operation, and what it has cost so far. */
interface Work {
  /** Calls that began earlier take their turns first: many dear ones at once end one after the other, not all late. */
  order: number;
  share: Share;
  kind: Kind;
  ms: number;
  bytes: number;
  /** Give back the memory of what was read. */
  held: Release[];
  /** It has no caller who could be refused: it waits for each turn as long as that takes. */
  isBackground: boolean;
  /** Later work in its context is no part of it. */
  isOver: boolean;
}

/**
 * The door of a node for dear work. The cost of a call is measured where it passes: bytes and time at reads of the
 * record, time at long work on the main thread. Each further step of a dear call, and of calls of its kind for a while,
 * waits here for its turn, so that those of other tenants run in between. Steps of cheap calls pass. Background work has
 * separate turns, so that no tenant's calls hold back a loop that serves all.
 */
export const turns = new FairQueue({
  ...{ capacity: 4, reserve: 4, perTenant: 3, perCaller: 2, chargeTime: true },
  // Below the timeout of a call between services.
  ...{ maxWaiting: 8192, maxWaitingPerCaller: 1024, patienceMs: 10_000 },
});

/**
 * A node's memory for what callers send and get: bodies, rows that calls have read, events that are being written, and
 * answers on their way. Short ones are not counted. Nobody may wait for it while holding some.
 */
export const memory = new FairQueue({
  ...{ capacity: 8 * ALLOWANCE, perTenant: "half", perCaller: 2 * ALLOWANCE },
  ...{ maxWaiting: 4 * ALLOWANCE, patienceMs: 10_000 },
});
const COUNTED_BYTES = 65_536;

const current = new AsyncLocalStorage<Work>();
let begun = 0;
const kinds = new LruMap<string, Kind>(MOST_KINDS);

function working(): Work | undefined {
  const work = current.getStore();
  return work?.isOver ? undefined : work;
}

/** Runs what a call only sets off, such as a loop that serves all tenants: it is no part of the call. */
export function apart<R>(task: () => R): R {
  return current.exit(task);
}

/** Carries out a unit of background work for its tenant: its steps take turns with those of the tenants' calls. */
export function asBackground<R>(tenant_id: string, what: string, unit: () => R): R {
  return asWork({ tenant_id, caller: "background" }, what, unit, true);
}

/** Carries out a call of an operation for its caller. Calls within it, on this node, are part of it. */
export function asWork<R>(share: Share, action: string, call: () => R, isBackground = false): R {
  if (working()) return call();
  if (!isBackground) noteServed(share.tenant_id);
  const kind = kindOf(`${share.tenant_id} ${action}`);
  const work: Work = { order: ++begun, share, kind, ms: 0, bytes: 0, held: [], isBackground, isOver: false };
  const ended = () => {
    work.isOver = true;
    kind.running--;
    for (const release of work.held) release();
    kind.ms = Math.max(work.ms, (kind.ms ?? 0) * (1 - FORGOTTEN));
  };
  kind.running++;
  try {
    const result = current.run(work, call);
    if (result instanceof Promise) result.then(ended, ended);
    else ended();
    return result;
  } catch (err) {
    ended();
    throw err;
  }
}

function kindOf(key: string): Kind {
  const known = kinds.get(key);
  if (known) return known;
  const kind: Kind = { ms: null, running: 0 };
  kinds.set(key, kind);
  return kind;
}

export function spend(ms: number): void {
  const work = working();
  if (work) work.ms += ms;
}

/** Counts the time of long work that cannot be divided. */
export function measured<R>(task: () => R): R {
  const begun = performance.now();
  try {
    return task();
  } finally {
    spend(performance.now() - begun);
  }
}

/** Counts rows read by the call. @throws Fault business_rule_violation beyond its allowance, rate_limited by its tenant's */
export function countRead(bytes: number): void {
  const work = working();
  if (!work) return;
  work.ms += bytes / BYTES_PER_MS;
  if (work.isBackground) return;
  work.bytes += bytes;
  if (work.bytes > ALLOWANCE) throw answerTooLarge();
  if (bytes >= COUNTED_BYTES) work.held.push(memory.enter(work.share, bytes));
}

export function answerTooLarge(): Fault {
  return ruleBroken("answer_too_large", "The request reads too much at once. Ask for fewer or shorter rows.");
}

function isDear({ ms, kind }: Work): boolean {
  return ms >= DEAR_MS || (kind.ms === null ? kind.running > MOST_UNKNOWN : kind.ms >= DEAR_MS);
}

/** Takes a step, such as a read, in the turn of the current call. @throws Fault rate_limited, service_unavailable */
export function inTurn<R>(step: () => Promise<R>, how?: Waiting): Promise<R> {
  const work = working();
  return work && isDear(work) ? stepOf(work, step, how) : step();
}

async function stepOf<R>(work: Work, step: () => Promise<R>, how?: Waiting): Promise<R> {
  const { share, order, isBackground } = work;
  const waiting = { ...how, ...(isBackground && { queued: 0, reserved: true }), order };
  const release = await turns.acquire(share, 1, waiting);
  const { ms } = work;
  try {
    return await step();
  } finally {
    const since = performance.now();
    // Runs when the call waits for something again: what it did until then is part of the step.
    process.nextTick(() => {
      if (!isBackground) restAfter(share, work.ms - ms + performance.now() - since);
      setImmediate(release);
    });
  }
}

/**
 * The time of the main thread that the dear steps of a tenant take in a row, and of each second after that, while others are
 * served, too. A step cannot be interrupted: with more of it, others would meet one too often.
 */
const parts = new TokenBuckets(50, 200);
/** Charged for one step at most: its tenant waits 5 s for the next one. */
const MOST_CHARGED_MS = 250;
/** After a call of another tenant a tenant is not alone for so long. */
const COMPANY_MS = 1000;
/** The tenant of the latest call, and since when no other one was served. */
let latest = { tenant_id: "", since: Number.NEGATIVE_INFINITY };

/** Notes a call of a tenant; nobody waits for background work. */
export function noteServed(tenant_id: string): void {
  if (tenant_id !== latest.tenant_id) latest = { tenant_id, since: performance.now() };
}

/** Has a tenant rest after a step that took so long, if it has taken more than its part. */
function restAfter({ tenant_id }: Share, ms: number): void {
  const now = performance.now();
  if (tenant_id === latest.tenant_id && now - latest.since > COMPANY_MS) return;
  parts.take(tenant_id, Math.min(ms, MOST_CHARGED_MS), now);
  const rest = parts.waitOf(tenant_id, now);
  if (rest > 0) turns.rest(tenant_id, rest);
}

/** Waits for the turn of the current call, which ends with that tick of the event loop. @throws Fault as `inTurn` */
export function turn(): Promise<void> {
  return inTurn(async () => {});
}
