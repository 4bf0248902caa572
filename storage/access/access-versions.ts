import { oncePer } from "../../lib/once-per.ts";
import type { TenantCollection } from "../collection.ts";
import type { Store } from "../connection.ts";
import { type AccessVersionDoc, AccessVersionModel } from "./access-versions.model.ts";

/** Tenants per statement. */
const CHUNK = 1000;

/**
 * A version per tenant that rises with every change of its callers' access. A gateway reads it in one statement for all
 * that it serves, and reads callers again only when their tenant's version has risen.
 */
export class AccessVersions {
  readonly #rows: TenantCollection<AccessVersionDoc>;
  /** Without other nodes nobody else can raise them; nothing that depends on them outlives the process. */
  readonly #own: Map<string, number> | null;

  constructor(store: Store) {
    this.#rows = store.collection(AccessVersionModel);
    this.#own = store.driver === "sqlite" ? new Map() : null;
  }

  /** Raises a tenant's version. Call after a change of access is written and before it is answered. */
  async raise(tenant_id: string): Promise<void> {
    if (this.#own) return void this.#own.set(tenant_id, (this.#own.get(tenant_id) ?? 0) + 1);
    await this.#rows.upsert([{ filter: { _id: tenant_id, tenant_id }, update: { $inc: { version: 1 } } }]);
  }

  /** Returns the versions of these tenants. */
  async read(tenant_ids: readonly string[]): Promise<Map<string, number>> {
    const versions = new Map(tenant_ids.map((id) => [id, this.#own?.get(id) ?? 0]));
    if (this.#own) return versions;
    const options = { projection: { version: 1 } };
    for (let at = 0; at < tenant_ids.length; at += CHUNK) {
      const of = { _id: { $in: tenant_ids.slice(at, at + CHUNK) } };
      const rows = (await this.#rows.system.find(of, options).toArray()) as AccessVersionDoc[];
      for (const { _id, version } of rows) versions.set(_id, version);
    }
    return versions;
  }
}

/** Returns the access versions in a store. */
export const accessVersions = oncePer((store: Store) => new AccessVersions(store));
