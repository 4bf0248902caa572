import { type Call, callerId, type OfUser } from "../../../lib/access/caller.ts";
import { requireFound, ruleBroken, unknownReference } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import {
  fitsPassword,
  hashPassword,
  hasSharedSalt,
  isPassword,
  newPassword,
} from "../../../lib/crypto/password.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { defined } from "../../../lib/defined.ts";
import { newId } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import { account } from "../../../middlewares/audit.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { unlessTaken } from "../../../storage/writes.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import { announceAuthChange } from "../tenants/routing-change.ts";
import { isInForce } from "./totp.ts";
import {
  type createUser,
  type deleteUser,
  type listUsers,
  type SignInWay,
  User,
  type UserState,
  type updateUser,
} from "./users.contract.ts";
import type { UserDoc } from "./users.model.ts";

type NewUser = Pick<UserDoc, "_id" | "tenant_id" | "email"> &
  Partial<Pick<UserDoc, "display_name" | "role" | "identity">> & { password: string | null };

const DISABLING = { $set: { status: "disabled" }, $inc: { token_version: 1 } } as const;

/** The operations on people, and their passwords. */
export class Users {
  readonly #secrets: SecretBox;
  readonly #store: Store;
  readonly #rows: TenantCollection<UserDoc>;

  constructor({ secrets, store }: Pick<Runtime, "secrets" | "store">, rows: TenantCollection<UserDoc>) {
    this.#secrets = secrets;
    this.#store = store;
    this.#rows = rows;
  }

  async create({ params, meta }: CallOf<typeof createUser>) {
    const seed = meta.idempotency_seed;
    const password = params.password ?? newPassword(this.#secrets, seed);
    const { tenant_id } = meta.caller;
    const row = { ...params, _id: newId("usr", seed), tenant_id, password };
    const message = () =>
      `A user with the e-mail ${row.email.toLowerCase()} already exists. Update that user instead.`;
    const unique = { field: "email", holder: { email: row.email.toLowerCase() }, message };
    const user = await unlessTaken(this.#rows, tenant_id, unique, this.insert(row));
    return { ...present(user), ...(params.password === undefined && { password }) };
  }

  async insert({ password: plain, ...given }: NewUser) {
    const email = given.email.toLowerCase();
    const [display_name] = email.split("@") as [string];
    const person = { display_name, role: "member" as const, ...given, email };
    const password = plain === null ? null : await hashPassword(plain, this.#secrets, email);
    const versions = { token_version: 1, disablings: 0, demotions: 0 };
    const account = { status: "active" as const, password, totp: null, ...versions };
    const at = this.#now();
    return this.#rows.insertOnce({ identity: null, ...person, ...account, created_at: at, updated_at: at });
  }

  async list({ params, meta }: CallOf<typeof listUsers>) {
    const part = params.search && containing(params.search);
    const filter = part ? { $or: [{ display_name: part }, { email: part }] } : {};
    const sort = { created_at: 1, _id: 1 } as const;
    const { rows, total } = await this.#rows.page(meta.caller.tenant_id, filter, sort, params);
    return { users: rows.map(present), total };
  }

  async update(ctx: CallOf<typeof updateUser>) {
    const { caller, idempotency_seed: seed } = ctx.meta;
    const { user_id, display_name, role, status, reset_password, reset_totp, unlink_identity } = ctx.params;
    const { tenant_id } = caller;
    if (caller.kind === "user" && caller.user_id === user_id) refuseOwnDemotion(role, status);
    const password = reset_password ? newPassword(this.#secrets, seed) : null;
    const hash = password ? await this.#hashAnew(tenant_id, user_id, password) : undefined;
    const changes = defined({ display_name, role, status, password: hash });
    const removed = { ...(reset_totp && { totp: null }), ...(unlink_identity && { identity: null }) };
    const $set = { ...changes, ...removed, updated_at: this.#now() };
    // A session may have begun with what is removed.
    const isOver = hash || status === "disabled" || reset_totp || unlink_identity;
    const $inc = {
      token_version: isOver ? 1 : 0,
      disablings: status === "disabled" ? 1 : 0,
      demotions: role === "member" ? 1 : 0,
    };
    const before = requireFound(await this.#rows.findOne(tenant_id, { _id: user_id }), "user", user_id);
    const written = await this.#rows.update(tenant_id, { _id: user_id }, { $set, $inc });
    const user = requireFound(written, "user", user_id);
    await this.#keepAdmin(ctx, before, $set);
    await announceAuthChange(ctx, { tenant_id, user_id });
    return { ...present(user), ...(password && { password }) };
  }

  /** Deletes a person with what is their own. @throws Fault not_found, validation_error, business_rule_violation */
  async delete(ctx: CallOf<typeof deleteUser>) {
    const { caller } = ctx.meta;
    const { tenant_id } = caller;
    const { user_id, shared = "keep", agents_to } = ctx.params;
    const user = requireFound(await this.#rows.findOne(tenant_id, { _id: user_id }), "user", user_id);
    if (callerId(caller) === user_id)
      throw ruleBroken("own_account", "You cannot delete yourself. Ask another admin.");
    const isNext = { _id: agents_to as string, status: "active" as const };
    if (agents_to !== undefined && (agents_to === user_id || !(await this.#rows.exists(tenant_id, isNext))))
      throw unknownReference("agents_to", "user", agents_to);
    account(ctx, { shared, ...(agents_to && { agents_to }) });
    await this.#disable(ctx, user);
    await ctx.call("agents.change_owner", { tenant_id, from: user_id, to: agents_to ?? null });
    const owner = { tenant_id, owner_id: user_id, shared };
    return { id: user_id, ...(await ctx.call<object, object>("memories.erase_owner", owner)) };
  }

  /** Ends the sessions of a person who is being deleted, or deletes the account of one whose data is erased. */
  async end(ctx: Call<{ tenant_id: string; owner_id: string; erased: boolean }>): Promise<void> {
    const { tenant_id, owner_id: _id, erased } = ctx.params;
    if (erased) await this.#rows.delete(tenant_id, { _id });
    else await this.#rows.update(tenant_id, { _id }, DISABLING);
    await ctx.call("agents.change_owner", { tenant_id, from: _id, to: null });
    await announceAuthChange(ctx, { tenant_id, user_id: _id });
  }

  async #disable(ctx: Call, user: UserDoc): Promise<void> {
    const { tenant_id, _id } = user;
    await this.#rows.update(tenant_id, { _id }, DISABLING);
    await this.#keepAdmin(ctx, user, DISABLING.$set);
    await announceAuthChange(ctx, { tenant_id, user_id: _id });
  }

  /**
   * Takes a change of an admin back if it leaves none. It is made first, so that two admins cannot delete, disable or demote
   * each other at once.
   */
  async #keepAdmin(ctx: Call, before: UserDoc, changed: Partial<UserDoc>): Promise<void> {
    const { tenant_id, _id, role } = before;
    if (role !== "admin" || (await this.#rows.exists(tenant_id, { role, status: "active" }))) return;
    const fields = Object.keys(changed) as (keyof UserDoc)[];
    const $set = Object.fromEntries(fields.map((field) => [field, before[field]])) as Partial<UserDoc>;
    await this.#rows.update(tenant_id, { _id }, { $set });
    await announceAuthChange(ctx, { tenant_id, user_id: _id });
    throw ruleBroken(
      "last_admin",
      "This is the organisation's last admin. Make another person an admin first.",
    );
  }

  /** Returns the enabled ones of these users whose password fits. Takes equally long for any number. */
  async withPassword(all: UserDoc[], password: string): Promise<UserState[]> {
    const users = all.filter(hasPassword);
    const hashes = users.map((user) => user.password);
    const fits = await fitsPassword(password, hashes);
    const fitting = users.filter(({ status }, i) => fits[i] && status === "active");
    for (const user of fitting) await this.#shareSalt(user, password);
    return fitting.map(toState);
  }

  /** Returns the user's new state, or null if the current password is wrong. */
  async changePassword(
    ctx: Call<{ tenant_id: string; user_id: string; current: string; next: string }>,
  ): Promise<UserState | null> {
    const { tenant_id, user_id, current, next } = ctx.params;
    const user = await this.#rows.findOne(tenant_id, { _id: user_id });
    if (!(await isPassword(current, user?.password ?? null)) || !user) return null;
    const password = await hashPassword(next, this.#secrets, user.email);
    const known = { _id: user_id, token_version: user.token_version };
    const update = { $set: { password, updated_at: this.#now() }, $inc: { token_version: 1 } };
    const changed = await this.#rows.update(tenant_id, known, update);
    if (!changed) return null;
    await announceAuthChange(ctx, { tenant_id, user_id });
    return toState(changed);
  }

  /** Returns how a person signs in, for themselves. */
  async ways({ tenant_id, user_id }: OfUser) {
    const user = requireFound(await this.#rows.findOne(tenant_id, { _id: user_id }), "user", user_id);
    const { identity, totp } = user;
    return {
      password: hasPassword(user),
      totp: isInForce(totp)
        ? { since: totp?.confirmed_at?.toISOString(), recovery_codes_left: totp?.recovery.length }
        : null,
      identity: identity ? { issuer: identity.issuer, linked_at: identity.linked_at.toISOString() } : null,
    };
  }

  #now(): Date {
    return new Date(this.#store.now());
  }

  async #hashAnew(tenant_id: string, user_id: string, password: string) {
    const user = requireFound(await this.#rows.findOne(tenant_id, { _id: user_id }), "user", user_id);
    return hashPassword(password, this.#secrets, user.email);
  }

  /** Upgrades an older hash to the salt that all accounts of its e-mail share. */
  async #shareSalt({ tenant_id, _id, token_version, email, password: old }: WithPassword, plain: string) {
    if (hasSharedSalt(old, this.#secrets, email)) return;
    const password = await hashPassword(plain, this.#secrets, email);
    await this.#rows.update(tenant_id, { _id, token_version }, { $set: { password } });
  }
}

type WithPassword = UserDoc & { password: NonNullable<UserDoc["password"]> };

const hasPassword = (user: UserDoc): user is WithPassword => user.password !== null;

/** Returns a person's state for other domains. */
export function toState(user: UserDoc): UserState {
  const { _id: id, password: _, totp, identity, created_at, updated_at, ...state } = user;
  return { id, ...state, has_password: hasPassword(user), has_totp: isInForce(totp) };
}

function present(user: UserDoc) {
  const ways = { password: hasPassword(user), totp: isInForce(user.totp), oidc: user.identity !== null };
  return presentAs(User, user, { sign_in: (Object.keys(ways) as SignInWay[]).filter((way) => ways[way]) });
}

function refuseOwnDemotion(role?: string, status?: string): void {
  if (role !== "member" && status !== "disabled") return;
  throw ruleBroken("own_account", "You cannot disable or demote yourself. Ask another admin.");
}
