import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { createKey, listKeys, revokeKey, updateKey } from "./keys.contract.ts";
import { type KeyDoc, KeyModel } from "./keys.model.ts";
import { Keys } from "./keys.ts";

type Issue = Pick<KeyDoc, "tenant_id" | "agent_id" | "name" | "scopes" | "approval"> & { seed: string };

export const keysService: ServiceFactory = ({ store, secrets }) => {
  const rows = store.collection(KeyModel);
  const keys = new Keys({ store, secrets }, rows);

  return {
    name: "keys",
    actions: {
      create: action(createKey, (ctx) => keys.create(ctx)),
      list: action(listKeys, (ctx) => keys.list(ctx)),
      update: action(updateKey, (ctx) => keys.update(ctx)),
      revoke: action(revokeKey, (ctx) => keys.revoke(ctx)),

      /** Inserts the first key of a new tenant, with all scopes. */
      insert_first: internal<{ tenant_id: string; agent_id: string; key_id: string; key: string }>(
        async ({ params: { tenant_id, agent_id, key_id: _id, key } }) => {
          const row = { tenant_id, agent_id, name: null, scopes: ["admin" as const], expires_at: null };
          await keys.issue(row, undefined, { _id, key });
        },
      ),

      /** Issues a key to a device: the same for the same seed. */
      issue: internal<Issue>(async ({ params: { seed, ...row } }) => {
        const { doc, key } = await keys.issue({ ...row, expires_at: null }, seed);
        return { key, key_id: doc._id };
      }),

      /** Revokes the key of a connection that has ended. */
      end: idempotent<{ tenant_id: string; key_id: string }>((ctx) => keys.end(ctx)),

      /** Whether any key of the tenant was used. */
      any_used: idempotent<{ tenant_id: string }>(({ params }) =>
        rows.exists(params.tenant_id, { last_used_at: { $ne: null } }),
      ),

      /** Returns the key with this hash, if it is valid. */
      by_secret: idempotent<{ hash: string }>(async (ctx) => {
        const doc = (await rows.system.findOne({ hash: ctx.params.hash })) as KeyDoc | null;
        const [key = null] = doc ? await keys.valid(ctx, [doc]) : [];
        return key;
      }),

      /** Returns which of these keys are valid: not revoked, not expired, and approved still. */
      of_tokens: idempotent<{ key_ids: string[] }>(async (ctx) => {
        const docs = await rows.system.find({ _id: { $in: ctx.params.key_ids } }).toArray();
        return keys.valid(ctx, docs as KeyDoc[]);
      }),

      /** Returns which of some agents have a key that is made for receiving: an admin's may, but seldom does. */
      receiving: idempotent<{ tenant_id: string; agent_ids: string[] }>(({ params }) =>
        keys.receiving(params.tenant_id, params.agent_ids),
      ),

      /** Returns when agents last used one of their keys, by agent, in ms. */
      last_used: idempotent<{ tenant_id: string; agent_ids: string[] }>(({ params }) =>
        keys.lastUsed(params.tenant_id, params.agent_ids),
      ),

      /** Records when keys were used, in batches. */
      touch: internal<{ uses: { tenant_id: string; key_id: string; at: number }[] }>(async ({ params }) => {
        const writes = params.uses.map(({ tenant_id, key_id, at }) => ({
          updateOne: { filter: { _id: key_id, tenant_id }, update: { $max: { last_used_at: new Date(at) } } },
        }));
        await rows.bulk(writes);
      }),
    },
  };
};
