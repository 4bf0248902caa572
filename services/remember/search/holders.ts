import { ownerOf } from "../../../mixins/affinity.ts";

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
export function holdsAll({ nodes }: View): boolean {
  return nodes.length <= COPIES;
}

export function isSameView(one: View, other: View): boolean {
  return one.self === other.self && one.nodes.join() === other.nodes.join();
}

const endpoints = (nodes: readonly string[]) => nodes.map((id) => ({ id }));
