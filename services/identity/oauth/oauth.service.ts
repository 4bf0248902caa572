import { type Call, SCOPES } from "../../../lib/access/caller.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, type CallOf, type ServiceFactory } from "../../runtime.ts";
import { Clients } from "./clients.ts";
import { Consent } from "./consent.ts";
import { DeviceRequests } from "./device-requests.ts";
import { Grants } from "./grants.ts";
import * as contract from "./oauth.contract.ts";
import { decideOauthRequest, GRANTS, OFFERED_SCOPES, readOauthRequest } from "./oauth.contract.ts";
import { ClientModel, DeviceModel } from "./oauth.model.ts";
import { oauthFault } from "./oauth-fault.ts";
import { resolveResource } from "./resources.ts";
import { TokenEndpoint } from "./token-endpoint.ts";

const SWEEP_MS = 5 * 60_000;

/** The authorization server: programs get tokens of an agent when a person approves (docs/decisions/0048-oauth.md). */
export const oauthService: ServiceFactory = (runtime) => {
  const { store, secrets } = runtime;
  const clients = new Clients(runtime);
  const grants = new Grants(store, secrets);
  const devices = new DeviceRequests(store, secrets);
  const consent = new Consent(clients, grants, devices);
  const tokens = new TokenEndpoint(clients, grants, devices, () => store.now());

  const expired = { by: "expires_at", now: store.now } as const;
  const sweeps = [
    new SharedLoop("clients", deletion({ rows: store.collection(ClientModel), ...expired }), SWEEP_MS),
    new SharedLoop("devices", deletion({ rows: store.collection(DeviceModel), ...expired }), SWEEP_MS),
    new SharedLoop("grants", (broker) => grants.removeOld(broker), SWEEP_MS),
  ];

  async function register(ctx: CallOf<typeof contract.registerOauthClient>) {
    await ctx.call("devices.take_try", { purpose: "client" });
    const client = await clients.register(ctx.params.metadata);
    const { _id, name, uri, redirect_uris, grant_types, created_at } = client;
    return {
      client_id: _id,
      client_id_issued_at: Math.floor(created_at.getTime() / 1000),
      client_name: name,
      ...(uri && { client_uri: uri }),
      redirect_uris,
      grant_types,
      response_types: grant_types.includes("authorization_code") ? ["code"] : [],
      token_endpoint_auth_method: "none",
    };
  }

  async function authorizeDevice(ctx: CallOf<typeof contract.startDeviceAuthorization>) {
    await ctx.call("devices.take_try", { purpose: "client" });
    const { client_id, scope = null, resource: given } = ctx.params;
    const resource = resolveResource(given, ctx.meta.origin as string);
    if (resource === null) throw oauthFault("invalid_target", "resource: it is none of this service.");
    await clients.requireDevice(client_id);
    const codes = await devices.open({ client_id, scope, resource });
    const verification_uri = `${ctx.meta.origin}/connect`;
    const verification_uri_complete = `${verification_uri}?code=${codes.user_code}`;
    return { ...codes, verification_uri, verification_uri_complete };
  }

  return {
    name: "oauth",
    mixins: sweeps.map(({ mixin }) => mixin),
    actions: {
      api_resource: action(contract.getApiResourceMetadata, (ctx) => describeResource(ctx, "")),
      mcp_resource: action(contract.getMcpResourceMetadata, (ctx) => describeResource(ctx, "/mcp")),
      versioned_mcp_resource: action(contract.getVersionedMcpResourceMetadata, (ctx) =>
        describeResource(ctx, "/v1/mcp"),
      ),
      server: action(contract.getAuthorizationServerMetadata, describeServer),
      register: action(contract.registerOauthClient, register),
      token: action(contract.issueOauthToken, (ctx) => tokens.exchange(ctx)),
      revoke: action(contract.revokeOauthToken, async (ctx) => {
        await tokens.revoke(ctx);
        return {};
      }),
      device: action(contract.startDeviceAuthorization, authorizeDevice),
      read_request: action(readOauthRequest, (ctx) => consent.show(ctx)),
      decide: action(decideOauthRequest, (ctx) => consent.decide(ctx)),
    },
  };
};

/** Describes the resource at a path of this service (RFC 9728). */
function describeResource({ meta: { origin } }: Call, path: string) {
  return {
    resource: `${origin}${path}`,
    authorization_servers: [origin],
    scopes_supported: OFFERED_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Sensorium",
    resource_documentation: `${origin}/docs`,
  };
}

/** Describes the authorization server (RFC 8414). */
function describeServer({ meta: { origin } }: Call) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    registration_endpoint: `${origin}/oauth/register`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    device_authorization_endpoint: `${origin}/oauth/device`,
    jwks_uri: `${origin}/.well-known/jwks.json`,
    scopes_supported: SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: GRANTS,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
    revocation_endpoint_auth_methods_supported: ["none"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${origin}/docs`,
  };
}
