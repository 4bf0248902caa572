import type { Static, TObject } from "typebox";
import type { namespacesQuery } from "../lib/contract/schema.ts";
import { fromStored, inNamespace, pastAll, toStored } from "../lib/text/namespace.ts";
import type { TenantCollection, TenantDocument } from "./collection.ts";
import type { Where } from "./query.ts";

interface InNamespace extends TenantDocument {
  namespace?: string;
}

/**
 * Returns a page of the namespaces of the rows that match. It looks up each one in the index: the cost is that of the
 * namespaces, not of their rows. @param filter with `$and`, without other conditions on the namespace
 */
export async function pageOfNamespaces<T extends InNamespace>(
  rows: TenantCollection<T>,
  tenant_id: string,
  filter: Where<T> & { $and: readonly object[] },
  {
    prefix,
    max_depth = Number.POSITIVE_INFINITY,
    after,
    limit = 100,
  }: Static<TObject<typeof namespacesQuery>>,
): Promise<{ namespaces: string[]; next: string | null }> {
  const namespaces: string[] = [];
  const within = prefix === undefined ? [] : [inNamespace(prefix)];
  let beyond = after === undefined ? { $gt: "" } : rangeAfter(after, max_depth);
  while (namespaces.length <= limit) {
    const conditions = { ...filter, $and: [{ namespace: beyond }, ...within, ...filter.$and] } as Where<T>;
    const next = await rows.findOne(tenant_id, conditions, FIRST);
    if (!next?.namespace) return { namespaces: namespaces, next: null };
    const shown = fromStored(next.namespace).split(".").slice(0, max_depth).join(".");
    namespaces.push(shown);
    beyond = rangeAfter(shown, max_depth);
  }
  return { namespaces: namespaces.slice(0, limit), next: namespaces[limit - 1] as string };
}

const FIRST = { sort: { namespace: 1 }, projection: { namespace: 1 } } as const;

/** Returns the range after a namespace; after all below it too, if it has as many labels as are shown. */
function rangeAfter(namespace: string, max_depth: number) {
  const stored = toStored(namespace);
  return namespace.split(".").length >= max_depth ? pastAll(stored) : { $gt: stored };
}
