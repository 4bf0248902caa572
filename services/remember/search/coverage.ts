import { ownerOf } from "../../../mixins/affinity.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";

/** The search nodes as one of them, `self`, sees them. */
export interface View {
  self: string;
  nodes: string[];
}

/** Indexes that hold a tenant: its owner's, and that of the node which owns it when the owner leaves. */
const COPIES = 2;

/** Whether searches of a tenant go to this node. */
export function owns({ self, nodes }: View, tenant_id: string): boolean {
  return ownerOf(tenant_id, endpoints(nodes)).id === self;
}

/** Whether this node's index holds a tenant. */
export function holds(view: View, tenant_id: string): boolean {
  if (holdsAll(view)) return true;
  const { self, nodes } = view;
  const owner = ownerOf(tenant_id, endpoints(nodes)).id;
  if (owner === self) return true;
  return ownerOf(tenant_id, endpoints(nodes.filter((id) => id !== owner))).id === self;
}

/** Whether there are so few nodes that each holds every tenant. */
function holdsAll({ nodes }: View): boolean {
  return nodes.length <= COPIES;
}

function isSameView(one: View, other: View): boolean {
  return one.self === other.self && one.nodes.join() === other.nodes.join();
}

const endpoints = (nodes: readonly string[]) => nodes.map((id) => ({ id }));

/** The cursor for the nodes among which the index was complete. */
const CURSOR = "nodes";
/** A node that is only being restarted is back by then: until then no other fetches its tenants, unless asked for them. */
const STEADY_MS = 60_000;
/** The same for a node that sees no other: when NATS is away, not every node may fetch everything. */
const STEADY_ALONE_MS = 600_000;
/** How long entries of tenants that only other nodes hold are kept, in case they come back. */
const KEPT_MS = 600_000;

/**
 * Which tenants this node's index holds completely: its share among the nodes at the time when it was last complete, and
 * the tenants filled since.
 */
export class Coverage {
  readonly #index: SearchIndex;
  /** Null: nothing was indexed yet. */
  #complete: View | null = null;
  #current: View;
  #since = performance.now();
  /** Domains and tenants that were filled since. */
  readonly #filled = new Set<string>();
  /** Tenants of searches that the index could not answer completely. */
  readonly #asked = new Set<string>();
  #isSaved = false;
  #isTidy = false;

  /** @param current the nodes as seen now */
  constructor(index: SearchIndex, current: View) {
    this.#index = index;
    this.#current = current;
  }

  /** Reads the state of the index. */
  async begin(): Promise<void> {
    const kept = await this.#index.cursor(CURSOR);
    this.#isSaved = kept !== null;
    if (kept !== null) this.#complete = JSON.parse(kept) as View;
  }

  /** A new index will be complete after its first pass. */
  start(): void {
    this.#complete ??= this.#current;
  }

  /** Saves which tenants the cursors of domains are valid for. Must precede these. */
  async save(): Promise<void> {
    if (this.#isSaved) return;
    this.#isSaved = await this.#index.setCursor(CURSOR, JSON.stringify(this.#complete), true);
  }

  get view(): View {
    return this.#current;
  }

  /** Notes which nodes there are now; returns whether others than before. */
  see(view: View): boolean {
    if (isSameView(view, this.#current)) return false;
    this.#current = view;
    this.#since = performance.now();
    this.#isTidy = false;
    return true;
  }

  /** Whether the index holds the tenant's entries of a domain. */
  has(domain: string, tenant_id: string): boolean {
    const isHeld = this.#complete !== null && holds(this.#complete, tenant_id);
    return isHeld || this.#filled.has(`${domain} ${tenant_id}`);
  }

  /** Whether changes of the tenant's entries belong into the index. */
  wants(domain: string, tenant_id: string): boolean {
    return holds(this.#current, tenant_id) || this.has(domain, tenant_id);
  }

  /** Whether the index may hold another share than that among the current nodes. */
  get isBehind(): boolean {
    if (this.#complete === null) return false;
    if (holdsAll(this.#complete) && holdsAll(this.#current)) return false;
    return !isSameView(this.#complete, this.#current);
  }

  /** Whether no node has joined or left for a while. */
  get isSteady(): boolean {
    const isAlone = this.#current.nodes.length === 1;
    return performance.now() - this.#since >= (isAlone ? STEADY_ALONE_MS : STEADY_MS);
  }

  /** Asks for a tenant's entries, which are fetched next; returns whether nobody did so before. */
  ask(tenant_id: string): boolean {
    if (this.#asked.has(tenant_id)) return false;
    this.#asked.add(tenant_id);
    return true;
  }

  get isAsked(): boolean {
    return this.#asked.size > 0;
  }

  /** Whether the tenant's entries are to be fetched: at once if a search needs them, else when the nodes are steady. */
  isDue(domain: string, tenant_id: string, isSteady: boolean): boolean {
    if (this.has(domain, tenant_id) || !holds(this.#current, tenant_id)) return false;
    return isSteady || this.#asked.has(tenant_id);
  }

  fill(domain: string, tenant_id: string): void {
    this.#filled.add(`${domain} ${tenant_id}`);
  }

  /** Notes that every tenant of the share among these nodes was filled. */
  async complete(view: View): Promise<void> {
    if (!isSameView(view, this.#current)) return;
    this.#complete = view;
    this.#filled.clear();
    this.#asked.clear();
    this.#isSaved = false;
    await this.save();
  }

  /** Removes the entries of tenants that only other nodes hold, some time after that changed. */
  async tidy(): Promise<void> {
    if (this.#isTidy || this.isBehind || performance.now() - this.#since < KEPT_MS) return;
    await this.#index.release((tenant_id) => holds(this.#current, tenant_id));
    this.#isTidy = true;
  }
}
