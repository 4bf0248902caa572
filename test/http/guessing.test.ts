import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Api, agentToken, api } from "../support/http.ts";
import { connect, type OAuthClient, registered } from "../support/oauth.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";

const UNKNOWN_KEY = `ak_live_${"x".repeat(32)}`;
const LIMIT = 3;
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: "0", OPERATOR_TOKEN, EMBEDDER: "none" };
const BEHIND_PROXY = { ...UNLIMITED, TRUST_PROXY: "127.0.0.1" };
const from = (address: string) => ({ "x-forwarded-for": address });
const locked = refusal(429, "rate_limited", { limit: LIMIT, window_seconds: 60 });

describe("failed logins", () => {
  let server: TestServer;
  let outside: Api;

  beforeAll(async () => {
    server = await startServer({ env: { ...BEHIND_PROXY, LOGIN_ATTEMPTS_PER_MINUTE: String(LIMIT) } });
    outside = api(server);
  });
  afterAll(() => server?.stop());

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
  const env = { ...UNLIMITED, PUBLIC_FAILURES_PER_MINUTE: String(LIMIT) };
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

describe("an e-mail that another organisation invites", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startShared();
  });
  afterAll(() => server?.stop());

  test("still signs its owner in, and its inviter sees no difference", async () => {
    const [victims, attackers] = [await makeWorld(server, "victims"), await makeWorld(server, "attackers")];
    const login = (body: object) => api(server).post("/auth/login", body);
    const email = "ada@victims.example";
    const { password } = ok(await victims.admin.post("/users", { email }));
    const theirs = "known to the attacker";
    ok(await attackers.admin.post("/users", { email, password: theirs }));
    expect(ok(await login({ email, password })).user.tenant_id).toBe(victims.tenant_id);
    expect(ok(await login({ email, password: theirs })).user.tenant_id).toBe(attackers.tenant_id);
    const session = await api(server).post("/auth/session", { email, password });
    expect(ok(session).tenant.slug).toBe(victims.slug);
    // Where the account that fits is no good, another that fits is not in doubt.
    const same = ok(await attackers.admin.post("/users", { email: "bob@victims.example", password }));
    ok(await victims.admin.post("/users", { email: "bob@victims.example", password }));
    const both = { email: "bob@victims.example", password };
    await refused(login(both), "authentication_failed");
    ok(await attackers.admin.patch(`/users/${same.id}`, { status: "disabled" }));
    expect(ok(await login(both)).user.tenant_id).toBe(victims.tenant_id);
  });
});

describe("wrong credentials", () => {
  const METRICS_TOKEN = "a-metrics-token-of-32-characters";
  let server: TestServer;
  let outside: Api;
  let admin: Api;
  let agent_id: string;
  let client: OAuthClient;

  beforeAll(async () => {
    const env = { PUBLIC_FAILURES_PER_MINUTE: String(LIMIT), METRICS_TOKEN };
    server = await startServer({ env: { ...BEHIND_PROXY, ...env } });
    outside = api(server);
    agent_id = server.credentials.agent.id;
    admin = api(server, ok(await outside.post("/auth/login", server.credentials.admin)).access_token);
    client = await registered(server);
  });
  afterAll(() => server?.stop());

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
    for (let i = 0; i < LIMIT; i++) expect((await send(wrong, here)).status).toBe(status);
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
    for (let i = 0; i < 2 * LIMIT; i++) {
      expect((await outside.post("/device-codes:complete", { claim_id }, here)).status).toBe(409);
      expect((await outside.get("/auth/me", here)).status).toBe(401);
      expect(await bearer("/auth/me")(token, here)).toMatchObject(ended);
    }
  });
});
