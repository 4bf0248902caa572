import { hashApiKey } from "../../../lib/access/api-key.ts";
import { type AgentCaller, type Call, type Caller, SCOPES, type Scope } from "../../../lib/access/caller.ts";
import { Fault, forbidden, unauthenticated } from "../../../lib/contract/faults.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { deletion } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import { oauthFault } from "../oauth/oauth-fault.ts";
import { resolveResource } from "../oauth/resources.ts";
import { findTenant, tenantSuspended } from "../tenants/find-tenants.ts";
import { announceAuthChange } from "../tenants/routing-change.ts";
import type { UserState } from "../users/users.contract.ts";
import type * as contract from "./auth.contract.ts";
import { type EndedTokenDoc, EndedTokenModel } from "./auth.model.ts";
import { callerOfKey, currentCallers, type KeyHolder } from "./callers.ts";
import { Credentials } from "./credentials.ts";
import { noteSignOut } from "./sign-ins.ts";
import { SigningKeys } from "./signing-keys.ts";
import { keyIdOf, lastExpiry, type Subject, type Token, Tokens } from "./tokens.ts";

const NOTE_MS = 300_000;
const MOST_NOTED = 50_000;

/** The content of a token for a client of OAuth. */
export interface ClientToken {
  tenant_id: string;
  agent_id: string;
  key_id: string;
  scopes: readonly Scope[];
  resource: string;
}

/** The caller of a token, or why it is refused. */
export type Verified =
  | { caller: Caller; fault?: undefined }
  | { caller?: undefined; fault: { message: string; data: Record<string, unknown> } };

const plain = ({ message, data }: Fault) => ({ message, data: data as Record<string, unknown> });

/** Exchanges credentials for tokens, verifies both, and ends tokens. */
export class Auth {
  readonly credentials: Credentials;
  /** When the last use of keys was noted here, so that `last_used_at` costs one write per key and period. */
  readonly #noted = new LruMap<string, number>(MOST_NOTED);
  readonly #runtime: Runtime;
  readonly #ended: TenantCollection<EndedTokenDoc>;
  readonly signingKeys: SigningKeys;
  readonly tokens: Tokens;
  /** Forgets ended tokens that have expired; returns whether there may be more. */
  readonly removeExpired: () => Promise<boolean>;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#ended = runtime.store.collection(EndedTokenModel);
    this.removeExpired = deletion({ rows: this.#ended, by: "expires_at", now: () => this.now() });
    this.credentials = new Credentials(runtime);
    this.signingKeys = new SigningKeys(runtime.store, runtime.secrets);
    this.tokens = new Tokens(this.signingKeys, runtime.config.PUBLIC_URL);
  }

  now(): number {
    return this.#runtime.store.now();
  }

  async exchangeKey(ctx: CallOf<typeof contract.createAccessToken>) {
    const [holder] = await this.credentials.checkKeys(ctx, [hashApiKey(ctx.params.api_key)]);
    if (holder instanceof Fault) throw holder;
    const { key, agent } = holder as KeyHolder;
    const now = this.now();
    const { tenant_id, agent_id, id: key_id, expires_at: key_expires_at } = key;
    const scopes = chosenScopes(ctx.params.scope, key.scopes);
    const resource = chosenResource(ctx.params.resource, ctx.meta.origin);
    // Visible at once in the list of keys.
    await this.#touch(ctx, [{ tenant_id, key_id }]);
    const { team_id, token_version } = agent;
    const team = team_id ? await ctx.call("teams.name_of", { tenant_id, team_id }) : null;
    const subject = { tenant_id, agent_id, key_id, token_version, scopes, key_expires_at, ...resource };
    const token = await this.issueToken(ctx, subject);
    return {
      ...token,
      expires_in: secondsUntil(token.expires_at, now),
      scope: scopes.join(" "),
      agent: { id: agent_id, name: agent.name, team, tenant_id },
    };
  }

  /** Issues a token for a client that a person has connected to an agent. @throws Fault authentication_failed */
  async issue(ctx: Call<ClientToken>) {
    const { agent_id } = ctx.params;
    const [agent] = await ctx.call<AgentState[], object>("agents.of_tokens", { agent_ids: [agent_id] });
    if (agent?.status !== "active") throw unauthenticated("The agent is not active.");
    const { token_version } = agent;
    const token = await this.issueToken(ctx, { ...ctx.params, token_version, key_expires_at: null });
    return { ...token, expires_in: secondsUntil(token.expires_at, this.now()) };
  }

  /** @throws Fault authentication_failed unless the tenant is active */
  async issueToken(ctx: Call, subject: Subject): Promise<Token> {
    const tenant = await findTenant(ctx, subject.tenant_id);
    if (tenant?.status === "suspended") throw tenantSuspended();
    if (tenant?.status !== "active") throw unauthenticated("The tenant is not active.");
    return this.tokens.issue({ ...subject, tenant_version: tenant.token_version }, this.now());
  }

  async login(ctx: CallOf<typeof contract.logIn>) {
    return this.#signedIn(ctx, await this.credentials.checkPassword(ctx, "token"));
  }

  async changePassword(ctx: CallOf<typeof contract.changePassword>) {
    return this.#signedIn(ctx, await this.credentials.changePassword(ctx));
  }

  /** Ends the caller's token, or all tokens of its sign-in. */
  async signOut(ctx: Call): Promise<void> {
    const { caller } = ctx.meta;
    const { tenant_id } = caller;
    const ended = caller.kind === "user" ? { session_id: caller.session_id } : { token_id: caller.token_id };
    const [_id] = Object.values(ended) as [string];
    await this.#ended.insertOnce({ _id, tenant_id, expires_at: new Date(lastExpiry(caller)) });
    await announceAuthChange(ctx, { tenant_id, ...ended });
    if (caller.kind === "user") await noteSignOut(ctx);
  }

  /** Returns the caller of each token, or why it has none. */
  async verifyAll(ctx: Call, tokens: readonly string[]): Promise<Verified[]> {
    for (const kid of new Set(tokens.map(keyIdOf))) await this.signingKeys.follow(kid);
    const read = tokens.map((token) => this.tokens.read(token, this.now(), "read"));
    const callers = read.filter((caller) => caller !== null);
    const standing = callers.length ? await currentCallers(ctx, this.#ended, this.now(), callers) : [];
    const current = new Map(callers.map((caller, i) => [caller, standing[i]]));
    this.#note(
      ctx,
      standing.map((each) => (each === "suspended" ? null : each)),
    );
    return read.map((caller) => {
      const live = caller && current.get(caller);
      if (live === "suspended") return { fault: plain(tenantSuspended()) };
      if (live) return { caller: live };
      const message = "The token is malformed, expired or revoked. Get a new one.";
      return { fault: { message, data: caller ? { reason: "ended" } : {} } };
    });
  }

  /** Returns the caller of each API key that a request carries in place of a token, or why it has none. */
  async verifyKeys(ctx: Call, hashes: readonly string[]): Promise<Verified[]> {
    const holders = await this.credentials.checkKeys(ctx, hashes);
    const verified = holders.map(
      (holder): Verified =>
        holder instanceof Fault ? { fault: plain(holder) } : { caller: callerOfKey(holder) },
    );
    this.#note(
      ctx,
      verified.map(({ caller = null }) => caller),
    );
    return verified;
  }

  /** Returns the current state of verified callers: null if the token is no longer valid. */
  async current(ctx: Call, callers: readonly Caller[]): Promise<(Caller | null)[]> {
    const now = this.now();
    const isSigned = ({ signed_by }: Caller) => !signed_by || this.signingKeys.verifier(signed_by, now);
    const standing = await currentCallers(ctx, this.#ended, now, callers);
    const current = standing.map((each) => (each && each !== "suspended" && isSigned(each) ? each : null));
    this.#note(ctx, current);
    return current;
  }

  /** Writes that keys are in use, each once in a while. Nobody waits for it. */
  #note(ctx: Call, callers: readonly (Caller | null)[]): void {
    const now = this.now();
    const used = callers
      .filter((caller) => caller?.kind === "agent")
      .filter(({ key_id }) => now - (this.#noted.get(key_id) ?? 0) >= NOTE_MS);
    for (const { key_id } of used) this.#noted.set(key_id, now);
    if (used.length) void this.#touch(ctx, used);
  }

  /** A failure loses only the last use of the keys. */
  async #touch({ broker }: Call, used: readonly Pick<AgentCaller, "tenant_id" | "key_id">[]): Promise<void> {
    const keys = used.map(({ tenant_id, key_id }) => ({ tenant_id, key_id }));
    await broker.call("keys.touch", { used: keys }).catch((err: unknown) => {
      broker.logger.warn({ err }, "auth: the last use of some keys was not recorded");
    });
  }

  async #signedIn(ctx: Call, { id, tenant_id, display_name, role, token_version }: UserState) {
    const token = await this.issueToken(ctx, { tenant_id, user_id: id, role, token_version });
    return { ...token, user: { id, display_name, role, tenant_id } };
  }
}

/** Returns the asked scopes that a key has; all by default. @throws Fault invalid_scope in OAuth's form */
function chosenScopes(wanted: string | undefined, held: readonly Scope[]): readonly Scope[] {
  const named = wanted?.split(" ").filter(Boolean) ?? [];
  if (named.length === 0) return held;
  const unknown = named.find((scope) => !SCOPES.includes(scope as Scope));
  if (unknown !== undefined)
    throw oauthFault("invalid_scope", `scope: ${unknown.slice(0, 100)} is none of ${SCOPES.join(", ")}.`);
  const chosen = SCOPES.filter(
    (scope) => named.includes(scope) && (held.includes(scope) || held.includes("admin")),
  );
  if (chosen.length > 0) return chosen;
  throw oauthFault("invalid_scope", `scope: the key has none of these, but ${held.join(" ")}.`);
}

/** @throws Fault invalid_target in OAuth's form for one that is none of this service */
function chosenResource(wanted: string | undefined, origin = ""): { resource?: string } {
  if (!wanted?.trim()) return {};
  const resource = resolveResource(wanted, origin);
  if (resource !== null) return { resource };
  throw oauthFault("invalid_target", `resource: expected ${origin}/mcp or ${origin}.`);
}

function secondsUntil(time: string, now: number): number {
  return Math.max(0, Math.floor((Date.parse(time) - now) / 1000));
}

/** @throws Fault forbidden with an API key in place of a token: it is ended by revoking it, not by signing out */
export function requireToken(caller: Caller): void {
  if (caller.kind !== "agent" || caller.token_id !== caller.key_id) return;
  const { agent_id, key_id } = caller;
  throw forbidden(
    `An API key cannot be signed out. To revoke it, call DELETE /v1/agents/${agent_id}/keys/${key_id}.`,
  );
}
