import type { OfUser } from "../../../lib/access/caller.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import { type Identified, Identities } from "./identities.ts";
import { type Proof, SecondFactors } from "./totp.ts";
import { createUser, deleteUser, listUsers, updateUser } from "./users.contract.ts";
import { type UserDoc, UserModel } from "./users.model.ts";
import { toState, Users } from "./users.ts";

export const usersService: ServiceFactory = ({ store, secrets }) => {
  const rows = store.collection(UserModel);
  const users = new Users({ store, secrets }, rows);
  const factors = new SecondFactors({ store, secrets }, rows);
  const identities = new Identities(store, users, rows);

  return {
    name: "users",
    actions: {
      create: action(createUser, (ctx) => users.create(ctx)),
      list: action(listUsers, (ctx) => users.list(ctx)),
      update: action(updateUser, (ctx) => users.update(ctx)),
      delete: action(deleteUser, (ctx) => users.delete(ctx)),
      end: idempotent<{ tenant_id: string; owner_id: string; erased: boolean }>((ctx) => users.end(ctx)),

      /** Inserts the first admin of a new tenant. */
      insert_first: internal<OfUser & { email: string; password: string }>(async ({ params }) => {
        const { user_id: _id, ...given } = params;
        await users.insert({ ...given, _id, role: "admin" });
      }),

      exists: internal<OfUser>(({ params: { tenant_id, user_id } }) =>
        rows.exists(tenant_id, { _id: user_id }),
      ),

      /** Returns the enabled users with this e-mail and password, of all tenants or the one named. */
      fitting_password: internal<{ email: string; password: string; tenant_id?: string }>(
        async ({ params: { email, password, tenant_id } }) => {
          const filter = { email: email.toLowerCase(), ...(tenant_id && { tenant_id }) };
          return users.withPassword((await rows.system.find(filter).toArray()) as UserDoc[], password);
        },
      ),

      /** Returns the users with this e-mail, in all tenants or the one named. */
      with_email: idempotent<{ email: string; tenant_slug?: string }>(async (ctx) => {
        const { email, tenant_slug: slug } = ctx.params;
        const tenant = slug && (await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug }));
        if (tenant === null) return [];
        const filter = { email: email.toLowerCase(), ...(tenant && { tenant_id: tenant.id }) };
        const found = await rows.system.find(filter, { projection: { tenant_id: 1 } }).toArray();
        return found.map(({ _id, tenant_id }) => ({ id: _id, tenant_id }));
      }),

      /** Returns the names of these users, disabled ones too. */
      names: idempotent<{ tenant_id: string; user_ids: string[] }>(async ({ params }) => {
        const options = { projection: { display_name: 1 } } as const;
        const docs = await rows.find(params.tenant_id, { _id: { $in: params.user_ids } }, options);
        return docs.map(({ _id, display_name }) => ({ id: _id, name: display_name }));
      }),

      /** Returns the active ones of these users, and of all admins if asked. */
      reached: idempotent<{ tenant_id: string; user_ids: string[]; admins: boolean }>(async ({ params }) => {
        const named = { _id: { $in: params.user_ids } };
        const any = params.admins ? [named, { role: "admin" as const }] : [named];
        const found = await rows.find(params.tenant_id, { status: "active", $or: any });
        return found.map(toState);
      }),

      /** Returns the user's new state, or null if the current password is wrong. */
      change_password: internal<OfUser & { current: string; next: string }>((ctx) =>
        users.changePassword(ctx),
      ),

      /** Returns how a person signs in. */
      ways: idempotent<OfUser>(({ params }) => users.ways(params)),

      /** Returns the account of a person whom the identity provider has identified. */
      admit: internal<Identified>((ctx) => identities.admit(ctx)),

      begin_totp: internal<OfUser & { password: string; seed?: string }>((ctx) => factors.begin(ctx.params)),
      confirm_totp: internal<OfUser & { code: string; seed?: string }>((ctx) => factors.confirm(ctx.params)),
      /** Uses a code up. */
      check_code: internal<OfUser & { code: string }>((ctx) => factors.check(ctx.params)),
      remove_totp: internal<OfUser & Proof>((ctx) => factors.remove(ctx.params)),

      /** Returns which of these users are not disabled. */
      of_tokens: idempotent<{ user_ids: string[] }>(async ({ params: { user_ids } }) => {
        const docs = await rows.system.find({ _id: { $in: user_ids }, status: "active" }).toArray();
        return (docs as UserDoc[]).map(toState);
      }),
    },
  };
};
