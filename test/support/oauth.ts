import * as oauth from "oauth4webapi";
import type { Api } from "./http.ts";
import type { TestServer } from "./server.ts";
import { ok } from "./tenancy.ts";

/** oauth4webapi wants https, except for a server on this machine. */
export const HTTP = { [oauth.allowInsecureRequests]: true } as const;
export const CALLBACK = "http://127.0.0.1/callback";

/** A client of OAuth as `oauth4webapi` makes it, with a server that it has discovered. */
export type OAuthClient = { as: oauth.AuthorizationServer; client: oauth.Client };

export async function discover({ root }: Pick<TestServer, "root">): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(root);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...HTTP });
  return oauth.processDiscoveryResponse(issuer, answer);
}

export async function registered(
  server: Pick<TestServer, "root">,
  metadata: Partial<oauth.OmitSymbolProperties<oauth.Client>> = {},
): Promise<OAuthClient> {
  const as = await discover(server);
  const wanted = { client_name: "Test client", redirect_uris: [CALLBACK], ...metadata };
  const answer = await oauth.dynamicClientRegistrationRequest(as, wanted as never, HTTP);
  return { as, client: await oauth.processDynamicClientRegistrationResponse(answer) };
}

/** An authorization request, and what its answer is checked with. */
export type Attempt = { query: string; verifier: string; state: string; redirect_uri: string };

/** Builds the query that a client sends a browser with; undefined leaves a parameter out. */
export async function attempt(
  { as, client }: OAuthClient,
  parameters: Record<string, string | undefined> = {},
): Promise<Attempt> {
  const verifier = oauth.generateRandomCodeVerifier();
  const all = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: "http://127.0.0.1:43117/callback",
    state: oauth.generateRandomState(),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: `${as.issuer}/mcp`,
    scope: "memory:read memory:write",
    ...parameters,
  };
  const given = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return { query, verifier, state: all.state as string, redirect_uri: all.redirect_uri as string };
}

/** Approves as a person does, and returns the address that their browser is sent to. */
export async function approve(
  person: Api,
  query: string,
  agent_id: string,
  more: { scopes?: string[] } = {},
): Promise<URL> {
  const decision = { query, decision: "approve", agent_id, ...more };
  return new URL(ok(await person.post("/oauth/decision", decision)).redirect_uri);
}

/** Exchanges the code of an answer. */
export async function exchange(
  { as, client }: OAuthClient,
  answer: URL,
  { verifier, state, redirect_uri }: Attempt,
  resource?: string,
): Promise<oauth.TokenEndpointResponse> {
  const checked = oauth.validateAuthResponse(as, client, answer, state);
  const more = { ...HTTP, ...(resource && { additionalParameters: { resource } }) };
  const grant = [as, client, oauth.None(), checked, redirect_uri, verifier, more] as const;
  return oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(...grant),
  );
}

export async function refresh(
  { as, client }: OAuthClient,
  token: string,
): Promise<oauth.TokenEndpointResponse> {
  const answer = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), token, HTTP);
  return oauth.processRefreshTokenResponse(as, client, answer);
}

/** Connects a client to an agent, from the request to its first token. */
export async function connect(
  client: OAuthClient,
  person: Api,
  agent_id: string,
  parameters: Record<string, string | undefined> = {},
): Promise<oauth.TokenEndpointResponse> {
  const asked = await attempt(client, parameters);
  return exchange(client, await approve(person, asked.query, agent_id), asked);
}
