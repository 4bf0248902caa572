import { hasScope, SCOPES, type Scope, type UserCaller } from "../../../lib/access/caller.ts";
import { canonicalUserCode } from "../../../lib/access/user-code.ts";
import { conflict, type Fault, invalidValue, lacksScope } from "../../../lib/contract/faults.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import { account } from "../../../middlewares/audit.ts";
import type { CallOf } from "../../runtime.ts";
import { ownAgent } from "../devices/agent-access.ts";
import { approvalBy } from "../keys/approval.ts";
import { type Client, type Clients, classify, isRegistered, placeOf, requireGrant } from "./clients.ts";
import type { DeviceRequests } from "./device-requests.ts";
import type { Grants } from "./grants.ts";
import type * as contract from "./oauth.contract.ts";
import { DEVICE_GRANT, OFFERED_SCOPES } from "./oauth.contract.ts";
import type { DeviceDoc } from "./oauth.model.ts";
import type { OAuthError } from "./oauth-fault.ts";
import { resolveResource } from "./resources.ts";

type Asking = CallOf<typeof contract.readOauthRequest> | CallOf<typeof contract.decideOauthRequest>;

/** A request as a person sees it: of a client with a redirect URI, or of a device. */
type Read = { client: Client; parameters: URLSearchParams } & (
  | { device: DeviceDoc; request: Omit<AuthorizationRequest, "redirect_uri" | "code_challenge"> }
  | { redirect_uri: string; request: Omit<AuthorizationRequest, "redirect_uri"> }
  | { redirect_uri: string; refusal: Refusal }
);

/** The decision of a person about what a client asks for. */
export class Consent {
  readonly #clients: Clients;
  readonly #grants: Grants;
  readonly #devices: DeviceRequests;

  constructor(clients: Clients, grants: Grants, devices: DeviceRequests) {
    this.#clients = clients;
    this.#grants = grants;
    this.#devices = devices;
  }

  async show(ctx: CallOf<typeof contract.readOauthRequest>) {
    const read = await this.#read(ctx);
    const { id, name, uri, host } = read.client;
    const to = "redirect_uri" in read ? read.redirect_uri : null;
    return {
      // Anyone can begin on a device with a client's id: nothing there proves who asks.
      client: { id, name, uri, host: to && host },
      redirect_to: to && placeOf(to),
      redirect_kind: to && classify(to),
      user_code: "device" in read ? canonicalUserCode(read.parameters.get("user_code") as string) : null,
      resource: "request" in read ? read.request.resource : `${ctx.meta.origin}/mcp`,
      scopes: "request" in read ? read.request.scopes : [],
      refusal:
        "refusal" in read ? { ...read.refusal, redirect_uri: this.#answer(ctx, read, read.refusal) } : null,
    };
  }

  async decide(ctx: CallOf<typeof contract.decideOauthRequest>): Promise<{ redirect_uri: string | null }> {
    const read = await this.#read(ctx);
    const { client } = read;
    account(ctx, { client_id: client.id, client_name: client.name, decision: ctx.params.decision });
    if ("refusal" in read) throw invalidValue("query", `query: ${read.refusal.error_description}.`);
    if (ctx.params.decision === "deny") return this.#deny(ctx, read);
    return this.#approve(ctx, read);
  }

  async #approve(ctx: CallOf<typeof contract.decideOauthRequest>, read: Exclude<Read, { refusal: Refusal }>) {
    const { client, request } = read;
    const agent = await this.#agentOf(ctx);
    const scopes = chosenScopes(ctx, request.scopes);
    account(ctx, {
      ...{ client_id: client.id, client_name: client.name, decision: "approve" },
      ...{ agent_id: agent.id, scopes },
    });
    const isDevice = "device" in read;
    const grant = await this.#grants.open({
      ...{ tenant_id: agent.tenant_id, agent_id: agent.id, client_id: client.id, client_name: client.name },
      ...{ resource: request.resource, scopes, approval: await approvalBy(ctx, agent, scopes) },
      refreshable: client.grant_types.includes("refresh_token"),
      redirect_uri: isDevice ? null : read.redirect_uri,
      code_challenge: isDevice ? null : read.request.code_challenge,
    });
    await this.#clients.used(client.id);
    if (!isDevice) return { redirect_uri: this.#answer(ctx, read, { code: this.#grants.codeOf(grant) }) };
    if (!(await this.#devices.decide(read.device, grant))) {
      await this.#grants.withdraw(grant);
      throw decidedBefore();
    }
    return { redirect_uri: null };
  }

  async #deny(ctx: CallOf<typeof contract.decideOauthRequest>, read: Exclude<Read, { refusal: Refusal }>) {
    if ("device" in read) {
      if (!(await this.#devices.decide(read.device, null))) throw decidedBefore();
      return { redirect_uri: null };
    }
    const denied = { error: "access_denied", error_description: "The person has denied the request" };
    return { redirect_uri: this.#answer(ctx, read, denied) };
  }

  async #agentOf(ctx: CallOf<typeof contract.decideOauthRequest>) {
    const { agent_id } = ctx.params;
    if (agent_id === undefined) throw invalidValue("agent_id", "agent_id: required to approve.");
    const agent = await ownAgent(ctx, agent_id);
    if (agent.status === "active") return agent;
    throw invalidValue("agent_id", `agent_id: ${agent_id} is inactive. Activate it, or choose another.`);
  }

  async #read(ctx: Asking): Promise<Read> {
    const parameters = parseParameters(ctx.params.query);
    const caller = ctx.meta.caller as UserCaller;
    const user_code = parameters.get("user_code");
    if (user_code !== null) {
      const device = await this.#devices.find(ctx, user_code);
      const client = await this.#client(device.client_id, caller);
      requireGrant(client, DEVICE_GRANT);
      const { resource, scope } = device;
      return { client, parameters, device, request: { resource, scopes: grantableScopes(scope, caller) } };
    }
    const client = await this.#client(parameters.get("client_id") ?? "", caller);
    const redirect_uri = findRedirectUri(parameters, client);
    const request = readParameters(parameters, client, ctx.meta.origin as string, caller);
    if ("error" in request) return { client, parameters, redirect_uri, refusal: request };
    return { client, parameters, redirect_uri, request };
  }

  /** For a person an unknown client is a mistake in the address, not in who they are. */
  async #client(client_id: string, caller: UserCaller): Promise<Client> {
    return this.#clients.find(client_id, shareOf(caller)).catch((err: Fault) => {
      if (err.type !== "authentication_failed") throw err;
      throw invalidValue("client_id", err.message);
    });
  }

  #answer(
    { meta }: Asking,
    { parameters, redirect_uri }: { parameters: URLSearchParams; redirect_uri: string },
    answer: { code: string } | { error: string; error_description: string },
  ): string {
    return answerUri(redirect_uri, parameters, meta.origin as string, answer);
  }
}

/** Returns the scopes to grant. @throws Fault insufficient_scope, validation_error */
function chosenScopes(ctx: CallOf<typeof contract.decideOauthRequest>, requested: readonly Scope[]): Scope[] {
  const { scopes = requested } = ctx.params;
  const missing = scopes.find((scope) => !hasScope(ctx.meta.caller, scope));
  if (missing !== undefined)
    throw lacksScope(missing, `You can grant only scopes that you have: you lack ${missing}.`);
  const more = scopes.find((scope) => !requested.includes(scope));
  if (more !== undefined)
    throw invalidValue("scopes", `scopes: the client has not asked for ${more}.`, { value: more });
  if (scopes.length === 0) throw invalidValue("scopes", "scopes: expected at least one.");
  return [...scopes];
}

function decidedBefore(): Fault {
  return conflict("The request was already approved or denied. Start again on the device to connect it.");
}

/** A client's request. */
interface AuthorizationRequest {
  redirect_uri: string;
  code_challenge: string;
  resource: string;
  /** Requested scopes that the person may grant. */
  scopes: readonly Scope[];
}

/** A mistake reported to the client. */
interface Refusal {
  error: OAuthError | "unsupported_response_type";
  error_description: string;
}

/** S256: 43 characters of base64url (RFC 7636). */
const CHALLENGE = /^[\w-]{43}$/;

/** @throws Fault validation_error for a name that occurs twice, which programs read differently */
function parseParameters(query: string): URLSearchParams {
  const parameters = new URLSearchParams(query);
  // RFC 8707 allows several.
  const isTwice = (name: string) => name !== "resource" && parameters.getAll(name).length > 1;
  const twice = [...parameters.keys()].find(isTwice);
  if (twice === undefined) return parameters;
  throw invalidValue("query", `query: ${twice.slice(0, 100)} occurs more than once.`);
}

/**
 * Returns where the answer to a request goes.
 * @throws Fault validation_error if the client has not registered it: then there is nobody to answer
 */
function findRedirectUri(parameters: URLSearchParams, { redirect_uris }: Client): string {
  const redirect_uri = parameters.get("redirect_uri") ?? "";
  if (isRegistered(redirect_uri, redirect_uris)) return redirect_uri;
  throw invalidValue(
    "redirect_uri",
    "redirect_uri: expected one that the client has registered, exactly; only the port of a loopback address is free.",
  );
}

/** Checks everything else about a request. @param origin of this service, as the person uses it */
function readParameters(
  parameters: URLSearchParams,
  { grant_types }: Client,
  origin: string,
  caller: UserCaller,
): Omit<AuthorizationRequest, "redirect_uri"> | Refusal {
  const code_challenge = parameters.get("code_challenge") ?? "";
  const resource = resolveResource(parameters.getAll("resource").join(" "), origin);
  const scopes = grantableScopes(parameters.get("scope"), caller);
  if (parameters.get("response_type") !== "code")
    return refusal("unsupported_response_type", "response_type: expected code");
  if (!grant_types.includes("authorization_code"))
    return refusal("unauthorized_client", "grant_types: the client does not offer authorization_code");
  if (parameters.get("code_challenge_method") !== "S256" || !CHALLENGE.test(code_challenge))
    return refusal("invalid_request", "PKCE is required: code_challenge, with code_challenge_method=S256");
  if (resource === null) return refusal("invalid_target", `resource: expected ${origin}/mcp or ${origin}`);
  if (scopes.length === 0)
    return refusal("invalid_scope", "scope: the person may grant none of the requested scopes");
  return { code_challenge, resource, scopes };
}

/** Returns the requested scopes that a person may grant. Those of other services are ignored; if there are no others, all. */
function grantableScopes(scope: string | null, caller: UserCaller): Scope[] {
  const requested = scope?.split(" ").filter(Boolean) ?? [];
  const known = SCOPES.filter((each) => requested.includes(each));
  return (known.length === 0 ? OFFERED_SCOPES : known).filter((each) => hasScope(caller, each));
}

function refusal(error: Refusal["error"], error_description: string): Refusal {
  return { error, error_description };
}

/** Returns the address of an answer to the client (RFC 6749, RFC 9207); `state` is returned as it came. */
function answerUri(
  redirect_uri: string,
  parameters: URLSearchParams,
  origin: string,
  answer: Record<string, string>,
): string {
  const state = parameters.get("state");
  const all = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss: origin });
  return redirect_uri + (redirect_uri.includes("?") ? "&" : "?") + all;
}
