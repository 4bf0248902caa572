import type { Call, OfTenant } from "../../../lib/access/caller.ts";
import { newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import { announceAuthChange } from "../tenants/routing-change.ts";
import type { Role, UserState } from "./users.contract.ts";
import type { LinkedIdentity, UserDoc } from "./users.model.ts";
import { toState, type Users } from "./users.ts";

/** A provider's claims about a person, as far as they matter here. */
export interface Profile {
  subject: string;
  email: string | null;
  is_email_verified: boolean;
  name: string | null;
}

/** A person whom the provider has identified, and the role that their claims give them here. */
export interface Identified extends Profile, OfTenant {
  issuer: string;
  role: Role;
}

export type RefusedIdentity = "disabled" | "no_email" | "email_unverified" | "email_taken";

/** The person's account, or why there is none for them; `user_id` is then the account that stands in the way. */
export type Admission =
  | { user: UserState; by: "identity" | "linking" | "creation"; role_before: Role | null }
  | { refused: RefusedIdentity; user_id: string | null };

const RACED = "The account is being changed concurrently. Sign in again.";

/** Finds, links and creates the accounts of people whom the identity provider has identified. */
export class Identities {
  readonly #store: Store;
  readonly #users: Users;
  readonly #rows: TenantCollection<UserDoc>;

  constructor(store: Store, users: Users, rows: TenantCollection<UserDoc>) {
    this.#store = store;
    this.#users = users;
    this.#rows = rows;
  }

  admit(ctx: Call<Identified>): Promise<Admission> {
    return guardedWrite(() => this.#tryToAdmit(ctx), RACED);
  }

  /** @returns null if another sign-in came first */
  async #tryToAdmit(ctx: Call<Identified>): Promise<Admission | null> {
    const { tenant_id, issuer, subject, email, is_email_verified } = ctx.params;
    const own = { "identity.issuer": issuer, "identity.subject": subject };
    const known = await this.#rows.findOne(tenant_id, own);
    if (known) return this.#enter(ctx, known);
    if (!email) return { refused: "no_email", user_id: null };
    const holder = await this.#rows.findOne(tenant_id, { email: email.toLowerCase() });
    if (!holder) return this.#create(ctx.params, email);
    const refuse = (refused: RefusedIdentity) => ({ refused, user_id: holder._id });
    // Another sign-in of the same person came between the two reads.
    if (holder.identity?.issuer === issuer && holder.identity.subject === subject)
      return this.#enter(ctx, holder);
    if (holder.identity) return refuse("email_taken");
    // A person who may name any address at the provider must not get its owner's account.
    if (!is_email_verified) return refuse("email_unverified");
    if (holder.status === "disabled") return refuse("disabled");
    return this.#change(ctx, holder, { identity: this.#identityOf(ctx.params) });
  }

  async #enter(ctx: Call<Identified>, user: UserDoc): Promise<Admission | null> {
    if (user.status === "disabled") return { refused: "disabled", user_id: user._id };
    if (user.role !== ctx.params.role) return this.#change(ctx, user, {});
    return { user: toState(user), by: "identity", role_before: null };
  }

  /** Gives an account the role of the claims, and the identity if it is new. */
  async #change(
    ctx: Call<Identified>,
    user: UserDoc,
    linked: Partial<Pick<UserDoc, "identity">>,
  ): Promise<Admission | null> {
    const { tenant_id, role } = ctx.params;
    const { _id, updated_at } = user;
    const $set = { ...linked, role, updated_at: new Date(this.#store.now()) };
    const role_before = user.role === role ? null : user.role;
    const $inc = { demotions: role_before === "admin" ? 1 : 0 };
    const changed = await this.#rows.update(tenant_id, { _id, status: "active", updated_at }, { $set, $inc });
    if (!changed) return null;
    if (role_before) await announceAuthChange(ctx, { tenant_id, user_id: _id });
    return { user: toState(changed), by: linked.identity ? "linking" : "identity", role_before };
  }

  async #create(person: Identified, email: string): Promise<Admission | null> {
    const { tenant_id, role, name } = person;
    const identity = this.#identityOf(person);
    const row = { _id: newId("usr"), tenant_id, email, role, password: null, identity };
    try {
      const user = await this.#users.insert(name ? { ...row, display_name: name } : row);
      return { user: toState(user), by: "creation", role_before: null };
    } catch (err) {
      if (isDuplicateKey(err)) return null;
      throw err;
    }
  }

  #identityOf({ issuer, subject }: Identified): LinkedIdentity {
    return { issuer, subject, linked_at: new Date(this.#store.now()) };
  }
}
