import { callerId, type Caller as Identity } from "../access/caller.ts";
import { Fault } from "../contract/faults.ts";

/** Who uses a resource: a tenant, and the agent, person or address within it. */
export interface Share {
  tenant_id: string;
  caller: string;
}

/** The share of an authenticated caller. */
export function shareOf(caller: Identity): Share {
  return { tenant_id: caller.tenant_id, caller: callerId(caller) };
}

export interface FairQueueOptions {
  /** Units in use at once. A task that costs more runs alone. */
  capacity: number;
  /** Units of one tenant in use at once. Default: `capacity`. */
  perTenant?: number;
  /** Units of one caller in use at once. Default: `perTenant`. */
  perCaller?: number;
  /** Units that wait, over all tenants. */
  maxWaiting: number;
  /** Units that wait for one caller. Default: a quarter of `maxWaiting`. */
  maxWaitingPerCaller?: number;
  /** Longest wait in milliseconds. Default: no limit. */
  patienceMs?: number;
  /** For tasks of unknown length: charges the milliseconds that a task took instead of its units. */
  chargeTime?: boolean;
  /** Receives the wait of each task that starts, in seconds, and each refusal. */
  observer?: { waited(seconds: number): void; refused(): void };
}

/** Returns some units of a task, by default all that it still has. */
export type Release = (units?: number) => void;

interface Waiter {
  tenant: Tenant;
  caller: Caller;
  cost: number;
  since: number;
  timer: NodeJS.Timeout | undefined;
  start(release: Release): void;
  refuse(fault: Fault): void;
}

/** What a tenant or a caller uses and waits for, in units. Of those that wait, the one charged least is next. */
class Lane {
  charged = 0;
  inUse = 0;
  waiting = 0;
}

class Caller extends Lane {
  readonly waiters: Waiter[] = [];
}

class Tenant extends Lane {
  readonly callers = new Lanes(() => new Caller());
}

const FORGET_FROM = 64;

/** Lanes by id. `clock` is what the lane served last had been charged: a newcomer starts there, so idle time is not saved up. */
class Lanes<L extends Lane> {
  readonly #lanes = new Map<string, L>();
  readonly #make: () => L;
  #forgetAt = FORGET_FROM;
  clock = 0;

  constructor(make: () => L) {
    this.#make = make;
  }

  values(): Iterable<L> {
    return this.#lanes.values();
  }

  arrive(id: string): L {
    const lane = this.#lanes.get(id) ?? this.#add(id);
    if (lane.waiting === 0) lane.charged = Math.max(lane.charged, this.clock);
    return lane;
  }

  #add(id: string): L {
    if (this.#lanes.size >= this.#forgetAt) this.#forgetIdle();
    const lane = this.#make();
    this.#lanes.set(id, lane);
    return lane;
  }

  /** A lane that was charged more than the clock is kept: it would lose its debt. */
  #forgetIdle(): void {
    for (const [id, { inUse, waiting, charged }] of this.#lanes)
      if (inUse === 0 && waiting === 0 && charged <= this.clock) this.#lanes.delete(id);
    this.#forgetAt = Math.max(FORGET_FROM, 2 * this.#lanes.size);
  }
}

/**
 * Divides a resource by cost among tenants, then among the callers of each (start-time fair queueing). It is bounded:
 * when it is full, the caller that fills it is refused, not the one that comes next.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  #tenants = new Lanes(() => new Tenant());
  #inUse = 0;
  #waiting = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Units in use. */
  get inUse(): number {
    return this.#inUse;
  }

  /** Units that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Runs a task when its turn comes. @throws Fault as `acquire`, or what the task threw */
  async run<T>(share: Share, cost: number, task: () => Promise<T> | T): Promise<T> {
    const release = await this.acquire(share, cost);
    try {
      return await task();
    } finally {
      release();
    }
  }

  /**
   * Waits for `cost` units, which the caller has to release.
   *
   * @throws Fault rate_limited when the caller fills the queue, service_unavailable after `patienceMs`
   */
  acquire(share: Share, cost: number): Promise<Release> {
    return new Promise((start, refuse) => {
      const tenant = this.#tenants.arrive(share.tenant_id);
      const caller = tenant.callers.arrive(share.caller);
      const waiter = { tenant, caller, cost, since: performance.now(), timer: undefined, start, refuse };
      this.#enqueue(waiter);
      this.#dispatch();
      if (caller.waiters.includes(waiter)) this.#keepWaiting(waiter);
    });
  }

  #enqueue(waiter: Waiter): void {
    const { tenant, caller, cost } = waiter;
    caller.waiters.push(waiter);
    this.#waiting += cost;
    tenant.waiting += cost;
    caller.waiting += cost;
  }

  #keepWaiting(waiter: Waiter): void {
    const { patienceMs, maxWaiting, maxWaitingPerCaller = maxWaiting / 4 } = this.#options;
    const { caller, cost } = waiter;
    if (patienceMs !== undefined)
      waiter.timer = setTimeout(() => this.#refuse(waiter, busy()), patienceMs).unref();
    // One that costs more than the bound may wait alone.
    if (caller.waiting > Math.max(cost, maxWaitingPerCaller)) this.#refuse(waiter, tooMany());
    while (this.#waiting > Math.max(cost, maxWaiting)) this.#refuse(this.#lastOfFullest(), tooMany());
  }

  #lastOfFullest(): Waiter {
    return fullest(fullest(this.#tenants.values()).callers.values()).waiters.at(-1) as Waiter;
  }

  #refuse(waiter: Waiter, fault: Fault): void {
    this.#remove(waiter);
    this.#options.observer?.refused();
    waiter.refuse(fault);
    // It may have held up smaller ones.
    this.#dispatch();
  }

  #remove(waiter: Waiter): void {
    const { tenant, caller, cost, timer } = waiter;
    clearTimeout(timer);
    caller.waiters.splice(caller.waiters.indexOf(waiter), 1);
    this.#waiting -= cost;
    tenant.waiting -= cost;
    caller.waiting -= cost;
  }

  #dispatch(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#remove(next);
      this.#options.observer?.waited((performance.now() - next.since) / 1000);
      next.start(this.#begin(next));
    }
  }

  /** Whose turn it is. While that task does not fit, none goes before it, but for those over a limit of their own. */
  #next(): Waiter | null {
    const { capacity } = this.#options;
    if (this.#waiting === 0) return null;
    let next: Waiter | null = null;
    for (const tenant of this.#tenants.values()) {
      if (tenant.waiting === 0 || (next && tenant.charged >= next.tenant.charged)) continue;
      next = this.#nextOf(tenant) ?? next;
    }
    return next && (this.#inUse === 0 || this.#inUse + next.cost <= capacity) ? next : null;
  }

  #nextOf(tenant: Tenant): Waiter | null {
    const { capacity, perTenant = capacity, perCaller = perTenant } = this.#options;
    let next: Waiter | null = null;
    for (const caller of tenant.callers.values()) {
      const [first] = caller.waiters;
      if (!first || (next && caller.charged >= next.caller.charged)) continue;
      if (fits(caller, first, perCaller)) next = first;
    }
    return next && fits(tenant, next, perTenant) ? next : null;
  }

  #begin({ tenant, caller, cost }: Waiter): Release {
    this.#tenants.clock = Math.max(this.#tenants.clock, tenant.charged);
    tenant.callers.clock = Math.max(tenant.callers.clock, caller.charged);
    this.#use(tenant, caller, cost);
    const { chargeTime } = this.#options;
    if (!chargeTime) charge(tenant, caller, cost);
    const started = performance.now();
    let left = cost;
    return (units = left) => {
      const given = Math.min(units, left);
      if (given === 0) return;
      left -= given;
      if (chargeTime && left === 0) charge(tenant, caller, performance.now() - started);
      this.#use(tenant, caller, -given);
      this.#dispatch();
    };
  }

  #use(tenant: Tenant, caller: Caller, cost: number): void {
    this.#inUse += cost;
    tenant.inUse += cost;
    caller.inUse += cost;
  }
}

function charge(tenant: Tenant, caller: Caller, amount: number): void {
  tenant.charged += amount;
  caller.charged += amount;
}

/** One that costs more than the limit runs alone. */
const fits = ({ inUse }: Lane, { cost }: Waiter, limit: number) => inUse === 0 || inUse + cost <= limit;

function fullest<L extends Lane>(lanes: Iterable<L>): L {
  return [...lanes].reduce((a, b) => (b.waiting > a.waiting ? b : a));
}

const RETRY_AFTER_SECONDS = 1;

function tooMany(): Fault {
  const message = "Too many of your requests are waiting for the same resource. Retry when some are done.";
  return new Fault("rate_limited", message, { retry_after_seconds: RETRY_AFTER_SECONDS });
}

function busy(): Fault {
  const message = `The service is busy. Retry in ${RETRY_AFTER_SECONDS} s.`;
  return new Fault("service_unavailable", message, { retry_after_seconds: RETRY_AFTER_SECONDS });
}
