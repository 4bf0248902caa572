import type { Call } from "../../../lib/access/caller.ts";
import { Fault, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import {
  fitsPassword,
  hashPassword,
  hasSharedSalt,
  isPassword,
  newPassword,
} from "../../../lib/crypto/password.ts";
import { newId } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
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

  async function hashAnew(tenant_id: string, user_id: string, password: string) {
    const user = await users.findOne(tenant_id, { _id: user_id });
    if (!user) throw notFound("user", user_id);
    return hashPassword(password, secrets, user.email);
  }

  /** Upgrades an older hash to the salt that all accounts of its e-mail share. */
  async function shareSalt({ tenant_id, _id, token_version, email, password: old }: UserDoc, plain: string) {
    if (hasSharedSalt(old, secrets, email)) return;
    const password = await hashPassword(plain, secrets, email);
    await users.update(tenant_id, { _id, token_version }, { $set: { password } });
  }

  return {
    name: "users",
    actions: {
      create: action(createUser, async ({ params, meta }) => {
        const { tenant_id } = meta.caller;
        const seed = meta.idempotency_seed;
        const password = params.password ?? newPassword(secrets, seed);
        const hash = await hashPassword(password, secrets, params.email);
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
        const hash = password && (await hashAnew(tenant_id, user_id, password));
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

      /** Inserts the first admin of a new tenant. */
      insert_first: internal<UserKey & { email: string; password: string }>(async ({ params }) => {
        const { tenant_id, user_id, email, password } = params;
        const hash = await hashPassword(password, secrets, email);
        const key = { _id: user_id, tenant_id };
        await users.insertOnce(newUser({ email, role: "admin" }, key, hash, new Date(store.now())));
      }),

      exists: internal<UserKey>(async ({ params: { tenant_id, user_id } }) => {
        return (await users.count(tenant_id, { _id: user_id })) === 1;
      }),

      /**
       * Returns the enabled users with this e-mail and password, of all tenants or the one named. Takes equally long
       * for any number of accounts of the e-mail.
       */
      fitting_password: internal<{ email: string; password: string; tenant_id?: string }>(
        async ({ params }) => {
          const { tenant_id, password } = params;
          const filter = { email: params.email.toLowerCase(), ...(tenant_id && { tenant_id }) };
          const found = (await users.system.find(filter).toArray()) as UserDoc[];
          const fits = await fitsPassword(
            password,
            found.map((user) => user.password),
          );
          const fitting = found.filter(({ status }, i) => fits[i] && status === "active");
          for (const user of fitting) await shareSalt(user, password);
          return fitting.map(stateOf);
        },
      ),

      /** Returns the users with this e-mail, in all tenants or the one named. */
      with_email: idempotent<{ email: string; tenant_slug?: string }>(async (ctx) => {
        const { email, tenant_slug: slug } = ctx.params;
        const tenant = slug
          ? ((await ctx.call("tenants.by_slug", { slug })) as TenantState | null)
          : undefined;
        if (tenant === null) return [];
        const filter = { email: email.toLowerCase(), ...(tenant && { tenant_id: tenant.id }) };
        const found = await users.system.find(filter, { projection: { tenant_id: 1 } }).toArray();
        return found.map(({ _id, tenant_id }) => ({ id: _id, tenant_id }));
      }),

      /** Returns the user's new state, or null if the current password is wrong. */
      change_password: internal<UserKey & { current: string; next: string }>(async (ctx) => {
        const { tenant_id, user_id, current, next } = ctx.params;
        const user = await users.findOne(tenant_id, { _id: user_id });
        if (!(await isPassword(current, user?.password ?? null)) || !user) return null;
        const hash = await hashPassword(next, secrets, user.email);
        const changed = await users.update(
          tenant_id,
          { _id: user_id, token_version: user.token_version },
          { $set: { password: hash, updated_at: new Date(store.now()) }, $inc: { token_version: 1 } },
        );
        if (!changed) return null;
        await announce(ctx, changed);
        return stateOf(changed);
      }),

      /** Returns which of these users are not disabled. */
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
