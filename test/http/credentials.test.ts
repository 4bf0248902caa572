import { beforeAll, describe, expect, test } from "@jest/globals";
import { hashApiKey } from "../../lib/access/api-key.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { connect, type OAuthClient, registered } from "../support/oauth.ts";
import { startServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const UNKNOWN_KEY = `ak_live_${"x".repeat(32)}`;
/** Tries of an account. */
const LIMIT = 3;
/** Wrong credentials of a kind from an address: more than the tries above it. */
const FAILURES = 9;
const ENV = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "500", EMBEDDER: "none", LOG_LEVEL: "debug" };
const METRICS_TOKEN = "a-metrics-token-of-32-characters";
const from = (address: string) => ({ "x-forwarded-for": address });
const locked = refusal(429, "rate_limited", { limit: LIMIT, window_seconds: 60 });

const server = await useServer({
  env: {
    ...{ ...ENV, METRICS_TOKEN, TRUST_PROXY: "127.0.0.1" },
    LOGIN_ATTEMPTS_PER_MINUTE: String(LIMIT),
    PUBLIC_FAILURES_PER_MINUTE: String(FAILURES),
  },
});
const outside = api(server);
const world = await makeWorld(server, "acme");

describe("failed logins", () => {
  const login = (password: string, headers: Record<string, string>, path = "/auth/login") =>
    outside.post(path, { email: server.credentials.admin.email.toUpperCase(), password }, headers);
  const hammer = async (headers: Record<string, string>) => {
    for (let i = 0; i < LIMIT; i++) expect((await login("wrong", headers)).status).toBe(401);
    expect(await login("wrong", headers)).toMatchObject(locked);
  };

  test("lock the account where they come from, neither the person nor others there", async () => {
    const { email, password } = server.credentials.admin;
    for (const i of [1, 2, 3]) await hammer(from(`203.0.113.${i}`));
    expect(await login(password, from("203.0.113.1"))).toMatchObject(locked);
    expect((await login(password, from("203.0.113.4"))).status).toBe(200);
    const admin = api(server, ok(await outside.post("/auth/login", { email, password })).access_token);
    const other = ok(await admin.post("/users", { email: "other@guessing.example" }));
    const there = { email: other.email, password: other.password };
    expect((await outside.post("/auth/login", there, from("203.0.113.1"))).status).toBe(200);
  });

  test("count by the network of an IPv6 address, as that is one caller's", async () => {
    for (const i of [1, 2, 3]) expect((await login("wrong", from(`2001:db8:0:7::${i}`))).status).toBe(401);
    expect(await login("wrong", from("2001:db8:0:7:ffff:1:2:3"))).toMatchObject(locked);
    expect((await login("wrong", from("2001:db8:0:8::1"))).status).toBe(401);
    expect((await login("wrong", from("::ffff:198.51.100.1"))).status).toBe(401);
  });

  test("of others behind an address do not lock a browser that has signed in there before", async () => {
    const { password } = server.credentials.admin;
    const office = from("198.51.100.7");
    const first = await login(password, office, "/auth/session");
    expect(first.status).toBe(200);
    const [, device] = first.headers.getSetCookie();
    expect(device).toMatch(/^sensorium_device=[\w.-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    const known = { ...office, cookie: device?.split(";")[0] as string };
    await hammer(office);
    expect(await login(password, office, "/auth/session")).toMatchObject(locked);
    expect((await login(password, known, "/auth/session")).status).toBe(200);
    await hammer(known);
    expect(await login(password, known)).toMatchObject(locked);
  });

  test("the mark of a browser counts for its own account only, and cannot be made up", async () => {
    const address = from("198.51.100.8");
    const { email, password } = server.credentials.admin;
    const { headers } = await outside.post("/auth/session", { email, password }, address);
    const cookie = headers.getSetCookie()[1]?.split(";")[0] as string;
    await hammer(address);
    const other = { email: "somebody@else.example", password: "wrong" };
    for (const status of [401, 401, 401, 429])
      expect((await outside.post("/auth/login", other, { ...address, cookie })).status).toBe(status);
    const forged = { ...address, cookie: cookie.slice(0, -2) + (cookie.endsWith("AA") ? "BB" : "AA") };
    expect(await login(password, forged)).toMatchObject(locked);
  });
});

test("operator and metrics tokens that are too short open nothing, and guesses are limited", async () => {
  const [short, metrics] = ["a7", "b".repeat(31)];
  const env = { ...ENV, PUBLIC_FAILURES_PER_MINUTE: String(LIMIT) };
  await using server = await startServer({ env: { ...env, OPERATOR_TOKEN: short, METRICS_TOKEN: metrics } });
  await settle(() => /OPERATOR_TOKEN has fewer than 32 characters/.test(server.logs()));
  const get = async (path: string, token: string) =>
    (await fetch(`${server.root}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
  for (const [path, token] of [
    ["/v1/tenants", short],
    ["/metrics", metrics],
  ] as const) {
    for (let i = 0; i < LIMIT; i++) expect([path, await get(path, token)]).toEqual([path, 401]);
    expect([path, await get(path, token)]).toEqual([path, 429]);
  }
  // Nor is the machine itself admitted, as without a token.
  expect((await fetch(`${server.root}/metrics`)).status).not.toBe(200);
});

describe("wrong credentials", () => {
  const agent_id = server.credentials.agent.id;
  let admin: Api;
  let client: OAuthClient;

  beforeAll(async () => {
    admin = api(server, ok(await outside.post("/auth/login", server.credentials.admin)).access_token);
    client = await registered(server);
  });

  type Headers = Record<string, string>;
  const newKey = async () => ok(await admin.post(`/agents/${agent_id}/keys`, { scopes: ["send"] })).key;
  const bearer = (path: string) => (credential: string, headers: Headers) =>
    outside.get(path, { ...headers, authorization: `Bearer ${credential}` });
  const form = (fields: (credential: string) => object) => (credential: string, headers: Headers) => {
    const body = new URLSearchParams({ client_id: client.client.client_id, ...fields(credential) });
    const type = { "content-type": "application/x-www-form-urlencoded" };
    return outside.post(`${server.root}/oauth/token`, body.toString(), { ...headers, ...type });
  };
  const secret = (client_secret: string) => ({
    ...{ grant_type: "client_credentials", client_id: "", client_secret },
  });
  const refreshing = (refresh_token: string) => ({ grant_type: "refresh_token", refresh_token });
  const claimed = async () => {
    const { user_code } = ok(await admin.post(`/agents/${agent_id}/device-code`, {}));
    const client_info = { name: "c", version: "1", host: "h" };
    const { claim_id } = ok(await outside.post("/device-codes:claim", { user_code, client_info }));
    return claim_id as string;
  };
  const confirmed = async () => {
    const claim_id = await claimed();
    ok(await admin.post(`/agents/${agent_id}/device-code:confirm`, { claim_id, action: "approve" }));
    return claim_id;
  };
  const ended = refusal(401, "authentication_failed", { reason: "ended" });

  test.each<[string, status: number, wrong: string, right: () => unknown, send: ReturnType<typeof bearer>]>([
    ["operator's token", 401, "x", () => OPERATOR_TOKEN, bearer("/tenants")],
    ["token for metrics", 401, "x", () => METRICS_TOKEN, (...of) => bearer(`${server.root}/metrics`)(...of)],
    ["API key", 401, UNKNOWN_KEY, newKey, bearer("/auth/me")],
    ["access token", 401, "a.b.c", async () => agentToken(server, await newKey()), bearer("/auth/me")],
    [
      "key to exchange",
      401,
      UNKNOWN_KEY,
      newKey,
      (api_key, of) => outside.post("/auth/token", { api_key }, of),
    ],
    ["client's secret", 401, UNKNOWN_KEY, newKey, form(secret)],
    [
      ...(["refresh token", 400, "x.y.0.z"] as const),
      async () => (await connect(client, admin, agent_id)).refresh_token,
      form(refreshing),
    ],
    [
      ...(["device's claim", 404, "clm_x", confirmed] as const),
      (claim_id, of) => outside.post("/device-codes:complete", { claim_id }, of),
    ],
  ])("count by address, and refuse no right one: %s", async (name, status, wrong, right, send) => {
    const here = from(`2001:db8:${name.length}::1`);
    for (let i = 0; i < FAILURES; i++) expect((await send(wrong, here)).status).toBe(status);
    const refused = await send(wrong, here);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([
      429,
      expect.stringMatching(/^[1-9]\d?$/),
    ]);
    expect((await send((await right()) as string, here)).status).toBe(200);
    expect((await send(wrong, from(`2001:db8:${name.length}:1::1`))).status).toBe(status);
  });

  test("are not those that come too early, are missing, or were valid before", async () => {
    const here = from("203.0.113.30");
    const claim_id = await claimed();
    const token = await agentToken(server, server.credentials.agent.api_key);
    ok({ ...(await api(server, token).post("/auth/logout")), body: {} });
    await settle(async () => (await bearer("/auth/me")(token, here)).status === 401);
    for (let i = 0; i <= FAILURES; i++) {
      expect((await outside.post("/device-codes:complete", { claim_id }, here)).status).toBe(409);
      expect((await outside.get("/auth/me", here)).status).toBe(401);
      expect(await bearer("/auth/me")(token, here)).toMatchObject(ended);
    }
  });
});

// An API key as the bearer token itself: for clients that send one header for as long as they live.

async function newKey(scopes: string[], fields: object = {}) {
  const { id: agent_id } = ok(await world.admin.post("/agents", { name: "sdk", delivery_mode: "poll" }));
  const { id, key } = ok(await world.admin.post(`/agents/${agent_id}/keys`, { scopes, ...fields }));
  return { agent_id, id, key: key as string, caller: api(server, key) };
}

/** Sends a request from a separate address, so that its failures count for no other test. */
const meFrom = (address: string, token: string) => api(server, token).get("/auth/me", from(address));

describe("an API key as the bearer", () => {
  test("is its agent, with its scopes and without an end", async () => {
    const { agent_id, caller } = await newKey(["send", "memory:read"]);
    expect(ok(await caller.get("/auth/me"))).toMatchObject({
      ...{ kind: "agent", agent: { id: agent_id }, scopes: ["send", "memory:read"], expires_at: null },
    });
    expect(ok(await caller.get("/handoffs"))).toEqual([]);
    const answer = await caller.post("/memories", { title: "t", content: "c" });
    await refused(answer, "insufficient_scope", { required_scope: "memory:write" });
    await refused(caller.get("/auth/session"), "forbidden");
  });

  test("ends when the key says so", async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { caller } = await newKey(["send"], { expires_at });
    expect(ok(await caller.get("/auth/me"))).toMatchObject({ expires_at });
  });

  test("shares the limit of the tokens it is exchanged for", async () => {
    const { key, caller } = await newKey(["send"]);
    const remaining = async (who: typeof caller) =>
      Number((await who.get("/auth/me")).headers.get("x-ratelimit-remaining"));
    const first = await remaining(caller);
    expect(await remaining(api(server, await agentToken(server, key)))).toBe(first - 1);
    expect(await remaining(caller)).toBe(first - 2);
  });

  test("is noted as used", async () => {
    const { agent_id, caller } = await newKey(["send"]);
    ok(await caller.get("/auth/me"));
    await settle(async () => {
      const { keys } = ok(await world.admin.get(`/agents/${agent_id}/keys`));
      return keys[0].last_used_at !== null;
    });
  });

  test("is not ended by signing out: that is for tokens", async () => {
    const { agent_id, id, caller } = await newKey(["send"]);
    const { status, body } = await caller.post("/auth/logout");
    await refused({ status, body }, "forbidden");
    expect(body.error.message).toContain(`DELETE /v1/agents/${agent_id}/keys/${id}`);
    expect((await caller.get("/auth/me")).status).toBe(200);
  });
});

describe("a key that is no longer good is refused", () => {
  async function expectRefused(get: () => Promise<{ status: number }>): Promise<void> {
    await settle(async () => (await get()).status === 401, { what: "the key is refused" });
    await refused(api(server).get("/auth/me", { authorization: "Bearer none" }), "authentication_failed");
  }

  test("once it is revoked", async () => {
    const { agent_id, id, key } = await newKey(["send"]);
    const me = () => meFrom("203.0.113.1", key);
    expect((await me()).status).toBe(200);
    expect((await world.admin.del(`/agents/${agent_id}/keys/${id}`)).status).toBe(204);
    await expectRefused(me);
    const { headers } = await me();
    expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  test("once its agent is inactive", async () => {
    const { agent_id, key } = await newKey(["send"]);
    const me = () => meFrom("203.0.113.2", key);
    expect((await me()).status).toBe(200);
    ok(await world.admin.patch(`/agents/${agent_id}/status`, { status: "inactive" }));
    await expectRefused(me);
  });

  test("with a message that says which credentials there are", async () => {
    for (const header of ["Bearer ak_live_short", `ak_live_${"a".repeat(32)}`]) {
      const { body } = await api(server).get("/auth/me", { authorization: header });
      expect(body.error.message).toBe(
        "The header Authorization is malformed: expected Bearer <access token> or Bearer <API key>.",
      );
    }
  });
});

test("keys appear in no log, known or guessed", async () => {
  const guess = `ak_live_${"7".padStart(32, "x")}`;
  const { key } = await newKey(["send"]);
  expect((await meFrom("203.0.113.5", key)).status).toBe(200);
  expect((await meFrom("203.0.113.5", guess)).status).toBe(401);
  await settle(() => /"status":401,.*"ip":"203.0.113.5"/.test(server.logs()), { what: "both are logged" });
  expect([key, guess, hashApiKey(key)].filter((secret) => server.logs().includes(secret))).toEqual([]);
});

// POST /auth/token as OAuth 2.0 has it (RFC 6749, section 4.4): libraries of many languages speak nothing else.

const { agent_id, key } = await newKey(["send", "memory:read"]);

let addresses = 0;
/** Sends a form, each from a new address: wrong keys count per address. */
function ask(fields: Record<string, string> | string, headers: Record<string, string> = {}) {
  return api(server).post("/auth/token", new URLSearchParams(fields).toString(), {
    "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
    "x-forwarded-for": `192.0.2.${++addresses}`,
    ...headers,
  });
}

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});
const GRANT = { grant_type: "client_credentials" };

describe("the client credentials grant", () => {
  test.each([
    ["in the body", (id: string) => ask({ ...GRANT, client_id: id, client_secret: key })],
    ["by HTTP Basic", (id: string) => ask(GRANT, basic(id, key))],
    [
      "with a scope and what else libraries send",
      (id: string) =>
        ask({ ...GRANT, client_id: id, client_secret: key, scope: "", audience: "https://a.example" }),
    ],
  ])("takes the agent's key %s", async (_, exchange) => {
    for (const client_id of [agent_id, "my client: 1"]) {
      const { status, headers, body } = await exchange(client_id);
      expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(body).toEqual({
        ...{ access_token: expect.any(String), token_type: "Bearer", expires_at: expect.any(String) },
        expires_in: expect.any(Number),
        scope: "send memory:read",
        agent: { id: agent_id, name: "sdk", team: null, tenant_id: world.tenant_id },
      });
      const ends_in = (Date.parse(body.expires_at) - Date.now()) / 1000;
      expect(Math.abs(ends_in - body.expires_in)).toBeLessThan(60);
      expect(ok(await api(server, body.access_token).get("/auth/me"))).toMatchObject({ kind: "agent" });
    }
  });

  test.each([
    ["an unknown key", { ...GRANT, client_id: "a", client_secret: UNKNOWN_KEY }, {}],
    ["what is no key", { ...GRANT, client_id: "a", client_secret: "hunter2" }, {}],
    ["no key", GRANT, {}],
    ["an unknown key by HTTP Basic", GRANT, basic("a", UNKNOWN_KEY)],
    ["nothing in HTTP Basic", GRANT, { authorization: "Basic" }],
    ["a bearer token", GRANT, { authorization: "Bearer a.b.c" }],
  ])("is refused with %s as invalid_client", async (_, fields, headers) => {
    const answer = await ask(fields, headers as Record<string, string>);
    expect([answer.status, answer.body]).toEqual([
      401,
      { error: "invalid_client", error_description: expect.any(String) },
    ]);
    expect(answer.headers.get("www-authenticate")).toBe('Basic realm="sensorium"');
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test.each([
    ["another grant", { grant_type: "password", username: "a", password: "b" }, "unsupported_grant_type"],
    ["no grant", { client_secret: UNKNOWN_KEY }, "invalid_request"],
    ["a grant twice", "grant_type=client_credentials&grant_type=client_credentials", "invalid_request"],
    ["nothing", {}, "invalid_request"],
  ])("is refused with %s", async (_, fields, error) =>
    expect(await ask(fields as Record<string, string>)).toMatchObject({
      status: 400,
      body: { error, error_description: expect.any(String) },
    }),
  );

  test("gives at most the scopes that are asked for, for the resource that is asked for", async () => {
    const mine = { ...GRANT, client_id: "a", client_secret: key };
    const less = ok(await ask({ ...mine, scope: "send admin" }));
    expect(less.scope).toBe("send");
    expect(ok(await api(server, less.access_token).get("/auth/me")).scopes).toEqual(["send"]);
    const forMcp = ok(await ask({ ...mine, resource: `${server.root}/mcp?tools=all` }));
    await refused(api(server, forMcp.access_token).get("/auth/me"), "authentication_failed");
    const whole = ok(await ask({ ...mine, resource: server.root }));
    ok(await api(server, whole.access_token).get("/auth/me"));
    for (const [more, error] of [
      [{ scope: "send photos" }, "invalid_scope"],
      [{ scope: "admin" }, "invalid_scope"],
      [{ resource: "https://elsewhere.example/mcp" }, "invalid_target"],
      [{ resource: `${server.root}/v1` }, "invalid_target"],
    ] as const)
      expect(await ask({ ...mine, ...more })).toMatchObject({ status: 400, body: { error } });
  });

  test("is refused with the key in both places", async () => {
    const { status, body } = await ask({ ...GRANT, client_id: "a", client_secret: key }, basic("a", key));
    expect([status, body.error]).toEqual([400, "invalid_request"]);
  });

  test("limits wrong keys by address, and no right one", async () => {
    const here = { "x-forwarded-for": "198.51.100.1" };
    const wrong = { ...GRANT, client_id: "a", client_secret: UNKNOWN_KEY };
    for (let n = 0; n < FAILURES; n++) expect((await ask(wrong, here)).status).toBe(401);
    const { status, body, headers } = await ask(wrong, here);
    expect([status, body.error]).toEqual([429, "temporarily_unavailable"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    ok(await ask({ ...wrong, client_secret: key }, here));
  });
});

test("the exchange by JSON says the same, and has the envelope of every error", async () => {
  const { body } = await api(server).post("/auth/token", { api_key: key });
  expect(body).toMatchObject({ expires_in: expect.any(Number), scope: "send memory:read" });
  const refused = await api(server).post("/auth/token", { api_key: UNKNOWN_KEY });
  expect(refused).toMatchObject(refusal(401, "authentication_failed"));
});

test("the exchange by JSON of another media type says which are taken", async () => {
  const answer = await api(server).post("/auth/token", "<a/>", { "content-type": "text/xml" });
  const expected = ["application/json", "application/x-www-form-urlencoded"];
  await refused(answer, "unsupported_media_type", { expected });
});
