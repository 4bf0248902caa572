import { Type } from "typebox";
import { SCOPES } from "../../../lib/access/caller.ts";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, SECRET, SomeText, Whole } from "../../../lib/contract/schema.ts";

/** The scopes announced to clients: `admin` is granted only if a client asks for it by name. */
export const OFFERED_SCOPES = SCOPES.filter((scope) => scope !== "admin");
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const GRANTS = ["authorization_code", "refresh_token", DEVICE_GRANT, "client_credentials"] as const;

const ORIGIN = "https://sensorium.example.com";
export const uri = (description: string, path = "") =>
  Type.String({ format: "uri", description, examples: [ORIGIN + path] });
const words = (description: string, examples: readonly string[]) =>
  Type.Array(Type.String(), { description, examples: [examples] });

const ProtectedResource = component("ProtectedResource", {
  resource: uri("The resource that tokens are for.", "/mcp"),
  authorization_servers: words("Issuers of tokens for the resource.", [ORIGIN]),
  scopes_supported: words("Scopes to ask for.", OFFERED_SCOPES),
  bearer_methods_supported: words("How a token is sent.", ["header"]),
  resource_name: Type.String({ examples: ["Sensorium"] }),
  resource_documentation: uri("The API's reference.", "/docs"),
});

const resourceMetadata = (action: string, at: string, of: string) =>
  operation({
    action,
    route: `GET /.well-known/oauth-protected-resource${at}` as `GET /${string}`,
    root: true,
    summary: `Read where ${of} gets its tokens (RFC 9728)`,
    access: { by: "public" },
    origin: true,
    oauth: "invalid_request",
    results: { 200: ProtectedResource },
  });

export const getApiResourceMetadata = resourceMetadata("oauth.api_resource", "", "a client of the API");
export const getMcpResourceMetadata = resourceMetadata("oauth.mcp_resource", "/mcp", "an MCP client");
export const getVersionedMcpResourceMetadata = resourceMetadata(
  "oauth.versioned_mcp_resource",
  "/v1/mcp",
  "an MCP client of `/v1/mcp`",
);

export const getAuthorizationServerMetadata = operation({
  action: "oauth.server",
  route: "GET /.well-known/oauth-authorization-server",
  root: true,
  summary: "Read the metadata of the authorization server (RFC 8414)",
  access: { by: "public" },
  origin: true,
  oauth: "invalid_request",
  answer: component("AuthorizationServer", {
    issuer: uri("The issuer."),
    authorization_endpoint: uri("The console's page where people approve.", "/oauth/authorize"),
    token_endpoint: uri("`POST /oauth/token`.", "/oauth/token"),
    registration_endpoint: uri("`POST /oauth/register`.", "/oauth/register"),
    revocation_endpoint: uri("`POST /oauth/revoke`.", "/oauth/revoke"),
    device_authorization_endpoint: uri("`POST /oauth/device`.", "/oauth/device"),
    jwks_uri: uri("Public keys of access tokens.", "/.well-known/jwks.json"),
    scopes_supported: words("All scopes.", SCOPES),
    response_types_supported: words("Only the code flow.", ["code"]),
    response_modes_supported: words("Only in the query.", ["query"]),
    grant_types_supported: words("Grants of the token endpoint.", GRANTS),
    code_challenge_methods_supported: words("PKCE with SHA-256 is required.", ["S256"]),
    token_endpoint_auth_methods_supported: words("Clients are public, except for client credentials.", [
      "none",
      "client_secret_basic",
      "client_secret_post",
    ]),
    revocation_endpoint_auth_methods_supported: words("Clients are public.", ["none"]),
    client_id_metadata_document_supported: Type.Boolean({ examples: [true] }),
    authorization_response_iss_parameter_supported: Type.Boolean({ examples: [true] }),
    service_documentation: uri("The API's reference.", "/docs"),
  }),
});

const LONGEST_URI = 2048;
const text = (description: string, example: string, maxLength = 2048) =>
  AnyText(maxLength, description, example);
const secret = (description: string) => Type.String({ ...SECRET, maxLength: 4096, description });
const ClientId = text("The client's id: registered, or the URL of its metadata document.", "0199c0de-7a11");
const ResourceParam = text("The resource that the token is for (RFC 8707).", `${ORIGIN}/mcp`);
const ScopeParam = text("Scopes, separated by spaces.", "memory:read memory:write");

const ClientMetadata = Type.Object(
  {
    ...optional({
      client_name: nullable(AnyText(200, "Shown to who approves.", "Editor")),
      client_uri: nullable(AnyText(LONGEST_URI, "The client's page.", ORIGIN)),
      redirect_uris: nullable(
        Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_URI }), {
          maxItems: 20,
          description:
            "https, http on loopback (any port), or the scheme of an app, such as `com.example.app`.",
          examples: [["http://127.0.0.1/callback"]],
        }),
      ),
      grant_types: nullable(words("Default: `authorization_code` and `refresh_token`.", GRANTS.slice(0, 2))),
    }),
  },
  { additionalProperties: true },
);

export const registerOauthClient = operation({
  action: "oauth.register",
  route: "POST /oauth/register",
  root: true,
  summary: "Register a client (RFC 7591)",
  description:
    "Clients are public: they have no secret, and PKCE is required. A client that nobody approves is forgotten after a " +
    "day, and one that is not used after 90 days. Registrations are limited to `DEVICE_CLAIMS_PER_HOUR` per address.",
  access: { by: "public" },
  oauth: "invalid_client_metadata",
  wholeBody: true,
  body: { metadata: ClientMetadata },
  results: {
    201: Type.Object({
      client_id: ClientId,
      client_id_issued_at: Whole({ description: "Seconds since the epoch.", examples: [1_769_851_800] }),
      client_name: Type.String({ examples: ["Editor"] }),
      client_uri: Type.Optional(Type.String({ examples: [ORIGIN] })),
      redirect_uris: Type.Array(Type.String({ examples: ["http://127.0.0.1/callback"] })),
      grant_types: words("Allowed grants.", GRANTS.slice(0, 3)),
      response_types: words("Only the code flow.", ["code"]),
      token_endpoint_auth_method: Type.Literal("none"),
    }),
  },
  errors: ["validation_error", "rate_limited"],
});

export const issueOauthToken = operation({
  action: "oauth.token",
  route: "POST /oauth/token",
  root: true,
  summary: "Get an access token of OAuth 2.1",
  description:
    "By an authorization code with PKCE, a refresh token, a device code (RFC 8628), or an agent's API key as " +
    "`client_secret`. A refresh token is valid once, for 30 days: used again, it ends the connection, except within 10 s " +
    "of its first use, in case the answer was lost: then it returns the same next refresh token.",
  access: { by: "public" },
  origin: true,
  oauth: "invalid_request",
  consumes: "form",
  body: {
    grant_type: oneOf(GRANTS, { description: "The grant." }),
    client_id: Type.Optional(ClientId),
    client_secret: Type.Optional(secret("An agent's API key, for `client_credentials`.")),
    code: Type.Optional(secret("For `authorization_code`.")),
    code_verifier: Type.Optional(secret("The verifier of PKCE.")),
    redirect_uri: Type.Optional(text("As in the authorization request.", "http://127.0.0.1:8123/callback")),
    refresh_token: Type.Optional(secret("For `refresh_token`.")),
    device_code: Type.Optional(secret("For the device grant.")),
    resource: Type.Optional(ResourceParam),
    scope: Type.Optional(ScopeParam),
  },
  answer: Type.Object({
    access_token: Type.String({ description: "A JWT (ES256).", examples: ["eyJhbGciOiJFUzI1…"] }),
    token_type: Type.Literal("Bearer"),
    expires_in: Whole({ description: "Seconds until it expires.", examples: [3600] }),
    scope: Type.String({ description: "The granted scopes.", examples: ["memory:read"] }),
    refresh_token: Type.Optional(Type.String({ description: "For the next token, once." })),
  }),
  errors: ["validation_error", "authentication_failed", "conflict", "rate_limited"],
});

export const revokeOauthToken = operation({
  action: "oauth.revoke",
  route: "POST /oauth/revoke",
  root: true,
  summary: "Disconnect a client by one of its tokens (RFC 7009)",
  description:
    "All tokens of the connection are refused within 5 seconds. Unknown tokens are answered in the same way.",
  access: { by: "public" },
  oauth: "invalid_request",
  consumes: "form",
  body: {
    token: secret("A refresh token, or an access token."),
    client_id: Type.Optional(ClientId),
  },
  answer: Type.Object({}, { description: "Nothing." }),
  errors: ["validation_error", "rate_limited"],
});

export const startDeviceAuthorization = operation({
  action: "oauth.device",
  route: "POST /oauth/device",
  root: true,
  summary: "Get a code by which a person connects a device (RFC 8628)",
  description: "The person enters the code in the console under `/connect`. It is valid for 10 minutes.",
  access: { by: "public" },
  origin: true,
  oauth: "invalid_request",
  consumes: "form",
  body: { client_id: ClientId, scope: Type.Optional(ScopeParam), resource: Type.Optional(ResourceParam) },
  answer: Type.Object({
    device_code: Type.String({ description: "The device's credential for `POST /oauth/token`." }),
    user_code: Type.String({ examples: ["BCDF-2345"] }),
    verification_uri: uri("The console's page.", "/connect"),
    verification_uri_complete: uri("The same with the code.", "/connect?code=BCDF-2345"),
    expires_in: Whole({ description: "Seconds.", examples: [600] }),
    interval: Whole({ description: "Seconds between polls.", examples: [5] }),
  }),
  errors: ["validation_error", "authentication_failed", "rate_limited"],
});

const Query = SomeText(
  8192,
  "The query of the authorization request as the client sent it, or `user_code=` and a device's code.",
  "response_type=code&client_id=0199c0de-7a11&redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcallback",
);
const Scopes = Type.Array(oneOf(SCOPES), { minItems: 1, uniqueItems: true });

export const readOauthRequest = operation({
  action: "oauth.read_request",
  route: "POST /oauth/request",
  summary: "Read what a client asks a person to approve",
  description:
    "For the console's page. An unknown client and a redirect URI that it has not registered are refused. Other " +
    "mistakes are in `refusal`, with the address that reports them to the client.",
  access: { by: "user" },
  audit: false,
  reads: true,
  origin: true,
  body: { query: Query },
  answer: component("AuthorizationRequest", {
    client: Type.Object({
      id: ClientId,
      name: Type.String({ description: "As the client calls itself.", examples: ["Editor"] }),
      uri: nullable(Type.String({ description: "Its page.", examples: [ORIGIN] })),
      host: nullable(
        Type.String({
          description:
            "The host that vouches for it; null if none does, as for every device: a client's id is no secret.",
        }),
      ),
    }),
    redirect_to: nullable(
      Type.String({
        description: "Host, or scheme of an app, that the answer goes to; null for a device.",
        examples: ["127.0.0.1"],
      }),
    ),
    redirect_kind: nullable(
      oneOf(["computer", "app", "site"], {
        description:
          "`computer`: a program on the person's computer. `app`: an app that has claimed the scheme. Null for a device.",
      }),
    ),
    user_code: nullable(
      Type.String({
        description: "A device's code, to compare with the one it shows.",
        examples: ["BCDF-2345"],
      }),
    ),
    resource: uri("What the client wants to use.", "/mcp"),
    scopes: Type.Array(oneOf(SCOPES), { description: "Requested scopes that the person may grant." }),
    refusal: nullable(
      Type.Object({
        error: Type.String({ examples: ["invalid_scope"] }),
        error_description: Type.String(),
        redirect_uri: Type.String({ description: "Reports it to the client." }),
      }),
    ),
  }),
  errors: ["validation_error", "not_found"],
});

export const decideOauthRequest = operation({
  action: "oauth.decide",
  route: "POST /oauth/decision",
  summary: "Approve or deny a client's request",
  description:
    "Approved, the client acts as the agent, with the chosen scopes. For the agent's owner and org admins. The answer " +
    "says where to send the browser; null for a device, which asks by itself.",
  access: { by: "user" },
  origin: true,
  overQuota: true,
  body: {
    query: Query,
    decision: oneOf(["approve", "deny"], { description: "The decision." }),
    agent_id: Type.Optional(Id("ag", "The agent that the client acts as. Required to approve.")),
    scopes: Type.Optional({ ...Scopes, description: "Granted scopes. Default: all that were requested." }),
  },
  answer: Type.Object({
    redirect_uri: nullable(Type.String({ description: "With the code, or the refusal, for the client." })),
  }),
  errors: ["insufficient_scope", "not_found", "conflict"],
  secret: true,
});
