import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Api, agentToken, api } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal } from "../support/tenancy.ts";

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

  test("lock the addresses that they come from, not the person", async () => {
    const { password } = server.credentials.admin;
    for (const i of [1, 2, 3]) await hammer(from(`203.0.113.${i}`));
    expect(await login(password, from("203.0.113.1"))).toMatchObject(locked);
    expect((await login(password, from("203.0.113.4"))).status).toBe(200);
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
    expect(await outside.post("/auth/login", other, { ...address, cookie })).toMatchObject(locked);
    const forged = { ...address, cookie: cookie.slice(0, -2) + (cookie.endsWith("AA") ? "BB" : "AA") };
    expect(await login(password, forged)).toMatchObject(locked);
  });
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
    expect(await login(both)).toMatchObject(refusal(401, "authentication_failed"));
    ok(await attackers.admin.patch(`/users/${same.id}`, { status: "disabled" }));
    expect(ok(await login(both)).user.tenant_id).toBe(victims.tenant_id);
  });
});

describe("failed requests without a token", () => {
  let server: TestServer;

  beforeAll(async () => {
    const env = { PUBLIC_FAILURES_PER_MINUTE: String(LIMIT), LOGIN_ATTEMPTS_PER_MINUTE: "0" };
    server = await startServer({ env: { ...BEHIND_PROXY, ...env } });
  });
  afterAll(() => server?.stop());

  test("have one budget per address, whatever is asked and however it fails", async () => {
    const outside = api(server);
    const here = from("203.0.113.20");
    const { agent, admin } = server.credentials;
    const exchange = (headers: Record<string, string>) =>
      outside.post("/auth/token", { api_key: agent.api_key }, headers);
    for (let i = 0; i < 3 * LIMIT; i++) expect((await exchange(here)).status).toBe(200);
    expect((await outside.post("/auth/login", `{"email":[[[[`, here)).status).toBe(400);
    expect((await outside.post("/auth/token", { api_key: UNKNOWN_KEY }, here)).status).toBe(401);
    expect((await outside.get("/device-codes/BBBB-BBBB", here)).status).toBe(404);
    const refused = await exchange(here);
    expect(refused).toMatchObject(locked);
    expect(refused.headers.get("retry-after")).toBe(String(refused.body.error.details.retry_after_seconds));
    for (const path of ["/auth/login", "/auth/session"])
      expect(await outside.post(path, admin, here)).toMatchObject(locked);
    for (const path of ["/device-codes:claim", "/device-codes:complete"])
      expect(await outside.post(path, "", here)).toMatchObject(locked);
    expect((await exchange(from("203.0.113.21"))).status).toBe(200);
    const token = await agentToken(server, agent.api_key);
    expect((await api(server, token).get("/auth/me", here)).status).toBe(200);
    expect((await outside.get(`${server.root}/healthz`, here)).status).toBe(200);
  });

  test("that only come too early, as a device's that waits for its approval, are no failures", async () => {
    const here = from("203.0.113.30");
    const token = await agentToken(server, server.credentials.agent.api_key);
    const { user_code } = ok(
      await api(server, token).post(`/agents/${server.credentials.agent.id}/device-code`, {}),
    );
    const client_info = { name: "c", version: "1", host: "h" };
    const { claim_id } = ok(await api(server).post("/device-codes:claim", { user_code, client_info }, here));
    for (let i = 0; i < 2 * LIMIT; i++)
      expect((await api(server).post("/device-codes:complete", { claim_id }, here)).status).toBe(409);
  });
});
