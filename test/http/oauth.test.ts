import { once } from "node:events";
import { get } from "node:http";
import { json } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "@jest/globals";
import * as oauth from "oauth4webapi";
import { api } from "../support/http.ts";
import { connectMcp } from "../support/mcp.ts";
import {
  approve,
  attempt,
  connect,
  discover,
  exchange,
  HTTP,
  type OAuthClient,
  refresh,
  registered,
} from "../support/oauth.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refusal, refused, type World } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

// Sign-in of programs by OAuth 2.1, as oauth4webapi does it. The official MCP client is in oauth-mcp.test.ts.

const server = await useShared();
const world = await makeWorld(server, "acme");
const other = await makeWorld(server, "rival");
const client: OAuthClient = await registered(server);

const form = (path: string, fields: Record<string, string>) =>
  api(server).post(server.root + path, new URLSearchParams(fields).toString(), {
    "content-type": "application/x-www-form-urlencoded",
  });
/** Expects a refusal in the form of OAuth. */
async function denied(asked: Promise<{ status: number; body: unknown }>, error: string, status = 400) {
  const { status: given, body } = await asked;
  expect([given, body]).toMatchObject([status, { error, error_description: expect.any(String) }]);
}
const register = (metadata: object) => api(server).post(`${server.root}/oauth/register`, metadata);
const sessionsOf = async () => ok(await world.admin.get(`/agents/${world.agentId}/sessions`)).sessions;

test.each([
  ["/mcp", "/mcp"],
  ["/v1/mcp", "/v1/mcp"],
  ["/v1/auth/me", ""],
])("what a client discovers begins with the 401 of %s", async (path, resource) => {
  const method = path.endsWith("mcp") ? "post" : "get";
  const answer = await api(server)[method](server.root + path, {});
  const address = `${server.root}/.well-known/oauth-protected-resource${resource}`;
  expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer realm="sensorium", resource_metadata="${address}"`,
  ]);
  const metadata = ok(await api(server).get(address));
  expect(metadata).toMatchObject({ resource: server.root + resource, authorization_servers: [server.root] });
  expect(metadata.scopes_supported).not.toContain("admin");
});

test("what a client discovers names itself as the caller does on this machine, and no other host", async () => {
  const { port } = new URL(server.root);
  const at = async (host: string) => {
    const asked = get(`${server.root}/.well-known/oauth-authorization-server`, { headers: { host } });
    const [answer] = await once(asked, "response");
    return ((await json(answer)) as { issuer: string }).issuer;
  };
  expect(await at(`localhost:${port}`)).toBe(`http://localhost:${port}`);
  expect(await at("evil.example")).toBe(server.root);
});

test("what a client discovers is the metadata of the authorization server", async () =>
  expect(await discover(server)).toMatchObject({
    code_challenge_methods_supported: ["S256"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  }));

test.each([
  ["no redirect URI", { redirect_uris: [] }],
  ["a script", { redirect_uris: ["javascript:alert(1)"] }],
  ["http elsewhere", { redirect_uris: ["http://client.example/callback"] }],
  ["a fragment", { redirect_uris: ["https://client.example/#x"] }],
  ["an address of a file server", { redirect_uris: ["smb://host.example/share"] }],
  ["a command of the system", { redirect_uris: ["search-ms:query=x"] }],
  ["a user name", { redirect_uris: ["https://a@client.example/"] }],
])(
  "a registration is refused with %s",
  async (_, metadata) => await denied(register(metadata), "invalid_redirect_uri"),
);

test("a registration is refused in OAuth's form with metadata of other types", async () =>
  await denied(register({ redirect_uris: 7 }), "invalid_client_metadata"));

test("a registration makes a public client whatever it asks for", async () => {
  const asked = {
    token_endpoint_auth_method: "client_secret_post",
    redirect_uris: ["cursor://app/callback"],
  };
  const { client } = await registered(server, asked);
  expect(client).toMatchObject({ token_endpoint_auth_method: "none", client_name: "Test client" });
  expect(client.client_secret).toBeUndefined();
});

test("a registration shows people a name without characters that hide or reorder others", async () => {
  const { client } = await registered(server, { client_name: " Edi\u202etor\u200b\n\tof  x\u0000 " });
  expect(client.client_name).toBe("Editor of x");
  const unnamed = await registered(server, { client_name: "\u200b\u2060" });
  expect(unnamed.client.client_name).toBe("Unnamed client");
});

describe("a request", () => {
  const read = async (parameters: Record<string, string | undefined>, person = world.admin) =>
    person.post("/oauth/request", { query: (await attempt(client, parameters)).query });

  test("shows a person who asks, for what, and where the answer goes", async () =>
    expect(ok(await read({}))).toEqual({
      client: { id: client.client.client_id, name: "Test client", uri: null, host: null },
      ...{ redirect_to: "127.0.0.1:43117", redirect_kind: "computer", user_code: null },
      ...{ resource: `${server.root}/mcp`, scopes: ["memory:read", "memory:write"], refusal: null },
    }));

  test.each([
    ["an unknown client", { client_id: "0199c0de" }, "client_id"],
    ["a redirect URI of nobody", { redirect_uri: "https://evil.example/callback" }, "redirect_uri"],
    ["a longer path", { redirect_uri: "http://127.0.0.1:43117/callback/x" }, "redirect_uri"],
    ["a user before the host", { redirect_uri: "http://127.0.0.1:80@evil.example/callback" }, "redirect_uri"],
    ["another name of this machine", { redirect_uri: "http://localhost/callback" }, "redirect_uri"],
    ["no redirect URI", { redirect_uri: undefined }, "redirect_uri"],
  ])("with %s leads nowhere", async (_, parameters, field) =>
    expect(await read(parameters)).toMatchObject(refusal(400, "validation_error", { field })),
  );

  test.each([
    ["no PKCE", { code_challenge: undefined }, "invalid_request"],
    ["plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["another flow", { response_type: "token" }, "unsupported_response_type"],
    ["another resource", { resource: "https://elsewhere.example/mcp" }, "invalid_target"],
  ])("with %s is reported to the client, once the person wants it", async (_, parameters, error) => {
    const { refusal: refused } = ok(await read({ state: "a b&c=d", ...parameters }));
    const address = new URL(refused.redirect_uri);
    expect(address.origin + address.pathname).toBe("http://127.0.0.1:43117/callback");
    expect(Object.fromEntries(address.searchParams)).toEqual({
      ...{ error, error_description: refused.error_description, state: "a b&c=d", iss: server.root },
    });
    const { query } = await attempt(client, parameters);
    const decision = { query, decision: "approve", agent_id: world.agentId };
    expect(await world.admin.post("/oauth/decision", decision)).toMatchObject(
      refusal(400, "validation_error"),
    );
  });

  test("for scopes of other services alone offers what is offered without any", async () => {
    const { scopes } = ok(await read({ scope: "photos openid offline_access" }));
    expect(scopes).toEqual(ok(await read({ scope: undefined })).scopes);
    expect(scopes).not.toContain("admin");
  });

  test("for two resources is reported to the client, and for one in two spellings is served", async () => {
    const { query } = await attempt(client);
    const twice = (resource: string) => ({ query: `${query}&resource=${encodeURIComponent(resource)}` });
    const also = async (resource: string) => ok(await world.admin.post("/oauth/request", twice(resource)));
    expect((await also(server.root)).refusal).toMatchObject({ error: "invalid_target" });
    expect((await also(`${server.root}/mcp/?tools=all`)).resource).toBe(`${server.root}/mcp`);
  });

  test("shows an app by its scheme, which is no program on this computer by that", async () => {
    const redirect_uri = "com.example.notes:/callback";
    const app = await registered(server, { redirect_uris: [redirect_uri] });
    const { query } = await attempt(app, { redirect_uri });
    expect(ok(await world.admin.post("/oauth/request", { query }))).toMatchObject({
      redirect_to: "com.example.notes:",
      redirect_kind: "app",
    });
  });

  test("that says something twice is refused", async () => {
    const { query } = await attempt(client);
    const twice = { query: `${query}&redirect_uri=https%3A%2F%2Fevil.example` };
    expect(await world.admin.post("/oauth/request", twice)).toMatchObject(refusal(400, "validation_error"));
  });

  test("is nothing for agents", async () =>
    expect(await read({}, world.agent)).toMatchObject(refusal(403, "forbidden")));

  test("for admin is granted by admins alone", async () => {
    expect(ok(await read({ scope: "admin send" })).scopes).toEqual(["send", "admin"]);
    expect(ok(await read({ scope: "admin send" }, world.member)).scopes).toEqual(["send"]);
  });

  test("is approved for an own agent alone, and with requested scopes alone", async () => {
    const { query } = await attempt(client);
    const decide = (person: World["admin"], agent_id: string, more: object = {}) =>
      person.post("/oauth/decision", { query, decision: "approve", agent_id, ...more });
    expect(await decide(world.admin, other.agentId)).toMatchObject(refusal(404, "not_found"));
    expect(await decide(world.member, world.agentId)).toMatchObject(refusal(403, "insufficient_scope"));
    const more = { scopes: ["memory:read", "send"] };
    expect(await decide(world.admin, world.agentId, more)).toMatchObject(refusal(400, "validation_error"));
  });

  test("that is denied tells the client so", async () => {
    const asked = await attempt(client);
    const denied = ok(await world.admin.post("/oauth/decision", { query: asked.query, decision: "deny" }));
    expect(() =>
      oauth.validateAuthResponse(client.as, client.client, new URL(denied.redirect_uri), asked.state),
    ).toThrow(expect.objectContaining({ error: "access_denied" }));
  });
});

describe("an approved client", () => {
  test("acts as the agent over MCP, with the chosen scopes, and is listed and audited", async () => {
    const asked = await attempt(client, { scope: "memory:read memory:write send" });
    const answer = await approve(world.admin, asked.query, world.agentId, {
      scopes: ["memory:read", "memory:write"],
    });
    expect(answer.origin + answer.pathname).toBe("http://127.0.0.1:43117/callback");
    const tokens = await exchange(client, answer, asked, `${server.root}/mcp`);
    expect(tokens).toMatchObject({ token_type: "bearer", scope: "memory:read memory:write" });
    await using mcp = await connectMcp(server, tokens.access_token);
    expect((await mcp.call("auth_me")).agent.id).toBe(world.agentId);
    expect(await mcp.names()).not.toContain("events_publish");
    const [session] = await sessionsOf();
    expect(session).toMatchObject({ client_name: "Test client", oauth_client_id: client.client.client_id });
    const { entries } = ok(await world.admin.get("/audit?action=oauth.decide&outcome=done"));
    expect(entries[0]).toMatchObject({
      actor_kind: "user",
      details: { client_name: "Test client", decision: "approve", scopes: ["memory:read", "memory:write"] },
    });
    expect(JSON.stringify(entries)).not.toContain(answer.searchParams.get("code") as string);
  });

  test("uses a token only for what it is for", async () => {
    const forMcp = await connect(client, world.admin, world.agentId);
    await refused(api(server, forMcp.access_token).get("/auth/me"), "authentication_failed");
    const forAll = await connect(client, world.admin, world.agentId, { resource: server.root });
    expect(ok(await api(server, forAll.access_token).get("/auth/me")).agent.id).toBe(world.agentId);
    const [, claims = ""] = forAll.access_token.split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString()).aud).toBe(server.root);
  });

  test("is refused within 5 seconds once it is disconnected, and cannot refresh", async () => {
    const tokens = await connect(client, world.admin, world.agentId, { resource: server.root });
    const own = api(server, tokens.access_token);
    ok(await own.get("/auth/me"));
    const [{ session_id }] = await sessionsOf();
    ok(await world.admin.del(`/agents/${world.agentId}/sessions/${session_id}`));
    await settle(async () => (await own.get("/auth/me")).status === 401);
    await expect(refresh(client, tokens.refresh_token as string)).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });

  test("disconnects itself by either token, and unknown ones are no error", async () => {
    for (const kind of ["access_token", "refresh_token"] as const) {
      const tokens = await connect(client, world.admin, world.agentId, { resource: server.root });
      const before = (await sessionsOf()).length;
      const token = tokens[kind] as string;
      const answer = await oauth.revocationRequest(client.as, client.client, oauth.None(), token, HTTP);
      await oauth.processRevocationResponse(answer);
      expect(await sessionsOf()).toHaveLength(before - 1);
      await settle(async () => (await api(server, tokens.access_token).get("/auth/me")).status === 401);
    }
    expect((await form("/oauth/revoke", { token: "nonsense" })).status).toBe(200);
    // An agent's own token is not a client's.
    const { api_key } = server.credentials.agent;
    const { access_token } = ok(await api(server).post("/auth/token", { api_key }));
    expect((await form("/oauth/revoke", { token: access_token })).status).toBe(200);
    ok(await api(server, access_token).get("/auth/me"));
  });

  test("refreshes, and a token used again ends the connection", async () => {
    const first = await connect(client, world.admin, world.agentId, { resource: server.root });
    const second = await refresh(client, first.refresh_token as string);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const own = api(server, second.access_token);
    ok(await own.get("/auth/me"));
    const before = (await sessionsOf()).length;
    // Its answer can be lost: for some seconds it returns the same successor.
    const retried = await refresh(client, first.refresh_token as string);
    expect(retried.refresh_token).toBe(second.refresh_token);
    const third = await refresh(client, second.refresh_token as string);
    for (const { refresh_token } of [first, third])
      await expect(refresh(client, refresh_token as string)).rejects.toMatchObject({
        error: "invalid_grant",
      });
    await settle(async () => (await own.get("/auth/me")).status === 401);
    expect(await sessionsOf()).toHaveLength(before - 1);
    expect(ok(await world.admin.get("/audit?action=oauth.reuse")).entries).toHaveLength(1);
  });

  test("gets the same next token from many refreshes at once", async () => {
    const { refresh_token } = await connect(client, world.admin, world.agentId);
    const all = await Promise.all([1, 2, 3, 4].map(() => refresh(client, refresh_token as string)));
    expect(new Set(all.map((each) => each.refresh_token)).size).toBe(1);
  });

  test("refreshes for less than it was granted, and not for more", async () => {
    const wanted = { scope: "memory:read memory:write", resource: server.root };
    const { refresh_token = "" } = await connect(client, world.admin, world.agentId, wanted);
    const fields = { grant_type: "refresh_token", client_id: client.client.client_id, refresh_token };
    await denied(form("/oauth/token", { ...fields, scope: "send" }), "invalid_scope");
    const less = ok(await form("/oauth/token", { ...fields, scope: "memory:read" }));
    expect(less.scope).toBe("memory:read");
    expect(ok(await api(server, less.access_token).get("/auth/me")).scopes).toEqual(["memory:read"]);
    const again = await refresh(client, less.refresh_token);
    expect(again.scope).toBe("memory:read memory:write");
  });

  test("of an agent that is deactivated gets no more tokens", async () => {
    const { id } = ok(await world.admin.post("/agents", { name: "short-lived", delivery_mode: "poll" }));
    const { refresh_token } = await connect(client, world.admin, id);
    ok(await world.admin.patch(`/agents/${id}/status`, { status: "inactive" }));
    await expect(refresh(client, refresh_token as string)).rejects.toMatchObject({ error: "invalid_grant" });
    const decision = { query: (await attempt(client)).query, decision: "approve", agent_id: id };
    await refused(world.admin.post("/oauth/decision", decision), "validation_error", "agent_id");
  });
});

async function issued() {
  const asked = await attempt(client);
  const answer = await approve(world.admin, asked.query, world.agentId);
  return {
    grant_type: "authorization_code",
    code: answer.searchParams.get("code") as string,
    code_verifier: asked.verifier,
    redirect_uri: asked.redirect_uri,
    client_id: client.client.client_id,
  };
}

test.each([
  ["another verifier", { code_verifier: "x".repeat(43) }, "invalid_grant"],
  ["another redirect URI", { redirect_uri: "http://127.0.0.1:1/callback" }, "invalid_grant"],
  ["another resource", { resource: "https://elsewhere.example" }, "invalid_target"],
  ["another grant", { grant_type: "password" }, "unsupported_grant_type"],
])("a code with %s is refused, and stays good", async (_, wrong, error) => {
  const fields = await issued();
  await denied(form("/oauth/token", { ...fields, ...wrong }), error);
  expect((await form("/oauth/token", fields)).status).toBe(200);
});

test("a code is refused to another client, and without what is needed", async () => {
  const fields = await issued();
  const another = await registered(server);
  const stolen = { ...fields, client_id: another.client.client_id };
  await denied(form("/oauth/token", stolen), "invalid_grant");
  const { code_verifier: _, ...bare } = fields;
  await denied(form("/oauth/token", bare), "invalid_grant");
  await denied(form("/oauth/token", { grant_type: "authorization_code" }), "invalid_request");
  await denied(form("/oauth/token", { ...fields, code: `${fields.code}x` }), "invalid_grant");
});

test("a code counts once: used again, it ends what it began", async () => {
  const fields = await issued();
  const { access_token, refresh_token } = ok(await form("/oauth/token", fields));
  await using mcp = await connectMcp(server, access_token);
  await denied(form("/oauth/token", fields), "invalid_grant");
  await expect(refresh(client, refresh_token)).rejects.toMatchObject({ error: "invalid_grant" });
  await settle(() =>
    mcp.call("auth_me").then(
      () => false,
      () => true,
    ),
  );
});

test("a code gives at most one of many exchanges at once", async () => {
  const fields = await issued();
  const before = (await sessionsOf()).length;
  const answers = await Promise.all([1, 2, 3, 4].map(() => form("/oauth/token", fields)));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  expect(await sessionsOf()).toHaveLength(before);
});

test("an agent's key is a client's secret at the same endpoint", async () => {
  const { key } = ok(await world.admin.post(`/agents/${world.agentId}/keys`, { scopes: ["send"] }));
  const as = await discover(server);
  const own = { client_id: "any" };
  for (const authentication of [oauth.ClientSecretBasic(key), oauth.ClientSecretPost(key)]) {
    const answer = await oauth.clientCredentialsGrantRequest(as, own, authentication, {}, HTTP);
    expect(await oauth.processClientCredentialsResponse(as, own, answer)).toMatchObject({ scope: "send" });
  }
  for (const client_id of [client.client.client_id, "https://client.example/app"])
    await denied(
      form("/oauth/token", { grant_type: "client_credentials", client_id, client_secret: key }),
      "unauthorized_client",
    );
  const wrong = { grant_type: "client_credentials", client_secret: "nonsense" };
  await denied(form("/oauth/token", wrong), "invalid_client", 401);
});

describe("a device", () => {
  const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
  let client: OAuthClient;
  beforeAll(async () => {
    client = await registered(server, { grant_types: [DEVICE, "refresh_token"], redirect_uris: [] });
  });
  const begin = async () => {
    const { as, client: own } = client;
    const wanted = { scope: "memory:read", resource: server.root };
    const answer = await oauth.deviceAuthorizationRequest(as, own, oauth.None(), wanted, HTTP);
    return oauth.processDeviceAuthorizationResponse(as, own, answer);
  };
  const poll = async (device_code: string) => {
    const { as, client: own } = client;
    const answer = await oauth.deviceCodeGrantRequest(as, own, oauth.None(), device_code, HTTP);
    return oauth.processDeviceCodeResponse(as, own, answer);
  };

  test("gets its token when a person approves its code, once", async () => {
    const { device_code, user_code, verification_uri, verification_uri_complete } = await begin();
    const page = `${server.root}/connect`;
    expect([verification_uri, verification_uri_complete]).toEqual([page, `${page}?code=${user_code}`]);
    await expect(poll(device_code)).rejects.toMatchObject({ error: "authorization_pending" });
    await expect(poll(device_code)).rejects.toMatchObject({ error: "slow_down" });
    const query = `user_code=${user_code.toLowerCase().replace("-", "")}`;
    expect(ok(await world.admin.post("/oauth/request", { query }))).toMatchObject({
      ...{ client: { name: "Test client" }, redirect_to: null, redirect_kind: null, user_code },
      scopes: ["memory:read"],
    });
    const decision = { query, decision: "approve", agent_id: world.agentId };
    expect(ok(await world.admin.post("/oauth/decision", decision))).toEqual({ redirect_uri: null });
    await refused(world.admin.post("/oauth/decision", decision), "not_found");
    const tokens = await poll(device_code);
    expect(ok(await api(server, tokens.access_token).get("/auth/me")).agent.id).toBe(world.agentId);
    await refresh(client, tokens.refresh_token as string);
    await expect(poll(device_code)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("is told that a person has denied it", async () => {
    const { device_code, user_code } = await begin();
    ok(await world.admin.post("/oauth/decision", { query: `user_code=${user_code}`, decision: "deny" }));
    await expect(poll(device_code)).rejects.toMatchObject({ error: "access_denied" });
  });

  test("needs a client that offers devices, and refresh tokens one that offers them", async () => {
    const browser = await registered(server);
    const { client_id } = browser.client;
    await denied(form("/oauth/device", { client_id }), "unauthorized_client");
    const once = await registered(server, { grant_types: ["authorization_code"] });
    expect((await connect(once, world.admin, world.agentId)).refresh_token).toBeUndefined();
    const other = { grant_types: ["implicit"], redirect_uris: ["https://client.example/"] };
    await denied(register(other), "invalid_client_metadata");
  });

  test("with an unknown code or client is refused", async () => {
    await expect(poll("nonsense")).rejects.toMatchObject({ error: "invalid_grant" });
    await denied(form("/oauth/device", { client_id: "nobody" }), "invalid_client", 401);
    const { user_code: _, device_code } = await begin();
    const another = await registered(server);
    const stolen = { grant_type: DEVICE, device_code };
    await denied(form("/oauth/token", { ...stolen, client_id: another.client.client_id }), "invalid_grant");
  });
});
