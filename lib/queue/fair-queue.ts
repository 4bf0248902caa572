import { callerId, type Caller as Identity } from "../access/caller.ts";
import { Fault, unavailable } from "../contract/faults.ts";

/** A user of a resource: a tenant, and the agent, person or address within it. */
export interface Share {
  tenant_id: string;
  caller: string;
}

export function shareOf(caller: Identity): Share {
  return { tenant_id: caller.tenant_id, caller: callerId(caller) };
}

/** Returns the share of a request: its caller's, or its address's; all addresses share like one tenant. */
export function requestShare({
  caller,
  ctx,
}: {
  caller: Identity | null;
  ctx: { meta: { ip?: string } };
}): Share {
  return caller ? shareOf(caller) : { tenant_id: "", caller: ctx.meta.ip ?? "" };
}

export interface FairQueueOptions {
  /** Units in use at once. A task that costs more runs alone. */
  capacity: number;
  /** Further units for tasks that are `reserved`, which others cannot take. Default: none. */
  reserve?: number;
  /** Units of one tenant in use at once; `half`: as many as it leaves free. Default: `capacity`. */
  perTenant?: number | "half";
  /** Units of one caller in use at once. Default: `perTenant`. */
  perCaller?: number;
  /** Waiting units of all tenants. */
  maxWaiting: number;
  /** Waiting units of one caller. Default: a quarter of `maxWaiting`. */
  maxWaitingPerCaller?: number;
  /** Longest wait in milliseconds. Default: no limit. */
  patienceMs?: number;
  /** Charges a task's milliseconds instead of its units, for tasks of unknown length. */
  chargeTime?: boolean;
}

/** How a task waits. */
export interface Waiting {
  /** Units to count while it waits: its cost by default. 0: it is never refused, however long it waits. */
  queued?: number;
  /** Its longest wait in milliseconds, if not the queue's. */
  patienceMs?: number | undefined;
  /** Takes units of the reserve, and of nothing else. */
  reserved?: boolean | undefined;
  /** Its place among the tasks of its caller, the lowest first. Default: behind all. */
  order?: number;
}

/** Receives the wait of each started task, in seconds, each refusal, and the time that a tenant is charged. */
export interface QueueObserver {
  waited(seconds: number): void;
  refused(): void;
  charged(tenant_id: string, ms: number): void;
}

/** Releases units of a task, by default all remaining ones. */
export type Release = (units?: number) => void;

interface Waiter {
  lane: Lane;
  tenant_id: string;
  tenant: Tenant;
  caller: Caller;
  cost: number;
  /** Its count among the waiting units. */
  queued: number;
  order: number;
  since: number;
  timer: NodeJS.Timeout | undefined;
  start(release: Release): void;
  refuse(fault: Fault): void;
}

/** The use and the queue of a tenant or a caller, in units. The waiting flow that was charged least goes next. */
class Flow {
  charged = 0;
  inUse = 0;
  /** Units that wait, as counted, and the number of tasks. */
  waiting = 0;
  tasks = 0;
}

class Caller extends Flow {
  readonly waiters: Waiter[] = [];
}

class Tenant extends Flow {
  /** On the clock of `performance.now()`. */
  restsUntil = 0;
  readonly callers = new Flows(() => new Caller());
}

const FORGET_FROM = 64;

/** Flows by id. `clock` is the charge of the flow served last: new flows start there, so that idle time is not saved. */
class Flows<F extends Flow> {
  readonly #flows = new Map<string, F>();
  readonly #create: () => F;
  #forgetAt = FORGET_FROM;
  clock = 0;

  constructor(create: () => F) {
    this.#create = create;
  }

  values(): Iterable<F> {
    return this.#flows.values();
  }

  arrive(id: string): F {
    const flow = this.#flows.get(id) ?? this.#add(id);
    if (flow.tasks === 0) flow.charged = Math.max(flow.charged, this.clock);
    return flow;
  }

  #add(id: string): F {
    if (this.#flows.size >= this.#forgetAt) this.#forgetIdle();
    const flow = this.#create();
    this.#flows.set(id, flow);
    return flow;
  }

  /** Keeps a flow that was charged more than the clock, or it would lose its debt. */
  #forgetIdle(): void {
    for (const [id, { inUse, tasks, charged }] of this.#flows)
      if (inUse === 0 && tasks === 0 && charged <= this.clock) this.#flows.delete(id);
    this.#forgetAt = Math.max(FORGET_FROM, 2 * this.#flows.size);
  }
}

/** The ordinary units of a queue, or its reserve. */
class Lane {
  readonly tenants = new Flows(() => new Tenant());
  readonly capacity: number;
  inUse = 0;
  tasks = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }
}

/**
 * Divides a resource by cost among tenants, then among the callers of each (start-time fair queueing). When the queue
 * is full, its largest user is refused, not the next arrival.
 */
export class FairQueue {
  observer: QueueObserver | undefined;
  readonly #options: FairQueueOptions;
  readonly #ordinary: Lane;
  readonly #reserve: Lane;
  #waiting = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#ordinary = new Lane(options.capacity);
    this.#reserve = new Lane(options.reserve ?? 0);
  }

  get inUse(): number {
    return this.#ordinary.inUse + this.#reserve.inUse;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Runs a task when its turn comes. @throws Fault as `acquire`, or what the task threw */
  async run<T>(share: Share, cost: number, task: () => Promise<T> | T, how?: Waiting): Promise<T> {
    const release = await this.acquire(share, cost, how);
    try {
      return await task();
    } finally {
      release();
    }
  }

  /**
   * Waits for `cost` units, which the caller must release.
   *
   * @throws Fault rate_limited when the caller fills the queue, service_unavailable after `patienceMs`
   */
  acquire(share: Share, cost: number, how: Waiting = {}): Promise<Release> {
    const { queued = cost, order = Number.POSITIVE_INFINITY } = how;
    return new Promise((start, refuse) => {
      const lane = how.reserved ? this.#reserve : this.#ordinary;
      const tenant = lane.tenants.arrive(share.tenant_id);
      const caller = tenant.callers.arrive(share.caller);
      const since = performance.now();
      const { tenant_id } = share;
      const own = { lane, tenant_id, tenant, caller, cost, queued, order, since };
      const waiter = { ...own, timer: undefined, start, refuse };
      this.#count(waiter, 1);
      const at = caller.waiters.findLastIndex((other) => other.order <= order) + 1;
      caller.waiters.splice(at, 0, waiter);
      this.#dispatch();
      if (queued > 0 && caller.waiters.includes(waiter)) this.#keepWaiting(waiter, how);
    });
  }

  /**
   * Takes units without waiting. No tenant has more of them than it leaves free: there are always some for another.
   *
   * @throws Fault rate_limited when the caller or its tenant has its share, service_unavailable while all are in use
   */
  enter({ tenant_id, caller: id }: Share, cost = 1, reserved = false): () => void {
    const { capacity, perCaller = capacity } = this.#options;
    const lane = reserved ? this.#reserve : this.#ordinary;
    const tenant = lane.tenants.arrive(tenant_id);
    const caller = tenant.callers.arrive(id);
    const free = lane.capacity - lane.inUse;
    const isOver = tenant.inUse >= free || caller.inUse >= perCaller;
    if (free <= 0 || isOver) {
      this.observer?.refused();
      throw free <= 0 ? busy() : tooMany("in progress");
    }
    use([lane, tenant, caller], cost);
    let held = cost;
    return () => {
      use([lane, tenant, caller], -held);
      held = 0;
      this.#dispatch();
    };
  }

  /** Starts none of a tenant's waiting tasks for so many milliseconds, except reserved ones. */
  rest(tenant_id: string, ms: number): void {
    this.#ordinary.tenants.arrive(tenant_id).restsUntil = performance.now() + ms;
    setTimeout(() => this.#dispatch(), Math.ceil(ms) + 1).unref();
  }

  /** Counts a task among those that wait, or no more. */
  #count({ lane, tenant, caller, queued }: Waiter, sign: 1 | -1): void {
    lane.tasks += sign;
    this.#waiting += sign * queued;
    for (const flow of [tenant, caller]) {
      flow.tasks += sign;
      flow.waiting += sign * queued;
    }
  }

  #keepWaiting(waiter: Waiter, how: Waiting): void {
    const { maxWaiting, maxWaitingPerCaller = maxWaiting / 4 } = this.#options;
    const { patienceMs = this.#options.patienceMs } = how;
    const { caller, queued } = waiter;
    if (patienceMs !== undefined)
      waiter.timer = setTimeout(() => this.#refuse(waiter, busy()), patienceMs).unref();
    // A task that costs more than the limit may wait alone.
    if (caller.waiting > Math.max(queued, maxWaitingPerCaller)) this.#refuse(waiter, tooMany());
    while (this.#waiting > Math.max(queued, maxWaiting)) this.#refuse(this.#lastOfFullest(), tooMany());
  }

  #lastOfFullest(): Waiter {
    const tenants = [...this.#ordinary.tenants.values(), ...this.#reserve.tenants.values()];
    const { waiters } = fullest(fullest(tenants).callers.values());
    return waiters.findLast(({ queued }) => queued > 0) as Waiter;
  }

  #refuse(waiter: Waiter, fault: Fault): void {
    this.#remove(waiter);
    this.observer?.refused();
    waiter.refuse(fault);
    // Smaller tasks may have waited behind it.
    this.#dispatch();
  }

  #remove(waiter: Waiter): void {
    const { caller, timer } = waiter;
    clearTimeout(timer);
    caller.waiters.splice(caller.waiters.indexOf(waiter), 1);
    this.#count(waiter, -1);
  }

  #dispatch(): void {
    for (const lane of [this.#ordinary, this.#reserve])
      for (let next = this.#next(lane); next; next = this.#next(lane)) {
        this.#remove(next);
        this.observer?.waited((performance.now() - next.since) / 1000);
        next.start(this.#begin(next));
      }
  }

  /** Returns the next task, null while it does not fit: only tasks over their tenant's or caller's limit are overtaken. */
  #next(lane: Lane): Waiter | null {
    if (lane.tasks === 0) return null;
    let next: Waiter | null = null;
    const now = performance.now();
    for (const tenant of lane.tenants.values()) {
      if (tenant.tasks === 0 || (next && tenant.charged >= next.tenant.charged)) continue;
      if (tenant.restsUntil <= now) next = this.#nextOf(tenant, lane) ?? next;
    }
    return next && fits(lane, next, lane.capacity) ? next : null;
  }

  #nextOf(tenant: Tenant, { capacity, inUse }: Lane): Waiter | null {
    const { perTenant = capacity, perCaller = capacity } = this.#options;
    const most = perTenant === "half" ? (capacity - inUse + tenant.inUse) / 2 : perTenant;
    let next: Waiter | null = null;
    for (const caller of tenant.callers.values()) {
      const [first] = caller.waiters;
      if (!first || (next && caller.charged >= next.caller.charged)) continue;
      if (fits(caller, first, perCaller)) next = first;
    }
    return next && fits(tenant, next, most) ? next : null;
  }

  #begin({ lane, tenant_id, tenant, caller, cost }: Waiter): Release {
    lane.tenants.clock = Math.max(lane.tenants.clock, tenant.charged);
    tenant.callers.clock = Math.max(tenant.callers.clock, caller.charged);
    use([lane, tenant, caller], cost);
    const { chargeTime } = this.#options;
    if (!chargeTime) charge(tenant, caller, cost);
    const started = performance.now();
    let left = cost;
    return (units = left) => {
      const granted = Math.min(units, left);
      if (granted === 0) return;
      left -= granted;
      if (chargeTime && left === 0) {
        const ms = performance.now() - started;
        charge(tenant, caller, ms);
        this.observer?.charged(tenant_id, ms);
      }
      use([lane, tenant, caller], -granted);
      this.#dispatch();
    };
  }
}

function use(by: { inUse: number }[], cost: number): void {
  for (const each of by) each.inUse += cost;
}

function charge(tenant: Tenant, caller: Caller, amount: number): void {
  tenant.charged += amount;
  caller.charged += amount;
}

/** A task that costs more than the limit runs alone. */
const fits = ({ inUse }: { inUse: number }, { cost }: Waiter, limit: number) =>
  inUse === 0 || inUse + cost <= limit;

function fullest<F extends Flow>(flows: Iterable<F>): F {
  return [...flows].reduce((a, b) => (b.waiting > a.waiting ? b : a));
}

const RETRY_AFTER_SECONDS = 1;

function tooMany(are = "waiting for the same resource"): Fault {
  const message = `Too many of your requests are ${are}. Retry in ${RETRY_AFTER_SECONDS} s.`;
  return new Fault("rate_limited", message, { retry_after_seconds: RETRY_AFTER_SECONDS });
}

const busy = () =>
  unavailable(`The service is busy. Retry in ${RETRY_AFTER_SECONDS} s.`, RETRY_AFTER_SECONDS);
