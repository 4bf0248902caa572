import { createHash, timingSafeEqual } from "node:crypto";
import { API_KEY_PATTERN } from "../../../lib/access/api-key.ts";
import { type Call, type Caller, SCOPES, type Scope } from "../../../lib/access/caller.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import type { CallOf } from "../../runtime.ts";
import { isValidKey } from "../keys/approval.ts";
import type { Clients } from "./clients.ts";
import type { DeviceRequests } from "./device-requests.ts";
import type { Grants } from "./grants.ts";
import { DEVICE_GRANT, type issueOauthToken, type revokeOauthToken } from "./oauth.contract.ts";
import type { GrantDoc } from "./oauth.model.ts";
import { oauthFault } from "./oauth-fault.ts";
import { canonical } from "./resources.ts";

type Exchange = CallOf<typeof issueOauthToken>;

interface Answer extends Issued {
  token_type: string;
  scope: string;
  refresh_token?: string;
}

interface Issued {
  access_token: string;
  expires_in: number;
}

const IS_KEY = new RegExp(API_KEY_PATTERN);
const SPENT = "The code or token was used before. The connection has ended; ask the person again.";

const OVER =
  "refresh_token: it has expired, or the connection or its approval has ended. Ask the person again.";

/** Exchanges what a person has granted for tokens, and ends it. */
export class TokenEndpoint {
  readonly #clients: Clients;
  readonly #grants: Grants;
  readonly #devices: DeviceRequests;
  readonly #now: () => number;

  constructor(clients: Clients, grants: Grants, devices: DeviceRequests, now: () => number) {
    this.#clients = clients;
    this.#grants = grants;
    this.#devices = devices;
    this.#now = now;
  }

  exchange(ctx: Exchange) {
    switch (ctx.params.grant_type) {
      case "authorization_code":
        return this.#byCode(ctx);
      case "refresh_token":
        return this.#byRefreshToken(ctx);
      case DEVICE_GRANT:
        return this.#byDeviceCode(ctx);
      case "client_credentials":
        return this.#byKey(ctx);
    }
  }

  /** Ends the connection that a token belongs to. Unknown tokens are no error (RFC 7009). */
  async revoke(ctx: CallOf<typeof revokeOauthToken>): Promise<void> {
    const { token, client_id } = ctx.params;
    const refreshed = await this.#grants.byRefreshToken(token);
    const grant = refreshed?.grant ?? (await this.#ofAccessToken(ctx, token));
    if (grant?.state !== "active") return;
    if (client_id !== undefined && client_id !== grant.client_id) return;
    await this.#end(ctx, grant, "oauth.revoke");
  }

  async #byCode(ctx: Exchange) {
    const { redirect_uri, code_verifier } = ctx.params;
    const grant = await this.#grants.byCode(required(ctx, "code"));
    if (grant?.redirect_uri == null) throw oauthFault("invalid_grant", "code: it was never issued.");
    requireClient(ctx, grant);
    if (grant.state !== "approved") return this.#spent(ctx, grant);
    if (redirect_uri !== undefined && redirect_uri !== grant.redirect_uri)
      throw oauthFault("invalid_grant", "redirect_uri: expected that of the authorization request.");
    if (!fitsChallenge(code_verifier ?? "", grant.code_challenge ?? ""))
      throw oauthFault("invalid_grant", "code_verifier: it does not fit the code_challenge.");
    return this.#connect(ctx, grant);
  }

  async #byDeviceCode(ctx: Exchange) {
    const device_code = required(ctx, "device_code");
    const place = await this.#devices.poll(device_code, required(ctx, "client_id"));
    const grant = await this.#grants.find(place);
    if (!grant) throw oauthFault("expired_token", "The device code has expired. Get a new one.");
    if (grant.state !== "approved") return this.#spent(ctx, grant);
    return this.#connect(ctx, grant);
  }

  async #byRefreshToken(ctx: Exchange): Promise<Answer> {
    const refresh = await this.#grants.byRefreshToken(required(ctx, "refresh_token"));
    if (!refresh) throw oauthFault("invalid_grant", "refresh_token: it was never issued.");
    const { grant, isValid, isRetry } = refresh;
    requireClient(ctx, grant);
    if (!isValid && !isRetry) return this.#spent(ctx, grant);
    requireResource(ctx, grant);
    const scopes = chosenScopes(ctx, grant.scopes);
    const { key_id } = grant;
    if (
      grant.state !== "active" ||
      key_id === null ||
      this.#isOver(grant) ||
      !(await isValidKey(ctx, key_id))
    )
      throw oauthFault("invalid_grant", OVER);
    const issued = await this.#issue(ctx, { ...grant, scopes }, key_id);
    const rotated = isRetry ? grant : await this.#grants.rotate(grant);
    // Another request with the same token was first: now this one is a retry of it.
    if (!rotated) return this.#byRefreshToken(ctx);
    const { tenant_id, session_id } = grant;
    await ctx.call("sessions.seen", { tenant_id, session_id });
    await this.#clients.used(grant.client_id);
    return this.#answer(rotated, issued, scopes);
  }

  /** An agent's key as the client's secret, as in `POST /auth/token`. */
  async #byKey(ctx: Exchange) {
    const { client_secret: api_key = "", client_id, scope, resource } = ctx.params;
    if (client_id !== undefined && (await this.#clients.isPublic(client_id)))
      throw oauthFault(
        "unauthorized_client",
        `The client ${client_id} is public: client_credentials is not.`,
      );
    if (!IS_KEY.test(api_key))
      throw oauthFault("invalid_client", "client_secret: expected an API key, in the form or by HTTP Basic.");
    const params = { api_key, ...(scope && { scope }), ...(resource && { resource }) };
    const issued = await ctx.call<Issued & { scope: string }, object>("auth.token", params);
    const { access_token, expires_in, scope: granted } = issued;
    return { access_token, token_type: "Bearer", expires_in, scope: granted };
  }

  /**
   * The first exchange of a grant. Key and session are the same for each try, so that a crash on the way leaves no
   * others, and they exist before the grant is active, so that ending it finds them.
   */
  async #connect(ctx: Exchange, grant: GrantDoc) {
    requireResource(ctx, grant);
    if (this.#isOver(grant)) throw oauthFault("invalid_grant", "The code has expired. Ask the person again.");
    const { tenant_id, agent_id, client_id, client_name, session_id, scopes, approval } = grant;
    const key = { tenant_id, agent_id, name: client_name, scopes, approval, seed: `oauth ${grant._id}` };
    const { key_id } = await ctx.call<{ key_id: string }, object>("keys.issue", key);
    if (!(await isValidKey(ctx, key_id))) throw oauthFault("invalid_grant", "The approval has ended.");
    const issued = await this.#issue(ctx, grant, key_id);
    const connection = { tenant_id, agent_id, session_id, key_id, client_name, client_id, scopes };
    const session = { ...connection, approved_by: approval.user_id };
    await ctx.call("sessions.open", session);
    const active = await this.#grants.activate(grant, key_id);
    if (!active) return this.#spent(ctx, grant);
    return this.#answer(active, issued, scopes);
  }

  #issue(ctx: Call, { tenant_id, agent_id, scopes, resource }: GrantDoc, key_id: string): Promise<Issued> {
    const subject = { tenant_id, agent_id, key_id, scopes, resource };
    return ctx.call<Issued, object>("auth.issue", subject).catch((err: unknown) => {
      if (!isFault(err) || err.type !== "authentication_failed") throw err;
      throw oauthFault("invalid_grant", "The agent is not active. Ask its owner.");
    });
  }

  /** A code or token that comes a second time may be in the wrong hands: nobody keeps the connection. */
  async #spent(ctx: Call, grant: GrantDoc): Promise<never> {
    const current = (await this.#grants.find(grant)) ?? grant;
    if (current.state === "ended") await this.#grants.end(ctx, current);
    else await this.#end(ctx, current, "oauth.reuse");
    throw oauthFault("invalid_grant", SPENT);
  }

  async #end(ctx: Call, grant: GrantDoc, action: string): Promise<void> {
    const { tenant_id, agent_id, client_id, client_name } = grant;
    await this.#grants.end(ctx, grant);
    const of = { resource_type: "agent", resource_id: agent_id, actor_kind: "agent", actor_id: agent_id };
    await ctx.call("audit.record", { tenant_id, action, ...of, details: { client_id, client_name } });
  }

  async #ofAccessToken(ctx: Call, token: string): Promise<GrantDoc | null> {
    const [verified] = await ctx.call<{ caller?: Caller }[], object>("auth.verify_all", {
      tokens: [token],
    });
    const caller = verified?.caller;
    return caller?.kind === "agent" ? this.#grants.ofKey(caller.tenant_id, caller.key_id) : null;
  }

  #isOver({ expires_at }: GrantDoc): boolean {
    return expires_at.getTime() <= this.#now();
  }

  #answer(grant: GrantDoc, { access_token, expires_in }: Issued, scopes: readonly Scope[]): Answer {
    const refresh = grant.refreshable && { refresh_token: this.#grants.refreshTokenOf(grant) };
    return { access_token, token_type: "Bearer", expires_in, scope: scopes.join(" "), ...refresh };
  }
}

function required(ctx: Exchange, field: "code" | "device_code" | "refresh_token" | "client_id"): string {
  const value = ctx.params[field];
  if (value) return value;
  throw oauthFault("invalid_request", `${field}: required for ${ctx.params.grant_type}.`);
}

function requireClient(ctx: Exchange, { client_id }: GrantDoc): void {
  if (required(ctx, "client_id") === client_id) return;
  throw oauthFault("invalid_grant", "client_id: the code or token was issued to another client.");
}

function requireResource({ params }: Exchange, { resource }: GrantDoc): void {
  const resources = params.resource?.split(/ +/).map(canonical) ?? [];
  if (resources.every((each) => each === resource)) return;
  throw oauthFault("invalid_target", `resource: the person has granted ${resource}.`);
}

/** Returns the granted scopes that a request asks for; by default, or asked for those of other services alone, all. */
function chosenScopes({ params }: Exchange, granted: Scope[]): Scope[] {
  const wanted = params.scope?.split(" ") ?? [];
  const known = SCOPES.filter((scope) => wanted.includes(scope));
  if (known.length === 0) return granted;
  if (known.every((scope) => granted.includes(scope) || granted.includes("admin"))) return known;
  throw oauthFault("invalid_scope", `scope: the person has granted ${granted.join(" ")}.`);
}

function fitsChallenge(verifier: string, challenge: string): boolean {
  const hash = Buffer.from(createHash("sha256").update(verifier).digest("base64url"));
  const wanted = Buffer.from(challenge);
  return hash.length === wanted.length && timingSafeEqual(hash, wanted);
}
