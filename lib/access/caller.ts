import type { Context } from "moleculer";

/** Permissions of a token (spec: API key). `admin` implies all others inside its tenant. */
export const SCOPES = [
  "send",
  "receive",
  "memory:read",
  "memory:write",
  "channel:read",
  "channel:write",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Returns the scopes of a person: admins have all, members all but `admin` (api.md "Who calls"). */
export function scopesForRole(role: "admin" | "member"): readonly Scope[] {
  return role === "admin" ? SCOPES : SCOPES.filter((scope) => scope !== "admin");
}

interface Identity {
  tenant_id: string;
  scopes: readonly Scope[];
  /** The token's `jti`, or the id of the API key that is used instead. */
  token_id: string;
  /** The key that signed the token; absent for an API key. */
  signed_by?: string;
  /** The tenant's version that the token was issued in, raised by suspension; absent for a key. */
  tenant_version?: number;
  /** The only part of the service that the token is for; absent for all of it. */
  only?: "mcp";
  /** Requests per minute of the tenant, if it has its own limit (0: none), and of the key. */
  limits?: { tenant?: number; key?: number };
  /** When the token or key expires, in milliseconds since the epoch; NO_END for a key without expiry. */
  expires_at: number;
}

/** Later than any real date, as a number that JSON can carry between nodes. */
export const NO_END = Date.UTC(9999, 11, 31);

/** A program, authenticated by one of its keys (spec: Authentication). */
export interface AgentCaller extends Identity {
  kind: "agent";
  agent_id: string;
  team_id: string | null;
  key_id: string;
  /** The person who approved the connection that has the key; absent for a key that was created. */
  approved_by?: string;
  /** The agent's activation that the token was issued in; tokens of earlier activations are refused. */
  token_version: number;
}

/** A person, authenticated by signing in (spec: Authentication). */
export interface UserCaller extends Identity {
  kind: "user";
  user_id: string;
  role: "admin" | "member";
  /** The version of the password that the token was issued under; tokens of older versions are refused. */
  token_version: number;
  /** The sign-in that the token derives from; signing out ends all of its tokens. */
  session_id: string;
  /** When the password was entered, in seconds since the epoch; limits how long a session can be renewed. */
  auth_time?: number;
}

/** The caller of a request, from its verified token, never from a body (spec: Authentication 3). */
export type Caller = AgentCaller | UserCaller;

/** Returns the id under which rate limits, idempotency keys and audit rows are kept. */
export function callerId(caller: Caller): string {
  return caller.kind === "agent" ? caller.agent_id : caller.user_id;
}

/** Returns the id of an agent or a person in the field of its kind. */
export function ownerIds(id: string): { agent_id: string | null; user_id: string | null } {
  const isAgent = id.startsWith("ag_");
  return { agent_id: isAgent ? id : null, user_id: isAgent ? null : id };
}

/** Whether a caller may use operations for admins: an org admin, or an agent whose key has the scope. */
export function isAdmin(caller: Caller): boolean {
  return caller.scopes.includes("admin");
}

/** Whether a caller has a scope; `admin` implies the others. */
export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.scopes.includes(scope) || isAdmin(caller);
}

/**
 * Returns the time, in ms, that a request's times to come are compared with: when it first came. One that was carried out, and whose
 * answer was lost, is not refused when it is repeated after them.
 */
export const askedAt = ({ first_at }: Pick<Meta, "first_at">, now: number) => first_at ?? now;

/** `ctx.meta` of every call that an outside request caused. */
export interface Meta {
  caller: Caller;
  request_id: string;
  /** W3C trace context of the request, if it has one. */
  traceparent?: string;
  /** Set while an Idempotency-Key is honoured: ids of created resources derive from it (see lib/ids.ts). */
  idempotency_seed?: string;
  /** When the request first came under its Idempotency-Key, in ms. */
  first_at?: number;
  /** The caller's address, for limits and the audit log. */
  ip?: string;
  /** The service's origin as the caller uses it, if the operation needs it (`origin` of the contract). */
  origin?: string;
  /** The value of the cookie that the operation reads (`cookie` of the contract). */
  cookie?: string;
  /** Answer with this status instead of the operation's first one. */
  $statusCode?: number;
  /** Processor time in ms that a public operation took to refuse a credential: charged to the address. */
  $cpu_ms?: number;
  $responseType?: string;
  $responseHeaders?: Record<string, string | string[]>;
}

export type Call<P = unknown> = Context<P, Meta>;

/** A request, whatever its parameters. */
export type RequestContext = Pick<Call, "call" | "broadcast" | "meta">;

/** The handler of an action as a middleware gets it. */
// biome-ignore lint/suspicious/noExplicitAny: params are those of any action
export type Handler = (ctx: Call<any>) => Promise<unknown>;

/** Parameters that name a tenant, and an agent or a person of it. */
export interface OfTenant {
  tenant_id: string;
}

export interface OfAgent extends OfTenant {
  agent_id: string;
}

export interface OfUser extends OfTenant {
  user_id: string;
}
