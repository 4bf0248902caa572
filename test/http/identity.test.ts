import { createPublicKey, type JsonWebKey } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import jwt from "jsonwebtoken";
import { type Answer, agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const world = await makeWorld(server, "acme");
const admin = world.admin;

const UNKNOWN_KEY = `ak_live_${"x".repeat(32)}`;
const exchange = (api_key: unknown, headers = {}) => api(server).post("/auth/token", { api_key }, headers);

async function newAgent(fields: object = {}) {
  return ok(await admin.post("/agents", { name: "an agent", delivery_mode: "poll", ...fields }));
}

async function newKey(scopes = ["send"], agent_id = "") {
  const id = agent_id || (await newAgent()).id;
  return { agent_id: id, ...ok(await admin.post(`/agents/${id}/keys`, { scopes })) };
}

/** Checks that a revocation holds on every node. test/unit/caller-cache.test.ts checks that it does within 5 s. */
async function expectRefused(token: string): Promise<void> {
  const me = () => api(server, token).get("/auth/me");
  await settle(async () => (await me()).status === 401, { what: "the token is refused" });
  await refused(me(), "authentication_failed");
}

describe("exchanging a key", () => {
  test("gives a token for an hour that carries the key's scopes, and says whose it is", async () => {
    const team = ok(await admin.post("/teams", { name: "watchers" }));
    const agent = await newAgent({ team_id: team.id });
    const { key } = await newKey(["send", "receive"], agent.id);
    const before = Date.now();
    const { status, body } = await exchange(key, { authorization: "Bearer nonsense" });
    const took = Date.now() - before;
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token_type: "Bearer",
        expires_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        expires_in: expect.any(Number),
        scope: "send receive",
        agent: { id: agent.id, name: "an agent", team: "watchers", tenant_id: world.tenant_id },
      },
    ]);
    const lifetime = Date.parse(body.expires_at) - before;
    expect(Math.abs(lifetime - 3_600_000)).toBeLessThan(5000 + took);
    expect(ok(await api(server, body.access_token).get("/auth/me"))).toMatchObject({
      kind: "agent",
      agent: { id: agent.id, team_id: team.id },
      tenant: { id: world.tenant_id, slug: world.slug },
      scopes: ["send", "receive"],
      expires_at: body.expires_at,
    });
  });

  test("its token is checked with the keys that are published", async () => {
    const token = await agentToken(server, (await newKey()).key);
    const { keys } = ok(await api(server).get(`${server.root}/.well-known/jwks.json`));
    const publicKey = createPublicKey({ key: keys[0] as JsonWebKey, format: "jwk" });
    expect(jwt.verify(token, publicKey, { algorithms: ["ES256"], audience: "sensorium" })).toMatchObject({
      ...{ tenant_id: world.tenant_id, scopes: ["send"], key_id: expect.stringMatching(/^key_/) },
    });
  });

  test.each([
    ["a key that is none", "secret", 400, "validation_failed"],
    ["a number", 7, 400, "validation_failed"],
    ["none", undefined, 400, "validation_failed"],
    ["an unknown one", UNKNOWN_KEY, 401, "authentication_failed"],
  ])("is refused with %s", async (_, key, status, code) =>
    expect(await exchange(key)).toMatchObject(refusal(status, code)),
  );

  test("is refused with a revoked key, and its tokens are too", async () => {
    const { agent_id, id, key } = await newKey();
    const token = await agentToken(server, key);
    expect((await admin.del(`/agents/${agent_id}/keys/${id}`)).status).toBe(204);
    await expectRefused(token);
    await refused(exchange(key), "authentication_failed");
    expect(ok(await admin.get(`/agents/${agent_id}/keys`))).toEqual({ keys: [], total: 0 });
    await refused(admin.del(`/agents/${agent_id}/keys/${id}`), "not_found");
  });

  test("a token ends with its key", async () => {
    const { id: agent_id } = await newAgent();
    // On a busy machine a key's time may be over before it is exchanged: then with another.
    const { key, token } = await settle(async () => {
      const expires_at = new Date(Date.now() + 2000).toISOString();
      const { key } = ok(await admin.post(`/agents/${agent_id}/keys`, { scopes: ["send"], expires_at }));
      return { key, token: await agentToken(server, key) };
    });
    await expectRefused(token);
    await settle(async () => (await exchange(key)).status === 401);
  });

  test("is refused while the agent is inactive, and its tokens are too", async () => {
    const { agent_id, key } = await newKey();
    const token = await agentToken(server, key);
    const deactivated = ok(await admin.patch(`/agents/${agent_id}/status`, { status: "inactive" }));
    expect(deactivated).toMatchObject({ id: agent_id, status: "inactive" });
    await expectRefused(token);
    await refused(exchange(key), "authentication_failed");
    ok(await admin.patch(`/agents/${agent_id}/status`, { status: "active" }));
    const fresh = ok(await exchange(key)).access_token;
    expect((await api(server, fresh).get("/auth/me")).status).toBe(200);
  });

  test("a token of before a deactivation stays refused once the agent is active again", async () => {
    const { agent_id, key } = await newKey();
    const [used, unused] = [await agentToken(server, key), await agentToken(server, key)];
    expect((await api(server, used).get("/auth/me")).status).toBe(200);
    for (const status of ["inactive", "active"])
      ok(await admin.patch(`/agents/${agent_id}/status`, { status }));
    await expectRefused(used);
    await expectRefused(unused);
    expect((await api(server, await agentToken(server, key)).get("/auth/me")).status).toBe(200);
  });
});

describe("signing in", () => {
  const login = (body: object) => api(server).post("/auth/login", body);
  const invite = async (fields: object) => ok(await admin.post("/users", fields));

  test("gives a token with the scopes of the role", async () => {
    const { id, email, password } = await invite({ email: "Ada@Acme.example", display_name: "Ada" });
    expect(email).toBe("ada@acme.example");
    const body = ok(await login({ email: "ADA@acme.example", password }));
    expect(body).toEqual({
      ...{ access_token: expect.any(String), token_type: "Bearer", expires_at: expect.any(String) },
      user: { id, display_name: "Ada", role: "member", tenant_id: world.tenant_id },
    });
    const me = ok(await api(server, body.access_token).get("/auth/me"));
    expect(me).toMatchObject({ kind: "user", user: { id, email } });
    expect(me.scopes).not.toContain("admin");
  });

  test("every refusal is the same", async () => {
    const { email, password, id } = await invite({ email: "bob@acme.example" });
    const disabled = await invite({ email: "gone@acme.example" });
    ok(await admin.patch(`/users/${disabled.id}`, { status: "disabled" }));
    const other = await makeWorld(server, "globex");
    ok(await other.admin.post("/users", { email: "both@acme.example", password }));
    await invite({ email: "both@acme.example", password });
    const attempts = [
      { email, password: "wrong" },
      { email: "nobody@acme.example", password },
      { email: "not an address", password },
      { email, password, tenant_slug: other.slug },
      { email, password, tenant_slug: "nowhere" },
      { email: disabled.email, password: disabled.password },
      { email: "both@acme.example", password },
    ];
    const answers = await Promise.all(attempts.map(login));
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect({ ...body.error, request_id: "" }).toEqual({ ...answers[0]?.body.error, request_id: "" });
    }
    for (const { slug: tenant_slug, tenant_id } of [world, other]) {
      const { user } = ok(await login({ email: "both@acme.example", password, tenant_slug }));
      expect(user.tenant_id).toBe(tenant_id);
    }
    expect(ok(await login({ email, password })).user.id).toBe(id);
  });

  test("a new password ends all tokens of the person but the one that is answered", async () => {
    const { email, password } = await invite({ email: "carol@acme.example" });
    const [first, second] = await Promise.all(
      [1, 2].map(() => signIn(server, { email, password }, world.slug)),
    );
    const caller = api(server, first);
    const change = (body: object) => caller.post("/auth/password", body);
    const next = { current_password: password, new_password: "correct horse battery" };
    expect(await change({ ...next, current_password: "wrong" })).toMatchObject(
      refusal(400, "validation_error", { field: "current_password" }),
    );
    expect(await change({ ...next, new_password: "short" })).toMatchObject(refusal(400, "validation_failed"));
    expect((await api(server, second).get("/auth/me")).status).toBe(200);
    const { access_token } = ok(await change(next));
    await expectRefused(first as string);
    await expectRefused(second as string);
    expect((await api(server, access_token).get("/auth/me")).status).toBe(200);
    expect((await login({ email, password })).status).toBe(401);
    expect((await login({ email, password: next.new_password })).status).toBe(200);
  });

  test("an admin disables, enables, promotes and gives a new password", async () => {
    const { id, email, password } = await invite({ email: "dave@acme.example" });
    const token = await signIn(server, { email, password }, world.slug);
    expect(await api(server, token).get("/users")).toMatchObject(refusal(403, "insufficient_scope"));
    ok(await admin.patch(`/users/${id}`, { role: "admin" }));
    await settle(async () => (await api(server, token).get("/users")).status === 200);
    ok(await admin.patch(`/users/${id}`, { status: "disabled" }));
    await expectRefused(token);
    ok(await admin.patch(`/users/${id}`, { status: "active" }));
    await expectRefused(token);
    const reset = ok(await admin.patch(`/users/${id}`, { reset_password: true }));
    expect((await login({ email, password })).status).toBe(401);
    expect((await login({ email, password: reset.password })).status).toBe(200);
  });

  test("two admins who demote or delete each other at once leave one", async () => {
    const two = await makeWorld(server, "umbrella");
    const second = ok(await two.admin.post("/users", { email: "second@umbrella.example", role: "admin" }));
    const other = api(server, await signIn(server, second, two.slug));
    const { id } = ok(await two.admin.get("/auth/me")).user;
    const all = [two.admin, other];
    const refused = await settle(async () => {
      const answers = await Promise.all([
        two.admin.patch(`/users/${second.id}`, { role: "member" }),
        other.patch(`/users/${id}`, { role: "member" }),
      ]);
      // Who is left makes both admins again.
      for (const by of all)
        for (const who of [id, second.id]) await by.patch(`/users/${who}`, { role: "admin" });
      for (const by of all) ok(await by.get("/users"));
      return answers.find(({ status }) => status === 422);
    });
    expect(refused).toMatchObject(refusal(422, "business_rule_violation", { rule: "last_admin" }));
    const deleted = await Promise.all([two.admin.del(`/users/${second.id}`), other.del(`/users/${id}`)]);
    expect(deleted.filter(({ status }) => status === 200).length).toBeLessThan(2);
    const logins = [two.credentials, second].map(({ email, password }) => login({ email, password }));
    expect((await Promise.all(logins)).map(({ body }) => body.user?.role)).toContain("admin");
  });

  test("logging out ends all tokens of this login and of no other; when a key was used is noted at once", async () => {
    const { agent_id, key } = await newKey();
    const keyRead = async () => ok(await admin.get(`/agents/${agent_id}/keys`)).keys[0];
    expect((await keyRead()).last_used_at).toBeNull();
    const used = Date.now();
    await agentToken(server, key);
    const took = Date.now() - used;
    expect((await keyRead()).last_used_at).not.toBeNull();
    const { email, password } = await invite({ email: "erin@acme.example" });
    const [ended, other] = await Promise.all(
      [1, 2].map(() => signIn(server, { email, password }, world.slug)),
    );
    const renewed = await api(server, ended).post("/auth/session/renew", {});
    const [, derived] = /sensorium_session=([^;]+)/.exec(renewed.headers.get("set-cookie") as string) ?? [];
    expect((await api(server, derived).get("/auth/me")).status).toBe(200);
    expect((await api(server, ended).post("/auth/logout")).status).toBe(204);
    await expectRefused(ended as string);
    await expectRefused(derived as string);
    expect((await api(server, derived).post("/auth/session/renew", {})).status).toBe(401);
    expect((await api(server, other).get("/auth/me")).status).toBe(200);
    expect(Math.abs(Date.parse((await keyRead()).last_used_at) - used)).toBeLessThan(5000 + took);
  });
});

test("a tenant that is suspended is shut out, and loses nothing", async () => {
  const operator = api(server, OPERATOR_TOKEN);
  const other = await makeWorld(server, "initech");
  const suspend = (status: string) => operator.patch(`/tenants/${other.tenant_id}`, { status });
  const { id: agent_id } = ok(await other.admin.post("/agents", { name: "a", delivery_mode: "poll" }));
  const keyOf = async (scopes: string[]) =>
    ok(await other.admin.post(`/agents/${agent_id}/keys`, { scopes })) as { id: string; key: string };
  const [good, revoked] = [await keyOf(["send"]), await keyOf(["receive"])];
  ok(await other.admin.del(`/agents/${agent_id}/keys/${revoked.id}`));
  expect(ok(await suspend("suspended"))).toMatchObject({ slug: other.slug, status: "suspended" });
  await expectRefused(other.adminToken);
  const login = (password: string) =>
    api(server).post("/auth/login", { ...other.credentials, password, tenant_slug: other.slug });
  const reasonOf = ({ status, body }: Answer) => [status, body.error.code, body.error.details.reason];
  const suspended = [401, "authentication_failed", "suspended"];
  // Owners of credentials that were right learn why; nobody else learns that the organisation exists.
  expect(reasonOf(await exchange(good.key))).toEqual(suspended);
  expect(reasonOf(await api(server, good.key).get("/auth/me"))).toEqual(suspended);
  expect(reasonOf(await api(server, other.adminToken).get("/auth/me"))).toEqual(suspended);
  expect(reasonOf(await login(other.credentials.password))).toEqual(suspended);
  expect(reasonOf(await exchange(revoked.key))).toEqual([401, "authentication_failed", undefined]);
  expect(reasonOf(await login("wrong-password-1"))).toEqual([401, "authentication_failed", undefined]);
  ok(await suspend("active"));
  // The token is not revived, and a new one works.
  await expectRefused(other.adminToken);
  await settle(async () => (await other.admin.post("/auth/logout")).status === 401);
  ok(await api(server).post("/auth/login", { ...other.credentials, tenant_slug: other.slug }));
});

test("an e-mail that another organisation invites still signs its owner in, and its inviter sees no difference", async () => {
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
