import type { Collection, Filter } from "mongodb";
import type { FairQueue } from "../lib/queue/fair-queue.ts";
import type { Row } from "./model.ts";

/** Returns the collection without its writes, which would not release blobs. */
export function readOnly(native: Collection<Row>): Collection<Row> {
  return new Proxy(native, {
    get(target, name) {
      if (/^(delete|update|replace|findOneAnd|bulk)/.test(String(name)))
        throw new Error("rows that reference blobs are written by tenant");
      const member = target[name as keyof Collection<Row>];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Adds the tenant to a filter. Throws without one, and for a filter that names one itself. */
export function scoped(tenant_id: string, filter: object): Filter<Row> {
  requireTenants([{ tenant_id }]);
  if ("tenant_id" in filter) throw new Error("a filter must not name a tenant: it is a parameter");
  return { ...filter, tenant_id };
}

/** Throws unless each document, or filter of a bulk write, has its tenant. The types ask for it too. */
export function requireTenants(owned: readonly { tenant_id: string }[]): void {
  for (const { tenant_id } of owned)
    if (typeof tenant_id !== "string" || tenant_id === "") throw new Error("a query needs a tenant");
}

/**
 * Returns what gives a command its connection when it is its tenant's turn, if there is a limit of them.
 *
 * @param reserved whether the reserve is for these commands
 */
export function connectedBy(queue: FairQueue | null, reserved: boolean) {
  return <R>(tenant_id: string, command: () => Promise<R>): Promise<R> =>
    queue ? queue.run({ tenant_id, caller: "" }, 1, command, { reserved }) : command();
}
