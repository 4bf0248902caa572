import type { Call } from "../../../lib/access/caller.ts";
import { SCOPES } from "../../../lib/access/caller.ts";
import { GRANTS, OFFERED_SCOPES } from "./oauth.contract.ts";

/** Describes the resource at a path of this service (RFC 9728). */
export function describeResource({ meta: { origin } }: Call, path: string) {
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
export function describeServer({ meta: { origin } }: Call) {
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
