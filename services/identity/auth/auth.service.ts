import { hashApiKey } from "../../../lib/access/api-key.ts";
import { type Call, type Caller, callerId, NO_END } from "../../../lib/access/caller.ts";
import { accountTag } from "../../../lib/access/device-cookie.ts";
import { Fault, invalidValue } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import { changePassword, exchangeKey, jwks, login, logout, whoAmI } from "./auth.contract.ts";
import { EndedTokenModel } from "./auth.model.ts";
import { lastExpiry, sessionActions } from "./browser-sessions.ts";
import { callerOfKey, currentCallers } from "./callers.ts";
import { Guarded } from "./guarded.ts";
import { KeyUses } from "./key-uses.ts";
import { type Login, noteFailedSignIn, noteSignIn, noteSignOut, type SignInKind } from "./sign-ins.ts";
import { openTokens, type Subject, type Tokens } from "./tokens.ts";

const FLUSH_MS = 5000;
const SWEEP_MS = 10 * 60_000;
const WRONG_KEY = "The API key is unknown, revoked or expired, or its agent is not active.";
const WRONG_LOGIN = "The e-mail or the password is wrong, or tenant_slug is needed to tell tenants apart.";

export const authService: ServiceFactory = ({ store, secrets, config, windows }) => {
  const endedTokens = store.collection(EndedTokenModel);
  const guarded = new Guarded(config.LOGIN_ATTEMPTS_PER_MINUTE, windows);
  const uses = new KeyUses();
  let tokens: Tokens;
  let timers: NodeJS.Timeout[] = [];

  /** Tries a credential; null means it was wrong, which counts against the keys. */
  async function attempt<T>(keys: string[], wrong: Fault, trial: () => Promise<T | null>): Promise<T> {
    // An attempt that could not be checked is not a guess.
    const result = await guarded.run(keys, trial, (outcome) => outcome === null);
    if (result === null) throw wrong;
    return result;
  }

  async function current(ctx: Call, callers: readonly Caller[]): Promise<(Caller | null)[]> {
    const now = store.now();
    const answer = await currentCallers(ctx, endedTokens, now, callers);
    for (const caller of answer) if (caller?.kind === "agent") uses.note(caller, now);
    return answer;
  }

  async function holderOf(ctx: Call, hash: string): Promise<KeyHolder> {
    const wrong = new Fault("authentication_failed", WRONG_KEY);
    return attempt(attemptKeys(ctx), wrong, () => keyHolder(ctx, hash));
  }

  async function checkPassword(ctx: Call<Login>, by: SignInKind): Promise<UserState> {
    const { email, password, tenant_slug } = ctx.params;
    const { device } = ctx.meta;
    const isKnown = device !== undefined && device.account === accountTag(secrets, email);
    const keys = isKnown ? [`device ${device.id}`] : attemptKeys(ctx);
    const wrong = new Fault("authentication_failed", WRONG_LOGIN);
    const user = await attempt(keys, wrong, async () => {
      const signedIn = await signIn(ctx, { email, password, tenant_slug });
      // Not awaited: the response time would reveal whether the e-mail exists.
      if (!signedIn) void noteFailedSignIn(ctx, { email, tenant_slug }, store.now());
      return signedIn;
    });
    await noteSignIn(ctx, user, by);
    return user;
  }

  async function end(ctx: Call): Promise<void> {
    const { caller } = ctx.meta;
    const { tenant_id } = caller;
    const ended = caller.kind === "user" ? { session_id: caller.session_id } : { token_id: caller.token_id };
    const [_id] = Object.values(ended) as [string];
    await endedTokens.insertOnce({ _id, tenant_id, expires_at: new Date(lastExpiry(caller)) });
    await ctx.broadcast("auth.changed", { tenant_id, ...ended });
    if (caller.kind === "user") await noteSignOut(ctx);
  }

  function signedIn(user: UserState) {
    const { id, tenant_id, display_name, role, token_version } = user;
    const token = tokens.issue({ tenant_id, user_id: id, role, token_version }, store.now());
    return { ...token, user: { id, display_name, role, tenant_id } };
  }

  return {
    name: "auth",
    actions: {
      token: action(exchangeKey, async (ctx) => {
        const { key, agent } = await holderOf(ctx, hashApiKey(ctx.params.api_key));
        const now = store.now();
        const { tenant_id, agent_id, id: key_id, scopes, expires_at } = key;
        // Visible at once in the list of keys; an exchange does not fail if this write does.
        await ctx
          .call("keys.touch", { uses: [{ tenant_id, key_id, at: now }] })
          .catch(() => uses.note({ tenant_id, key_id }, now));
        const { team_id, token_version } = agent;
        const subject: Subject = {
          ...{ tenant_id, agent_id, key_id, token_version, scopes, key_expires_at: expires_at },
        };
        const team = team_id ? await ctx.call("teams.name_of", { tenant_id, team_id }) : null;
        const token = tokens.issue(subject, now);
        return {
          ...token,
          expires_in: Math.max(0, Math.floor((Date.parse(token.expires_at) - now) / 1000)),
          scope: scopes.join(" "),
          agent: { id: agent_id, name: agent.name, team, tenant_id },
        };
      }),

      login: action(login, async (ctx) => signedIn(await checkPassword(ctx, "token"))),

      ...sessionActions({
        config,
        secrets,
        now: () => store.now(),
        tokens: () => tokens,
        checkPassword,
        end,
      }),

      me: action(whoAmI, async (ctx) => {
        const { caller } = ctx.meta;
        const { scopes, tenant_id } = caller;
        const [tenant] = (await ctx.call("tenants.get_many", { tenant_ids: [tenant_id] })) as TenantState[];
        const { id, slug, name } = tenant as TenantState;
        const expires_at = caller.expires_at === NO_END ? null : new Date(caller.expires_at).toISOString();
        return { kind: caller.kind, ...(await selfOf(ctx)), tenant: { id, slug, name }, scopes, expires_at };
      }),

      logout: action(logout, (ctx) => {
        requireToken(ctx.meta.caller);
        return end(ctx);
      }),

      password: action(changePassword, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const user_id = callerId(ctx.meta.caller);
        const { current_password, new_password } = ctx.params;
        const change = { tenant_id, user_id, current: current_password, next: new_password };
        const wrong = invalidValue("current_password", "current_password is not the present password.");
        const user = await attempt([`user ${user_id}`], wrong, () =>
          ctx.call<UserState | null, typeof change>("users.change_password", change),
        );
        return signedIn(user);
      }),

      jwks: action(jwks, (ctx) => {
        ctx.meta.$responseHeaders = { "Cache-Control": "public, max-age=300" };
        return { keys: [tokens.jwk] };
      }),

      /** Returns the caller of a token. @throws Fault authentication_failed if it is invalid or no longer valid. */
      verify: idempotent<{ token: string }>(async (ctx) => {
        const caller = tokens.read(ctx.params.token, store.now());
        const [live] = caller ? await current(ctx, [caller]) : [null];
        if (!live) throw new Fault("authentication_failed", "The token is malformed, expired or revoked.");
        return live;
      }),

      /**
       * Returns the caller of an API key that a request carries in place of a token.
       *
       * @throws Fault authentication_failed, rate_limited after too many wrong keys from this address
       */
      verify_key: idempotent<{ hash: string }>(async (ctx) => {
        const { key, agent } = await holderOf(ctx, ctx.params.hash);
        uses.note({ tenant_id: key.tenant_id, key_id: key.id }, store.now());
        return callerOfKey(key, agent);
      }),

      /** Returns the current state of verified callers: null if the token is no longer valid. */
      states: idempotent<{ callers: Caller[] }>((ctx) => current(ctx, ctx.params.callers)),

      /** Signs a statement of the service (RFC 7519) that its JWKS verifies. */
      sign_receipt: internal<{ claims: object }>(({ params }) => tokens.receipt(params.claims, store.now())),
    },

    async started() {
      tokens = await openTokens(store, secrets, config.PUBLIC_URL ?? "afferent");
      const every = (ms: number, what: () => Promise<unknown>) => {
        const run = () => what().catch((err) => this.logger.warn({ err }, "housekeeping of auth failed"));
        timers.push(setInterval(run, ms).unref());
      };
      every(FLUSH_MS, () => uses.flush(this.broker));
      every(SWEEP_MS, () => endedTokens.system.deleteMany({ expires_at: { $lt: new Date(store.now()) } }));
    },

    async stopped() {
      timers.forEach(clearInterval);
      timers = [];
      // A failure loses only the last use of some keys; the node stops anyway.
      await uses
        .flush(this.broker)
        .catch((err) => this.logger.warn({ err }, "last uses of keys were not noted"));
    },
  };
};

/** @throws Fault forbidden with an API key in place of a token: it is ended by revoking it, not by signing out */
function requireToken(caller: Caller): void {
  if (caller.kind !== "agent" || caller.token_id !== caller.key_id) return;
  const { agent_id, key_id } = caller;
  throw new Fault(
    "forbidden",
    `Signing out ends tokens, and this is an API key. Revoke it: DELETE /v1/agents/${agent_id}/keys/${key_id}.`,
  );
}

function attemptKeys({ meta }: Call): string[] {
  return [`address ${networkOf(meta.ip ?? "")}`];
}

interface KeyHolder {
  key: KeyState;
  agent: AgentState;
}

/** Returns the key with this hash and its agent, if both and their tenant are valid. */
async function keyHolder(ctx: Call, hash: string): Promise<KeyHolder | null> {
  const key = (await ctx.call("keys.by_secret", { hash })) as KeyState | null;
  if (!key) return null;
  const { tenant_id, agent_id } = key;
  const [agents, tenants] = (await Promise.all([
    ctx.call("agents.get_many", { tenant_id, agent_ids: [agent_id] }),
    ctx.call("tenants.get_many", { tenant_ids: [tenant_id] }),
  ])) as [AgentState[], TenantState[]];
  const [agent] = agents;
  return agent?.status === "active" && tenants[0]?.status === "active" ? { key, agent } : null;
}

/** Returns the one user whose password matches, or null; an unknown tenant takes as long as a wrong password. */
async function signIn(ctx: Call, { email, password, tenant_slug }: Login): Promise<UserState | null> {
  const named = tenant_slug
    ? ((await ctx.call("tenants.by_slug", { slug: tenant_slug })) as TenantState | null)
    : undefined;
  const tenant_id = named === undefined ? undefined : (named?.id ?? "none");
  const sought = { email, password, tenant_id };
  const users = (await ctx.call("users.fitting_password", sought)) as UserState[];
  const tenant_ids = users.map((user) => user.tenant_id);
  const tenants = (await ctx.call("tenants.get_many", { tenant_ids })) as TenantState[];
  const open = new Set(tenants.filter(({ status }) => status === "active").map(({ id }) => id));
  const [user, ...others] = users.filter((each) => open.has(each.tenant_id));
  return user && others.length === 0 ? user : null;
}

async function selfOf(ctx: Call): Promise<object> {
  const { caller } = ctx.meta;
  if (caller.kind === "agent") return { agent: await ctx.call("agents.get", { agent_id: caller.agent_id }) };
  const [user] = (await ctx.call("users.of_tokens", { user_ids: [caller.user_id] })) as UserState[];
  if (!user) throw new Fault("authentication_failed", "The user is not there any more.");
  const { id, display_name, role, tenant_id, email } = user;
  return { user: { id, display_name, role, tenant_id, email } };
}
