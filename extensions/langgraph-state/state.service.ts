import type { AgentCaller } from "../../lib/access/caller.ts";
import type { BlobReference } from "../../lib/contract/contract.ts";
import { conflict, invalidValue } from "../../lib/contract/faults.ts";
import { metadataText } from "../../lib/contract/metadata.ts";
import { subjectsIn, withSubject } from "../../lib/contract/subject.ts";
import { addressId } from "../../lib/ids.ts";
import { toStored } from "../../lib/text/namespace.ts";
import { deletion } from "../../mixins/due.ts";
import { SharedLoop } from "../../mixins/shared.ts";
import type { EraseContent } from "../../services/erasers.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../services/runtime.ts";
import { nullIfTaken } from "../../storage/write-errors.ts";
import { guardedWrite } from "../../storage/writes.ts";
import type { putState, putStateEntries } from "./state.contract.ts";
import * as contract from "./state.contract.ts";
import { present, type StateDoc } from "./state.model.ts";
import { State } from "./state.ts";

const SWEEP_MS = 60_000;

/** Keeps what programs around agents must find again exactly, under keys. */
export const stateService: ServiceFactory = ({ store }) => {
  const state = new State(store);
  const sweep = new SharedLoop(
    "sweep",
    deletion({ rows: state.rows, by: "expires_at", now: store.now }),
    SWEEP_MS,
  );

  return {
    name: "state",
    mixins: [sweep.mixin],
    actions: {
      put: action(contract.putState, async (ctx) => {
        const { entry, isNew } = await put(state, ctx);
        if (!isNew) ctx.meta.$statusCode = 200;
        return entry;
      }),
      put_many: action(contract.putStateEntries, (ctx) => putMany(state, ctx)),
      get: action(contract.getState, (ctx) => state.get(ctx)),
      delete: action(contract.deleteState, (ctx) => state.delete(ctx)),
      list: action(contract.listState, (ctx) => state.list(ctx)),
      clear: action(contract.clearState, (ctx) => state.clear(ctx)),
      namespaces: action(contract.listStateNamespaces, (ctx) => state.namespaces(ctx)),

      erase: idempotent<EraseContent>((ctx) => state.erase(ctx)),
    },
  };
};

interface Given {
  value: BlobReference | string;
  subject?: string | null;
  metadata?: object;
  expires_at?: string | null;
}

/** Creates or replaces an entry. @throws Fault conflict if it does not have the version `if_version` */
async function put(state: State, { params, meta }: CallOf<typeof putState>) {
  const { namespace, key, if_version } = params;
  const address = makeAddress(meta.caller as AgentCaller, namespace, key);
  const { _id, tenant_id } = address;
  const at = state.now();
  const content = { ...toContent(params, at), ...(meta.idempotency_seed && { seed: meta.idempotency_seed }) };
  const write = async () => {
    const there = await state.rows.findOne(tenant_id, { _id });
    // An earlier try of this request wrote it.
    if (content.seed && there?.seed === content.seed) return there;
    const inForce = there && state.isInForce(there) ? there : null;
    requireVersion(if_version, inForce?.version ?? 0, key);
    if (!there)
      return state.rows.insert({ ...address, ...content, version: 1, created_at: at }).catch(nullIfTaken);
    const $set = { ...content, ...(!inForce && { created_at: at }) };
    return state.rows.update(
      tenant_id,
      { _id, version: there.version, hash: there.hash },
      { $set, $inc: { version: 1 } },
    );
  };
  const doc = await guardedWrite(write, "The entry is being changed concurrently. Retry.");
  return { entry: present(doc), isNew: doc.created_at.getTime() === doc.updated_at.getTime() };
}

/** Creates or replaces entries. @throws Fault validation_error if two have the same key */
async function putMany(state: State, { params, meta }: CallOf<typeof putStateEntries>) {
  const { namespace, entries } = params;
  requireDistinct(entries.map(({ key }) => key));
  const at = state.now();
  const changes = entries.map((entry) => {
    const { _id, tenant_id, ...address } = makeAddress(meta.caller as AgentCaller, namespace, entry.key);
    const $setOnInsert = { ...address, created_at: at };
    return {
      filter: { _id, tenant_id },
      update: { $set: toContent(entry, at), $setOnInsert, $inc: { version: 1 } },
    };
  });
  await state.rows.upsert(changes);
  return { saved: entries.length };
}

function makeAddress({ tenant_id, agent_id }: AgentCaller, namespace: string, key: string) {
  const _id = addressId(agent_id, namespace, key);
  return { _id, tenant_id, agent_id, namespace: toStored(namespace), key };
}

function toContent({ value, subject, expires_at, ...given }: Given, updated_at: Date): Content {
  const metadata = withSubject(given.metadata, subject);
  const isText = typeof value === "string";
  return {
    ...(isText ? { value, hash: null, size: Buffer.byteLength(value) } : { value: null, ...value }),
    ...{ metadata: metadataText(metadata), subjects: subjectsIn(metadata), updated_at },
    expires_at: expires_at ? new Date(expires_at) : null,
  };
}

type Content = Pick<
  StateDoc,
  "value" | "hash" | "size" | "metadata" | "subjects" | "updated_at" | "expires_at" | "seed"
>;

function requireVersion(wanted: number | undefined, version: number, key: string): void {
  if (wanted === undefined || wanted === version) return;
  const now = version === 0 ? "there is no entry" : `the entry has version ${version}`;
  throw conflict(`if_version: ${now}, not ${wanted}. Read "${key}" again, then retry.`, {
    existing_resource_id: key,
  });
}

function requireDistinct(keys: string[]): void {
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined)
    throw invalidValue("entries", `entries: expected different keys, got "${twice}" twice.`);
}
