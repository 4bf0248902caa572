import { type Call, callerId, type RequestContext } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { Store } from "../../../storage/connection.ts";
import { insertNextVersion, newestVersion } from "../../../storage/writes.ts";
import { action, type CallOf, type Runtime, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./specialists.contract.ts";
import { type SpecialistDoc, SpecialistLoadModel, SpecialistModel } from "./specialists.model.ts";

/** Stores named, versioned preambles that agents load (spec: Specialist). */
export const specialistsService: ServiceFactory = ({ store, log }) => {
  const specialists = new Specialists(store, log);

  return {
    name: "specialists",
    actions: {
      write: action(contract.writeSpecialist, (ctx) => specialists.write(ctx)),
      list: action(contract.listSpecialists, (ctx) => specialists.list(ctx)),
      load: action(contract.loadSpecialist, (ctx) => specialists.load(ctx)),
      unload: action(contract.unloadSpecialist, (ctx) => specialists.unload(ctx)),
      versions: action(contract.listSpecialistVersions, (ctx) => specialists.versions(ctx)),
    },
  };
};

/** spec: load specialist. */
const RETRIES = 3;
const RETRY_MS = 50;

/** Preambles of a tenant, and which of them each caller has loaded. */
class Specialists {
  readonly #rows;
  readonly #loads;
  readonly #now;
  readonly #log: Runtime["log"];

  constructor(store: Store, log: Runtime["log"]) {
    this.#rows = store.collection(SpecialistModel);
    this.#loads = store.collection(SpecialistLoadModel);
    this.#now = store.now;
    this.#log = log;
  }

  async write({ params, meta }: CallOf<typeof contract.writeSpecialist>) {
    const { name, system_prompt, memory_search_directives = null, output_format_rules = null } = params;
    const row: SpecialistDoc = {
      ...{ _id: newUuid(meta.idempotency_seed), tenant_id: meta.caller.tenant_id, name, version_num: 0 },
      ...{ system_prompt, memory_search_directives, output_format_rules },
      ...{ description: params.description ?? null, created_at: new Date(this.#now()) },
    };
    return present(await insertNextVersion(this.#rows, { name }, row));
  }

  async list({ meta: { caller } }: RequestContext) {
    const projection = { name: 1, version_num: 1, description: 1, created_at: 1 } as const;
    const [docs, loaded] = await Promise.all([
      this.#rows.find(caller.tenant_id, {}, { sort: { name: 1, version_num: -1 }, projection }),
      this.#loads.find(caller.tenant_id, { caller_id: callerId(caller) }),
    ]);
    const names = new Set(loaded.map(({ name }) => name));
    const latest = docs.filter(({ name }, i) => name !== docs[i - 1]?.name);
    return {
      specialists: latest.map(({ name, version_num, description, created_at }) => ({
        ...{ name, version_num, description, updated_at: created_at.toISOString(), loaded: names.has(name) },
      })),
    };
  }

  async load({ params: { name }, meta: { caller } }: Call<{ name: string }>) {
    const { tenant_id } = caller;
    const doc = await this.#newest(tenant_id, name);
    if (!doc) return { error: { code: doc === null ? "not_found" : "unavailable" } };
    const caller_id = callerId(caller);
    const loaded_at = new Date(this.#now());
    await this.#loads.insertMissing([
      { _id: loadId(caller_id, name), tenant_id, caller_id, name, loaded_at },
    ]);
    return present(doc);
  }

  async unload({ params: { name }, meta: { caller } }: Call<{ name: string }>) {
    await this.#loads.delete(caller.tenant_id, { _id: loadId(callerId(caller), name) });
    return { unloaded: true, name };
  }

  async versions({ params, meta }: CallOf<typeof contract.listSpecialistVersions>) {
    const { name, offset = 0, limit = 50 } = params;
    const { tenant_id } = meta.caller;
    const newestFirst = { version_num: -1 } as const;
    const { rows, total } = await this.#rows.page(tenant_id, { name }, newestFirst, { offset, limit });
    if (total === 0) throw notFound("specialist", name);
    const versions = rows.map((doc) => ({ ...present(doc), created_at: doc.created_at.toISOString() }));
    return { versions, total };
  }

  /** Returns the newest version; undefined if the store fails repeatedly. */
  async #newest(tenant_id: string, name: string): Promise<SpecialistDoc | null | undefined> {
    for (let tries = 0; tries <= RETRIES; tries++) {
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS * tries));
      try {
        return await newestVersion(this.#rows, tenant_id, { name });
      } catch (err) {
        this.#log.warn({ err, tries }, "specialists: one could not be loaded");
      }
    }
    return undefined;
  }
}

function loadId(caller_id: string, name: string): string {
  return `${caller_id}:${name}`;
}

const present = (doc: SpecialistDoc) => presentAs(contract.Specialist, doc);
