import { type ActionSchema, type Context, type ServiceBroker, Strategies } from "moleculer";

/** A node that runs an action, as Moleculer's registry lists it. */
interface Endpoint {
  id: string;
  /** Whether it is the calling node. */
  local?: boolean;
}

interface Options {
  /** Path of an actor's key in a context, such as `params.agent_id`. */
  key?: string;
}

/**
 * Moleculer's own strategy for calls without a key; its types omit the constructor's arguments. Not in turn: the gateway
 * chooses twice for each request, so that of two nodes one would get them all.
 */
const Random = Strategies.Random as unknown as new (
  registry: unknown,
  broker: unknown,
  options: unknown,
) => { select(endpoints: Endpoint[], ctx?: Context): Endpoint };

/**
 * Sends the calls for an actor to one node (`keyedBy`). Other calls stay on the calling node if it has the action:
 * gateways have balanced the load already, and each hop costs more than most calls. Otherwise they go to any of the
 * nodes. Owners are chosen by rendezvous hashing: every caller that sees the same nodes chooses the same one, and when
 * a node joins or leaves only its own keys move (docs/decisions/0015-affinity.md).
 */
export class Affinity extends Random {
  readonly #path: string[] | undefined;

  constructor(registry: unknown, broker: unknown, options?: Options) {
    super(registry, broker, options);
    this.#path = options?.key?.split(".");
  }

  override select(endpoints: Endpoint[], ctx?: Context): Endpoint {
    const key = this.#path && valueAt(ctx, this.#path);
    if (typeof key === "string") return ownerOf(key, endpoints);
    return endpoints.find(({ local }) => local) ?? super.select(endpoints, ctx);
  }
}

/** Runs calls of actions with the same key on the same node. @param key its path in a call's context */
export function keyedBy(
  key: `params.${string}` | `meta.${string}`,
  actions: Record<string, ActionSchema>,
): Record<string, ActionSchema> {
  const strategyOptions = { key };
  const keyed = Object.entries(actions).map(([name, schema]) => [name, { ...schema, strategyOptions }]);
  return Object.fromEntries(keyed);
}

/** Returns the node that owns a key. There must be at least one. */
export function ownerOf<N extends Endpoint>(key: string, nodes: readonly N[]): N {
  let owner = nodes[0] as N;
  let highest = -1;
  for (const node of nodes) {
    const weight = hash(`${node.id} ${key}`);
    // Break ties equally for every caller, whatever the order in which it sees the nodes.
    if (weight < highest || (weight === highest && node.id > owner.id)) continue;
    owner = node;
    highest = weight;
  }
  return owner;
}

/** A service that a node runs, as Moleculer's registry holds it; its types omit the catalog. */
interface Running {
  name: string;
  node: { id: string; available: boolean };
}

/** Returns the nodes that run a service now, as this node sees them. */
export function nodesWith(broker: ServiceBroker, service: string): { id: string }[] {
  const { services } = broker.registry.services as unknown as { services: Running[] };
  return services.flatMap(({ name, node }) => (name === service && node.available ? [node] : []));
}

/**
 * Whether this node owns a key among the nodes that run a service. Every key has an owner that knows it: a node that
 * sees fewer of the others owns more, so at worst two nodes own the same key for a moment.
 */
export function isOwner(broker: ServiceBroker, service: string, key: string): boolean {
  const nodes = nodesWith(broker, service);
  return nodes.length === 0 || ownerOf(key, nodes).id === broker.nodeID;
}

function valueAt(from: unknown, path: readonly string[]): unknown {
  let value = from;
  for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

/** FNV-1a, then MurmurHash3's finalizer: node ids differ in few letters, and FNV alone keeps their hashes close. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
