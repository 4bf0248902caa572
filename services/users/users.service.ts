import type { Call } from "../../lib/caller.ts";
import { containing } from "../../lib/containing.ts";
import { Fault, notFound, ruleBroken } from "../../lib/faults.ts";
import { newId } from "../../lib/ids.ts";
import { hashPassword, isPassword, newPassword } from "../../lib/password.ts";
import { isDuplicateKey } from "../../storage/collection.ts";
import { action, idempotent, internal, type ServiceFactory } from "../runtime.ts";
import { newUser, present, stateOf } from "./rows.ts";
import { createUser, listUsers, updateUser } from "./users.contract.ts";
import { type UserDoc, UserModel } from "./users.model.ts";

interface UserKey {
  tenant_id: string;
  user_id: string;
}

export const usersService: ServiceFactory = ({ store, secrets }) => {
  const users = store.collection(UserModel);

  async function insert(row: UserDoc): Promise<UserDoc> {
    try {
      return await users.insertOnce(row);
    } catch (err) {
      if (!isDuplicateKey(err)) throw err;
      const holder = await users.findOne(row.tenant_id, { email: row.email });
      const details = { field: "email", existing_resource_id: holder?._id ?? null };
      throw new Fault("conflict", `There is a user with the e-mail ${row.email} already.`, details);
    }
  }

  async function announce(ctx: Call, { tenant_id, _id }: UserDoc): Promise<void> {
    await ctx.broadcast("auth.changed", { tenant_id, user_id: _id });
  }

  return {
    name: "users",
    actions: {
      create: action(createUser, async ({ params, meta }) => {
        const { tenant_id } = meta.caller;
        const seed = meta.idempotency_seed;
        const password = params.password ?? newPassword(secrets, seed);
        const hash = await hashPassword(password, secrets);
        const key = { _id: newId("usr", seed), tenant_id };
        const user = await insert(newUser(params, key, hash, new Date(store.now())));
        return { ...present(user), ...(params.password === undefined && { password }) };
      }),

      list: action(listUsers, async ({ params: { offset = 0, limit = 50, search }, meta }) => {
        const { tenant_id } = meta.caller;
        const part = search && containing(search);
        const filter = part ? { $or: [{ display_name: part }, { email: part }] } : {};
        const sort = { created_at: 1, _id: 1 } as const;
        const [docs, total] = await Promise.all([
          users.find(tenant_id, filter, { sort, skip: offset, limit }),
          users.count(tenant_id, filter),
        ]);
        return { users: docs.map(present), total };
      }),

      update: action(updateUser, async (ctx) => {
        const { caller, idempotency_seed: seed } = ctx.meta;
        const { user_id, display_name, role, status, reset_password } = ctx.params;
        const { tenant_id } = caller;
        if (caller.kind === "user" && caller.user_id === user_id) refuseOwnDemotion(role, status);
        const password = reset_password ? newPassword(secrets, seed) : null;
        const hash = password && (await hashPassword(password, secrets));
        const changes = { display_name, role, status, ...(hash && { password: hash }) };
        const $set = {
          ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)),
          updated_at: new Date(store.now()),
        };
        const $inc = { token_version: hash || status === "disabled" ? 1 : 0 };
        const user = await users.update(tenant_id, { _id: user_id }, { $set, $inc });
        if (!user) throw notFound("user", user_id);
        await announce(ctx, user);
        return { ...present(user), ...(password && { password }) };
      }),

      /** The first admin of a new tenant. */
      insert_first: internal<UserKey & { email: string; password: string }>(async ({ params }) => {
        const { tenant_id, user_id, email, password } = params;
        const hash = await hashPassword(password, secrets);
        const key = { _id: user_id, tenant_id };
        await users.insertOnce(newUser({ email, role: "admin" }, key, hash, new Date(store.now())));
      }),

      exists: internal<UserKey>(async ({ params: { tenant_id, user_id } }) => {
        return (await users.count(tenant_id, { _id: user_id })) === 1;
      }),

      /**
       * The user with this e-mail and password. Null when there is none, when it is disabled, or when the e-mail
       * stands in several tenants and none is named; it takes equally long for all of these.
       */
      by_password: internal<{ email: string; password: string; tenant_id?: string }>(async ({ params }) => {
        const { tenant_id, password } = params;
        const filter = { email: params.email.toLowerCase(), ...(tenant_id && { tenant_id }) };
        const found = (await users.system.find(filter).limit(2).toArray()) as UserDoc[];
        const user = found.length === 1 ? (found[0] as UserDoc) : null;
        const right = await isPassword(password, user?.password ?? null);
        return right && user?.status === "active" ? stateOf(user) : null;
      }),

      /** Gives the user's new state, or null when the present password is another. */
      change_password: internal<UserKey & { current: string; next: string }>(async (ctx) => {
        const { tenant_id, user_id, current, next } = ctx.params;
        const user = await users.findOne(tenant_id, { _id: user_id });
        if (!(await isPassword(current, user?.password ?? null)) || !user) return null;
        const hash = await hashPassword(next, secrets);
        const changed = await users.update(
          tenant_id,
          { _id: user_id, token_version: user.token_version },
          { $set: { password: hash, updated_at: new Date(store.now()) }, $inc: { token_version: 1 } },
        );
        if (!changed) return null;
        await announce(ctx, changed);
        return stateOf(changed);
      }),

      /** Of these users those that are not disabled. */
      of_tokens: idempotent<{ user_ids: string[] }>(async ({ params: { user_ids } }) => {
        const docs = await users.system.find({ _id: { $in: user_ids }, status: "active" }).toArray();
        return (docs as UserDoc[]).map(stateOf);
      }),
    },
  };
};

function refuseOwnDemotion(role?: string, status?: string): void {
  if (role !== "member" && status !== "disabled") return;
  throw ruleBroken("own_account", "Nobody can disable or demote themselves.");
}
