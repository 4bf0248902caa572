import { apiKeyPrefix, findApiKey, hashApiKey, newApiKey } from "../../../lib/access/api-key.ts";
import { askedAt, type Call, callerId } from "../../../lib/access/caller.ts";
import { invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { newId } from "../../../lib/ids.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { requireAgent } from "../agents/find-agent.ts";
import { announceAuthChange } from "../tenants/routing-change.ts";
import { standing } from "./approval.ts";
import { createKey, type KeyState, ListedKey, listKeys, revokeKey, updateKey } from "./keys.contract.ts";
import { type KeyDoc, KeyModel } from "./keys.model.ts";

/** Given fields of a new key. */
type KeyFields = Pick<KeyDoc, "tenant_id" | "agent_id" | "name" | "scopes"> &
  Partial<Pick<KeyDoc, "expires_at" | "approval" | "created_by" | "requests_per_minute">>;

interface OfAgents {
  tenant_id: string;
  agent_ids: string[];
}

/** Agents' API keys. */
export const keysService: ServiceFactory = ({ store, secrets }) => {
  const rows = store.collection(KeyModel);

  /** Issues a key; the same seed always gives the same key, which is stored once. */
  async function issue(
    fields: KeyFields,
    seed: string | undefined,
    { _id = newId("key", seed), key = newApiKey(secrets, seed) } = {},
  ) {
    const hashed = { hash: hashApiKey(key), prefix: apiKeyPrefix(key) };
    const unused = { revoked_at: null, last_used_at: null, created_at: new Date(store.now()) };
    const none = { expires_at: null, approval: null, created_by: null, requests_per_minute: null };
    const doc = await rows.insertOnce({ ...none, ...fields, _id, ...hashed, ...unused });
    const first = seed && doc.hash !== hashed.hash && findApiKey(secrets, seed, doc.hash);
    return { doc, key: first || key };
  }

  /** Returns the state of those keys that are not revoked, not expired and, if they need it, approved still. */
  async function valid(from: Pick<Call, "call">, docs: readonly KeyDoc[]): Promise<KeyState[]> {
    const now = store.now();
    const live = docs.filter((doc) => doc.revoked_at === null && Number(doc.expires_at ?? now + 1) > now);
    const ended = await endedApprovals(from, live);
    return live.filter((doc) => !ended.has(doc)).map(toState);
  }

  const revoking = () => ({ $set: { revoked_at: new Date(store.now()) } });

  return {
    name: "keys",
    actions: {
      create: action(createKey, async (ctx) => {
        const { agent_id, name = null, scopes, expires_at, requests_per_minute = null } = ctx.params;
        const { tenant_id } = await requireAgent(ctx, agent_id);
        if (expires_at && Date.parse(expires_at) <= askedAt(ctx.meta, store.now()))
          throw invalidValue("expires_at", `expires_at: expected a time in the future, got ${expires_at}.`, {
            value: expires_at,
          });
        const ends = expires_at ? new Date(expires_at) : null;
        const created_by = callerId(ctx.meta.caller);
        const row = { tenant_id, agent_id, name, scopes, created_by, expires_at: ends, requests_per_minute };
        const { doc, key } = await issue(row, ctx.meta.idempotency_seed);
        return { ...present(doc), key };
      }),

      list: action(listKeys, async (ctx) => {
        const { tenant_id, id: agent_id } = await requireAgent(ctx, ctx.params.agent_id);
        const filter = { agent_id, revoked_at: null };
        const { rows: found, total } = await rows.page(tenant_id, filter, { created_at: -1 }, ctx.params);
        const ended = await endedApprovals(ctx, found);
        return { keys: found.map((row) => present(row, ended.has(row))), total };
      }),

      update: action(updateKey, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { agent_id, key_id, requests_per_minute } = ctx.params;
        const filter = { _id: key_id, agent_id, revoked_at: null };
        const changed = await rows.update(tenant_id, filter, { $set: { requests_per_minute } });
        const key = requireFound(changed, "key", key_id);
        await announceAuthChange(ctx, { tenant_id, key_id });
        return present(key, (await endedApprovals(ctx, [key])).has(key));
      }),

      revoke: action(revokeKey, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { agent_id, key_id } = ctx.params;
        const revoked = await rows.update(tenant_id, { _id: key_id, agent_id, revoked_at: null }, revoking());
        // Also without a change: an earlier try can have ended between the two writes.
        await announceAuthChange(ctx, { tenant_id, key_id });
        requireFound(revoked, "key", key_id);
      }),

      /** Inserts the first key of a new tenant, with all scopes. */
      insert_first: internal<{ tenant_id: string; agent_id: string; key_id: string; key: string }>(
        async ({ params: { tenant_id, agent_id, key_id: _id, key } }) => {
          await issue({ tenant_id, agent_id, name: null, scopes: ["admin"] }, undefined, { _id, key });
        },
      ),

      /** Issues a key to a device: the same for the same seed. */
      issue: internal<KeyFields & { seed: string }>(async ({ params: { seed, ...given } }) => {
        const { doc, key } = await issue(given, seed);
        return { key, key_id: doc._id };
      }),

      /** Revokes the key of a connection that has ended. May be repeated. */
      end: idempotent<{ tenant_id: string; key_id: string }>(async (ctx) => {
        const { tenant_id, key_id } = ctx.params;
        await rows.update(tenant_id, { _id: key_id, revoked_at: null }, revoking());
        await announceAuthChange(ctx, { tenant_id, key_id });
      }),

      /** Whether any key of the tenant was used. */
      any_used: idempotent<{ tenant_id: string }>(({ params }) =>
        rows.exists(params.tenant_id, { last_used_at: { $ne: null } }),
      ),

      /** Returns the key with each hash; null for one that is unknown or not valid. */
      by_secrets: idempotent<{ hashes: string[] }>(async (ctx) => {
        const { hashes } = ctx.params;
        const docs = (await rows.system.find({ hash: { $in: hashes } }).toArray()) as KeyDoc[];
        const keys = new Map((await valid(ctx, docs)).map((key) => [key.id, key]));
        const ids = new Map(docs.map(({ hash, _id }) => [hash, _id]));
        return hashes.map((hash) => keys.get(ids.get(hash) ?? "") ?? null);
      }),

      /** Returns which of these keys are valid: not revoked, not expired, and approved still. */
      of_tokens: idempotent<{ key_ids: string[] }>(async (ctx) => {
        const docs = await rows.system.find({ _id: { $in: ctx.params.key_ids } }).toArray();
        return valid(ctx, docs as KeyDoc[]);
      }),

      /** Returns which of some agents have a key that is made for receiving: an admin's may, but seldom does. */
      receiving: idempotent<OfAgents>(async ({ params: { tenant_id, agent_ids } }) => {
        const filter = { agent_id: { $in: agent_ids }, revoked_at: null };
        const docs = await rows.find(tenant_id, filter, { projection: { agent_id: 1, scopes: 1 } });
        const receiving = docs.filter(({ scopes }) => scopes.includes("receive"));
        return [...new Set(receiving.map(({ agent_id }) => agent_id))];
      }),

      /** Returns when agents last used one of their keys, by agent, in ms. */
      last_used: idempotent<OfAgents>(async ({ params: { tenant_id, agent_ids } }) => {
        const filter = { agent_id: { $in: agent_ids } };
        const docs = await rows.find(tenant_id, filter, { projection: { agent_id: 1, last_used_at: 1 } });
        const last: Record<string, number> = {};
        for (const { agent_id, last_used_at } of docs)
          if (last_used_at) last[agent_id] = Math.max(last[agent_id] ?? 0, last_used_at.getTime());
        return last;
      }),

      /** Records that keys are used now. */
      touch: internal<{ used: { tenant_id: string; key_id: string }[] }>(async ({ params }) => {
        const update = { $max: { last_used_at: new Date(store.now()) } };
        await rows.bulk(
          params.used.map(({ tenant_id, key_id: _id }) => ({
            updateOne: { filter: { _id, tenant_id }, update },
          })),
        );
      }),
    },
  };
};

async function endedApprovals(from: Pick<Call, "call">, docs: readonly KeyDoc[]): Promise<Set<KeyDoc>> {
  const approved = await standing(from, docs, (doc) => doc.approval);
  return new Set(docs.filter((doc) => doc.approval && !approved.has(doc)));
}

function toState(doc: KeyDoc): KeyState {
  const { _id: id, tenant_id, agent_id, scopes, approval, requests_per_minute } = doc;
  const approved_by = approval?.user_id ?? null;
  const expires_at = doc.expires_at?.getTime() ?? null;
  return { id, tenant_id, agent_id, scopes, expires_at, approved_by, requests_per_minute };
}

const present = (doc: KeyDoc, hasEnded = false) =>
  presentAs(ListedKey, doc, {
    state: hasEnded ? "ended" : "active",
    approved_by: doc.approval?.user_id ?? null,
  });
