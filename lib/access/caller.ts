import type { Context } from "moleculer";
import type { KnownDevice } from "./device-cookie.ts";

/** What a token may be good for (spec: API key). `admin` implies all others inside its tenant. */
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

interface Identity {
  tenant_id: string;
  scopes: readonly Scope[];
  /** The token's `jti`; the key's id where an API key stands in its place. */
  token_id: string;
  /** When the token or key ends, in milliseconds since the epoch; NO_END for a key without an end. */
  expires_at: number;
}

/** Later than all that is dated, and a number that JSON carries between nodes. */
export const NO_END = Date.UTC(9999, 11, 31);

/** A program, by one of its keys (spec: Authentication). */
export interface AgentCaller extends Identity {
  kind: "agent";
  agent_id: string;
  team_id: string | null;
  key_id: string;
  /** Which activation of the agent the token was issued in: one of an earlier activation is refused. */
  token_version: number;
}

/** A person, by signing in (spec: Authentication). */
export interface UserCaller extends Identity {
  kind: "user";
  user_id: string;
  role: "admin" | "member";
  /** Which password the token was made under: one of an older version is refused. */
  token_version: number;
  /** The sign-in that the token derives from: signing out ends all tokens of it. */
  session_id: string;
  /** When the password was given, in seconds since the epoch: a session is renewed up to a limit from then on. */
  auth_time?: number;
}

/** Who makes a request, as its verified token says; never from a body (spec: Authentication 3). */
export type Caller = AgentCaller | UserCaller;

/** The identity that rate limits, idempotency keys and audit rows are kept by. */
export function callerId(caller: Caller): string {
  return caller.kind === "agent" ? caller.agent_id : caller.user_id;
}

/** Whether operations for admins are open to it: an org admin, or an agent whose key has the scope. */
export function isAdmin(caller: Caller): boolean {
  return caller.scopes.includes("admin");
}

/** Whether it has a scope; `admin` implies the others. */
export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.scopes.includes(scope) || isAdmin(caller);
}

/** What travels in `ctx.meta` with every call that an outside request caused. */
export interface Meta {
  caller: Caller;
  request_id: string;
  /** W3C trace context of the request, when it carried one. */
  traceparent?: string;
  /** Set while an Idempotency-Key is honoured: ids of created resources derive from it (see lib/ids.ts). */
  idempotency_seed?: string;
  /** The caller's address, for limits and the audit log. */
  ip?: string;
  /** The browser of who signs in, if an account has signed in from it before. */
  device?: KnownDevice;
  /** Answer with this status instead of the operation's first one. */
  $statusCode?: number;
  $responseType?: string;
  $responseHeaders?: Record<string, string | string[]>;
}

/** A Moleculer context whose meta is ours. */
export type Call<P = unknown> = Context<P, Meta>;
