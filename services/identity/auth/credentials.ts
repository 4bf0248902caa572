import { type Call, callerId, type OfUser } from "../../../lib/access/caller.ts";
import {
  Fault,
  forbidden,
  invalidValue,
  rateLimited,
  unauthenticated,
} from "../../../lib/contract/faults.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import { findAll } from "../keys/versions.ts";
import { activeTenants, findTenant, tenantSuspended } from "../tenants/find-tenants.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { CodeCheck } from "../users/totp.ts";
import type { UserState } from "../users/users.contract.ts";
import type { changePassword } from "./auth.contract.ts";
import type { KeyHolder } from "./callers.ts";
import { type Login, noteFailedSignIn, noteRefusedSignIn, noteSignIn, type SignInKind } from "./sign-ins.ts";

const WRONG_KEY =
  "The API key is unknown, revoked or expired, or its agent is inactive. Ask an admin for a new key.";
const WRONG_LOGIN =
  "The e-mail or password is wrong, or the e-mail belongs to several tenants: then send tenant_slug too.";

/** Checks keys and passwords. The gateway counts those that are wrong. */
export class Credentials {
  readonly #now: () => number;
  readonly #acceptsPasswords: boolean;

  constructor({ store, config }: Pick<Runtime, "store" | "config">) {
    this.#now = store.now;
    this.#acceptsPasswords = config.PASSWORD_SIGN_IN;
  }

  /** Returns the API key with each hash, with its agent and tenant, or authentication_failed. */
  async checkKeys(ctx: Call, hashes: readonly string[]): Promise<(KeyHolder | Fault)[]> {
    const holders = await keyHolders(ctx, hashes);
    return holders.map((holder) => {
      if (!holder) return unauthenticated(WRONG_KEY);
      return holder.tenant.status === "suspended" ? tenantSuspended() : holder;
    });
  }

  /** Returns the person who signs in. @throws Fault authentication_failed, totp_required, forbidden, rate_limited */
  async checkPassword(ctx: Call<Login>, by: SignInKind): Promise<UserState> {
    if (!this.#acceptsPasswords)
      throw forbidden("Passwords are switched off here. Sign in by the identity provider, in the console.");
    const { email, password, tenant_slug, code } = ctx.params;
    const user = await signIn(ctx, { email, password, tenant_slug });
    if (!user) {
      // Not awaited: the response time would reveal whether the e-mail exists.
      void noteFailedSignIn(ctx, { email, tenant_slug }, this.#now());
      throw unauthenticated(WRONG_LOGIN);
    }
    if (user.has_totp) await requireCode(ctx, user, code);
    await noteSignIn(ctx, user, by);
    return user;
  }

  /** Returns the calling person's new state. @throws Fault validation_error */
  async changePassword(ctx: CallOf<typeof changePassword>): Promise<UserState> {
    const { current_password: current, new_password: next } = ctx.params;
    const wrong = invalidValue(
      "current_password",
      "current_password: it is wrong. Send the password that you sign in with.",
    );
    return tryOwn(ctx, wrong, (person) =>
      ctx.call<UserState | null, unknown>("users.change_password", { ...person, current, next }),
    );
  }
}

/** Tries a password, code or proof of the calling person; null means it was wrong. @throws Fault the given one then */
export async function tryOwn<T>(
  { meta: { caller } }: Call,
  wrong: Fault,
  trial: (person: OfUser) => Promise<T | null>,
): Promise<T> {
  const result = await trial({ tenant_id: caller.tenant_id, user_id: callerId(caller) });
  if (result === null) throw wrong;
  return result;
}

/** Returns the key with each hash, its agent and its tenant; null unless all are valid, but the tenant may be suspended. */
async function keyHolders(ctx: Call, hashes: readonly string[]): Promise<(KeyHolder | null)[]> {
  const states = await ctx.call<(KeyState | null)[], unknown>("keys.by_secrets", { hashes });
  const keys = states.filter((key) => key !== null);
  const ids = (of: "agent_id" | "tenant_id") => keys.map((key) => key[of]);
  const [agents, tenants] = await Promise.all([
    findAll<AgentState>(ctx, "agents.of_tokens", "agent_ids", ids("agent_id")),
    findAll<TenantState>(ctx, "tenants.get_many", "tenant_ids", ids("tenant_id")),
  ]);
  return states.map((key) => {
    const agent = key && agents.get(key.agent_id);
    const tenant = key && tenants.get(key.tenant_id);
    if (agent?.status !== "active" || agent.tenant_id !== key?.tenant_id || !tenant) return null;
    return tenant.status === "active" || tenant.status === "suspended" ? { key, agent, tenant } : null;
  });
}

/**
 * Returns the one user whose password matches, or null; an unknown tenant takes as long as a wrong password.
 * @throws Fault authentication_failed if that user's tenant is suspended
 */
async function signIn(ctx: Call, { email, password, tenant_slug }: Login): Promise<UserState | null> {
  const slug = tenant_slug;
  const named = slug ? await ctx.call<TenantState | null, unknown>("tenants.by_slug", { slug }) : undefined;
  const tenant_id = named === undefined ? undefined : (named?.id ?? "none");
  const sought = { email, password, tenant_id };
  const users = await ctx.call<UserState[], unknown>("users.fitting_password", sought);
  const active = await activeTenants(ctx, users);
  if (active.size === 0 && users.length === 1 && (await isSuspended(ctx, users[0] as UserState)))
    throw tenantSuspended();
  const [user, ...others] = users.filter((each) => active.has(each.tenant_id));
  return user && others.length === 0 ? user : null;
}

async function isSuspended(ctx: Call, { tenant_id }: UserState): Promise<boolean> {
  return (await findTenant(ctx, tenant_id))?.status === "suspended";
}

const WRONG_CODE =
  "The code is wrong, has expired or was used before. Send the authenticator's current one, or a recovery code.";

/**
 * Checks the code of a person whose password is right, and uses it up.
 * @throws Fault totp_required without one, authentication_failed, rate_limited after several wrong ones
 */
async function requireCode(
  ctx: Call,
  { id: user_id, tenant_id }: UserState,
  code: string | undefined,
): Promise<void> {
  if (code === undefined)
    throw new Fault(
      "totp_required",
      "A code is required too: send it as code, from the authenticator or a recovery code.",
    );
  const check = await ctx.call<CodeCheck, object>("users.check_code", { tenant_id, user_id, code });
  if (check.is === "right") return;
  if (check.is === "later") {
    const { wait_ms } = check;
    const message = "Too many wrong codes for this account. Use a recovery code, or retry";
    throw rateLimited(message, 1, Math.ceil(wait_ms / 1000), wait_ms);
  }
  await noteRefusedSignIn(ctx, { id: user_id, tenant_id }, "authentication_failed", { factor: "code" });
  throw unauthenticated(WRONG_CODE, { reason: "code" });
}
