import { apiKeyPrefix, hashApiKey, newApiKey } from "../../../lib/access/api-key.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { createKey, type KeyState, listKeys, revokeKey } from "./keys.contract.ts";
import { type KeyDoc, KeyModel } from "./keys.model.ts";

export const keysService: ServiceFactory = ({ store, secrets }) => {
  const keys = store.collection(KeyModel);

  async function requireAgent(ctx: Call, agent_id: string): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    const known = (await ctx.call("agents.get_many", { tenant_id, agent_ids: [agent_id] })) as unknown[];
    if (known.length === 0) throw notFound("agent", agent_id);
  }

  return {
    name: "keys",
    actions: {
      create: action(createKey, async (ctx) => {
        const { agent_id, scopes, expires_at } = ctx.params;
        await requireAgent(ctx, agent_id);
        const now = store.now();
        if (expires_at && Date.parse(expires_at) <= now) {
          throw invalidValue("expires_at", "expires_at: expected a time in the future.", {
            value: expires_at,
          });
        }
        const seed = ctx.meta.idempotency_seed;
        const key = newApiKey(secrets, seed);
        const _id = newId("key", seed);
        const row = newKey({ _id, tenant_id: ctx.meta.caller.tenant_id, agent_id, scopes }, key, now);
        const doc = await keys.insertOnce({ ...row, expires_at: expires_at ? new Date(expires_at) : null });
        return { ...present(doc), key };
      }),

      list: action(listKeys, async (ctx) => {
        const { agent_id, offset = 0, limit = 50 } = ctx.params;
        const { tenant_id } = ctx.meta.caller;
        await requireAgent(ctx, agent_id);
        const filter = { agent_id, revoked_at: null };
        const [docs, total] = await Promise.all([
          keys.find(tenant_id, filter, { sort: { created_at: -1 }, skip: offset, limit }),
          keys.count(tenant_id, filter),
        ]);
        return { keys: docs.map(present), total };
      }),

      revoke: action(revokeKey, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { agent_id, key_id } = ctx.params;
        const filter = { _id: key_id, agent_id, revoked_at: null };
        const revoked = await keys.update(tenant_id, filter, { $set: { revoked_at: new Date(store.now()) } });
        if (!revoked) throw notFound("key", key_id);
        await ctx.broadcast("auth.changed", { tenant_id, key_id });
      }),

      /** Inserts the first key of a new tenant, with all scopes. */
      insert_first: internal<{ tenant_id: string; agent_id: string; key_id: string; key: string }>(
        async ({ params: { tenant_id, agent_id, key_id, key } }) => {
          const row = newKey({ _id: key_id, tenant_id, agent_id, scopes: ["admin"] }, key, store.now());
          await keys.insertOnce(row);
        },
      ),

      /** Issues a key to a device: the same seed always gives the same key, which is stored once. */
      issue: internal<Pick<KeyDoc, "tenant_id" | "agent_id" | "scopes"> & { seed: string }>(
        async ({ params: { seed, ...row } }) => {
          const key = newApiKey(secrets, seed);
          const { _id } = await keys.insertOnce(
            newKey({ _id: newId("key", seed), ...row }, key, store.now()),
          );
          return { key, key_id: _id };
        },
      ),

      /** Whether any key of the tenant was used. */
      any_used: idempotent<{ tenant_id: string }>(({ params }) =>
        keys.exists(params.tenant_id, { last_used_at: { $ne: null } }),
      ),

      /** Returns the key with this hash, unless it is unknown, revoked or expired. */
      by_secret: idempotent<{ hash: string }>(async ({ params: { hash } }) => {
        const doc = (await keys.system.findOne({ hash, revoked_at: null })) as KeyDoc | null;
        return doc && isLive(doc, store.now()) ? stateOf(doc) : null;
      }),

      /** Returns which of these keys are neither revoked nor expired. */
      of_tokens: idempotent<{ key_ids: string[] }>(async ({ params: { key_ids } }) => {
        const docs = (await keys.system
          .find({ _id: { $in: key_ids }, revoked_at: null })
          .toArray()) as KeyDoc[];
        return docs.filter((doc) => isLive(doc, store.now())).map(stateOf);
      }),

      /** Records when keys were used, in batches. */
      touch: internal<{ uses: { tenant_id: string; key_id: string; at: number }[] }>(async ({ params }) => {
        await keys.bulk(
          params.uses.map(({ tenant_id, key_id, at }) => ({
            updateOne: {
              filter: { _id: key_id, tenant_id },
              update: { $max: { last_used_at: new Date(at) } },
            },
          })),
        );
      }),
    },
  };
};

function newKey(
  row: Pick<KeyDoc, "_id" | "tenant_id" | "agent_id" | "scopes">,
  key: string,
  now: number,
): KeyDoc {
  return {
    ...row,
    hash: hashApiKey(key),
    prefix: apiKeyPrefix(key),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    created_at: new Date(now),
  };
}

function isLive({ expires_at }: KeyDoc, now: number): boolean {
  return expires_at === null || expires_at.getTime() > now;
}

function stateOf({ _id, tenant_id, agent_id, scopes, expires_at }: KeyDoc): KeyState {
  return { id: _id, tenant_id, agent_id, scopes, expires_at: expires_at?.getTime() ?? null };
}

function present({ _id, prefix, scopes, expires_at, last_used_at, created_at }: KeyDoc) {
  return {
    id: _id,
    prefix,
    scopes,
    expires_at: expires_at?.toISOString() ?? null,
    last_used_at: last_used_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}
