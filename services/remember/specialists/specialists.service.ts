import { callerId } from "../../../lib/access/caller.ts";
import { upToSize } from "../../../lib/broker/message-size.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { insertNextVersion, newestVersion } from "../../../mixins/versions.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import {
  listSpecialists,
  listSpecialistVersions,
  loadSpecialist,
  unloadSpecialist,
  writeSpecialist,
} from "./specialists.contract.ts";
import { type SpecialistDoc, SpecialistLoadModel, SpecialistModel } from "./specialists.model.ts";

/** spec: load specialist. */
const RETRIES = 3;
const RETRY_MS = 50;

/** Stores named, versioned preambles that agents load (spec: Specialist). */
export const specialistsService: ServiceFactory = ({ store, log }) => {
  const specialists = store.collection(SpecialistModel);
  const loads = store.collection(SpecialistLoadModel);

  /** Returns the newest version; undefined if the store fails repeatedly. */
  async function newest(tenant_id: string, name: string): Promise<SpecialistDoc | null | undefined> {
    for (let tries = 0; tries <= RETRIES; tries++) {
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS * tries));
      try {
        return await newestVersion(specialists, tenant_id, { name });
      } catch (err) {
        log.warn({ err, tries }, "a specialist could not be read");
      }
    }
    return undefined;
  }

  return {
    name: "specialists",
    actions: {
      write: action(writeSpecialist, async ({ params, meta }) => {
        const { name, system_prompt } = params;
        const row: SpecialistDoc = {
          ...{ _id: newUuid(meta.idempotency_seed), tenant_id: meta.caller.tenant_id, name, version_num: 0 },
          system_prompt,
          memory_search_directives: params.memory_search_directives ?? null,
          output_format_rules: params.output_format_rules ?? null,
          description: params.description ?? null,
          created_at: new Date(store.now()),
        };
        return preambleOf(await insertNextVersion(specialists, { name }, row));
      }),

      list: action(listSpecialists, async ({ meta: { caller } }) => {
        const { tenant_id } = caller;
        const projection = { name: 1, version_num: 1, description: 1, created_at: 1 } as const;
        const [docs, loaded] = await Promise.all([
          specialists.find(tenant_id, {}, { sort: { name: 1, version_num: -1 }, projection }),
          loads.find(tenant_id, { caller_id: callerId(caller) }),
        ]);
        const names = new Set(loaded.map(({ name }) => name));
        const latest = docs.filter(({ name }, i) => name !== docs[i - 1]?.name);
        return {
          specialists: latest.map(({ name, version_num, description, created_at }) => ({
            ...{
              name,
              version_num,
              description,
              updated_at: created_at.toISOString(),
              loaded: names.has(name),
            },
          })),
        };
      }),

      load: action(loadSpecialist, async ({ params: { name }, meta: { caller } }) => {
        const doc = await newest(caller.tenant_id, name);
        if (!doc) return { error: { code: doc === null ? "not_found" : "unavailable" } };
        const caller_id = callerId(caller);
        await loads.insertMissing([
          {
            _id: loadId(caller_id, name),
            tenant_id: caller.tenant_id,
            caller_id,
            name,
            loaded_at: new Date(store.now()),
          },
        ]);
        return preambleOf(doc);
      }),

      unload: action(unloadSpecialist, async ({ params: { name }, meta: { caller } }) => {
        await loads.delete(caller.tenant_id, { _id: loadId(callerId(caller), name) });
        return { unloaded: true, name };
      }),

      versions: action(listSpecialistVersions, async ({ params, meta: { caller } }) => {
        const { name, offset = 0, limit = 50 } = params;
        const { tenant_id } = caller;
        const [docs, total] = await Promise.all([
          specialists.find(tenant_id, { name }, { sort: { version_num: -1 }, skip: offset, limit }),
          specialists.count(tenant_id, { name }),
        ]);
        if (total === 0) throw notFound("specialist", name);
        const versions = upToSize(docs.map(versionOf), (version) => JSON.stringify(version).length);
        return { versions, total };
      }),
    },
  };
};

function loadId(caller_id: string, name: string): string {
  return `${caller_id}:${name}`;
}

function versionOf(doc: SpecialistDoc) {
  return { ...preambleOf(doc), created_at: doc.created_at.toISOString() };
}

function preambleOf(doc: SpecialistDoc) {
  const { name, version_num, system_prompt, memory_search_directives, output_format_rules, description } =
    doc;
  return { name, version_num, system_prompt, memory_search_directives, output_format_rules, description };
}
