import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type FalseProvider, startFalseProvider } from "../support/false-provider.ts";
import { type Answer, type Api, api, type Json } from "../support/http.ts";
import {
  CLIENT_SECRET,
  type IdentityProvider,
  startIdentityProvider,
  visitProvider,
} from "../support/identity-provider.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, NO_LIMITS, OPERATOR_TOKEN, ok, refusal, refused, signIn } from "../support/tenancy.ts";

const COOKIE = "sensorium_oidc";
const CALLBACK = "/sign-in/callback";
const invalid = refusal(401, "authentication_failed", { reason: "invalid_answer" });
const noAttempt = refusal(401, "authentication_failed", { reason: "no_attempt" });
const forbidden = (reason: string) => refusal(403, "forbidden", { reason });

/** A cookie that an answer sets, as a request sends it. */
function cookieOf(answer: Answer, name = COOKIE): string {
  const set = answer.headers.getSetCookie().find((each) => each.startsWith(`${name}=`));
  return set?.split(";")[0] as string;
}

describe("with a provider", () => {
  let provider: IdentityProvider;
  let server: TestServer;
  let outside: Api;
  let admin: Api;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    server = await startServer({ env: { OPERATOR_TOKEN, ...NO_LIMITS, ...provider.env } });
    provider.open(server);
    outside = api(server);
    admin = api(server, ok(await outside.post("/auth/login", server.credentials.admin)).access_token);
  });
  afterAll(async () => {
    await server?.stop();
    await provider?.close();
  });

  /** As the browser does it: to the provider, and back with what it says. */
  async function begin(login: string | null): Promise<{ query: string; cookie: string }> {
    const begun = await outside.post("/auth/oidc");
    const query = await visitProvider(ok(begun).url, server.root + CALLBACK, login);
    return { query, cookie: cookieOf(begun) };
  }
  const finish = (query: string, cookie?: string) =>
    outside.post("/auth/oidc/session", { query }, cookie ? { cookie } : {});
  const enter = async (login: string) => {
    const { query, cookie } = await begin(login);
    return finish(query, cookie);
  };
  const usersNamed = async (email: string) =>
    ok(await admin.get(`/users?search=${encodeURIComponent(email)}`)).users;
  const auditOf = async (filter: string): Promise<Json[]> => ok(await admin.get(`/audit?${filter}`)).entries;

  const staff = (email: string, more: object = {}) => ({
    ...{ email, email_verified: true, groups: ["staff"] },
    ...more,
  });

  test("a person with a mapped role gets one account at the first sign-in", async () => {
    provider.accounts.set("ada", staff("Ada@example.com", { name: "Ada Lovelace" }));
    const first = await enter("ada");
    expect(ok(first)).toMatchObject({
      user: { email: "ada@example.com", display_name: "Ada Lovelace", role: "member" },
      tenant: { slug: "default" },
    });
    const cookie = cookieOf(first, "sensorium_session");
    const session = ok(await outside.get("/auth/session", { cookie }));
    expect(session.user.email).toBe("ada@example.com");
    const own = { cookie, "x-csrf-token": session.csrf_token };
    expect(await outside.post("/auth/totp", { password: "any" }, own)).toMatchObject(
      refusal(422, "business_rule_violation", { rule: "no_password" }),
    );
    expect(ok(await outside.get("/auth/ways", { cookie }))).toEqual({
      password: false,
      totp: null,
      identity: { issuer: provider.issuer, linked_at: expect.any(String) },
    });
    // The identity is the provider's `sub`, whatever becomes of the address.
    provider.accounts.set("ada", staff("countess@example.com", { email_verified: false }));
    expect(ok(await enter("ada")).user.id).toBe(first.body.user.id);
    expect(await usersNamed("ada@example.com")).toMatchObject([{ sign_in: ["oidc"] }]);
    const signIns = await auditOf(`resource_id=${first.body.user.id}&action=auth.login`);
    expect(signIns.map(({ details }) => details)).toEqual([
      { by: "oidc" },
      { by: "oidc", creation: true, subject: "ada" },
    ]);
  });

  test("two first sign-ins at once make one account", async () => {
    provider.accounts.set("twice", staff("twice@example.com"));
    const begun = await Promise.all([begin("twice"), begin("twice")]);
    const answers = await Promise.all(begun.map(({ query, cookie }) => finish(query, cookie)));
    expect(new Set(answers.map((answer) => ok(answer).user.id)).size).toBe(1);
    expect(await usersNamed("twice@example.com")).toHaveLength(1);
  });

  test("the role follows the claims at each sign-in", async () => {
    provider.accounts.set("rose", staff("rose@example.com"));
    const before = await enter("rose");
    const cookie = cookieOf(before, "sensorium_session");
    expect((await outside.get("/users", { cookie })).status).toBe(403);
    provider.accounts.set("rose", staff("rose@example.com", { groups: ["staff", "ops"] }));
    expect(ok(await enter("rose")).user.role).toBe("admin");
    provider.accounts.set("rose", staff("rose@example.com", { groups: [] }));
    expect(await enter("rose")).toMatchObject(forbidden("no_role"));
    provider.accounts.set("rose", staff("rose@example.com", { groups: "staff" as never }));
    expect(ok(await enter("rose")).user.role).toBe("member");
    const { id } = before.body.user;
    const changes = (await auditOf(`resource_id=${id}&action=auth.login`)).map(({ details }) => details.role);
    expect(changes).toEqual(["member", "admin", undefined]);
    const refused = await auditOf("action=auth.login&outcome=refused");
    expect(refused[0]).toMatchObject({
      error: "forbidden",
      details: { by: "oidc", subject: "rose", reason: "no_role" },
    });
  });

  test("an account that is here already is linked only by an address that the provider has verified", async () => {
    const { id, password } = ok(await admin.post("/users", { email: "bob@example.com" }));
    provider.accounts.set("bob", staff("bob@example.com", { email_verified: false }));
    expect(await enter("bob")).toMatchObject(forbidden("email_unverified"));
    const { email_verified, ...untold } = staff("bob@example.com");
    provider.accounts.set("bob", untold);
    expect(await enter("bob")).toMatchObject(forbidden("email_unverified"));
    expect(await usersNamed("bob@example.com")).toMatchObject([{ id, sign_in: ["password"] }]);
    provider.accounts.set("bob", staff("BOB@example.com"));
    expect(ok(await enter("bob")).user.id).toBe(id);
    // The password still works, too.
    expect((await outside.post("/auth/login", { email: "bob@example.com", password })).status).toBe(200);
    expect(await usersNamed("bob@example.com")).toMatchObject([{ sign_in: ["password", "oidc"] }]);
    // Somebody else with the same verified address is not let in, until an admin has unlinked the account.
    provider.accounts.set("robert", staff("bob@example.com"));
    expect(await enter("robert")).toMatchObject(forbidden("email_taken"));
    ok(await admin.patch(`/users/${id}`, { unlink_identity: true }));
    expect(ok(await enter("robert")).user.id).toBe(id);
    expect(await enter("bob")).toMatchObject(forbidden("email_taken"));
  });

  test("who has no address, or is disabled here, stays out", async () => {
    provider.accounts.set("anonymous", { groups: ["staff"] });
    expect(await enter("anonymous")).toMatchObject(forbidden("no_email"));
    provider.accounts.set("dan", staff("dan@example.com"));
    const { id } = ok(await enter("dan")).user;
    ok(await admin.patch(`/users/${id}`, { status: "disabled" }));
    expect(await enter("dan")).toMatchObject(forbidden("disabled"));
    const invited = ok(await admin.post("/users", { email: "eve@example.com" }));
    ok(await admin.patch(`/users/${invited.id}`, { status: "disabled" }));
    provider.accounts.set("eve", staff("eve@example.com"));
    expect(await enter("eve")).toMatchObject(forbidden("disabled"));
    ok(await admin.patch(`/users/${id}`, { status: "active" }));
    expect(ok(await enter("dan")).user.id).toBe(id);
  });

  test("an account of the same address in another tenant is not touched", async () => {
    const other = await makeWorld(server, "elsewhere");
    const { id, password } = ok(await other.admin.post("/users", { email: "frank@example.com" }));
    provider.accounts.set("frank", staff("frank@example.com", { groups: ["ops"] }));
    const { user, tenant } = ok(await enter("frank"));
    expect([user.id === id, tenant.slug]).toEqual([false, "default"]);
    const there = ok(await other.admin.get("/users?search=frank")).users;
    expect(there).toMatchObject([{ id, role: "member", sign_in: ["password"] }]);
    const token = await signIn(server, { email: "frank@example.com", password }, "elsewhere");
    expect(ok(await api(server, token).get("/auth/me")).tenant.slug).toBe("elsewhere");
  });

  test("an answer of the provider counts once, in the browser that began, with its state", async () => {
    provider.accounts.set("gil", staff("gil@example.com"));
    const [one, two] = [await begin("gil"), await begin("gil")];
    expect(await finish(one.query)).toMatchObject(noAttempt);
    expect(await finish(one.query, `${COOKIE}=v1.${"A".repeat(300)}`)).toMatchObject(noAttempt);
    expect(await finish(one.query, `${one.cookie.slice(0, -2)}xx`)).toMatchObject(noAttempt);
    expect(await finish(one.query, two.cookie)).toMatchObject(invalid);
    expect(await finish(one.query.replace(/state=[^&]+&?/, ""), one.cookie)).toMatchObject(invalid);
    const entered = await finish(one.query, one.cookie);
    expect(entered.status).toBe(200);
    expect(await finish(one.query, one.cookie)).toMatchObject(invalid);
    // The cookie for signing out does not begin anything.
    expect(await finish(two.query, cookieOf(entered))).toMatchObject(noAttempt);
  });

  test("who cancels at the provider is told so", async () => {
    const { query, cookie } = await begin(null);
    const refused = refusal(401, "authentication_failed", { reason: "provider_refused" });
    expect(await finish(query, cookie)).toMatchObject(refused);
    const made = new URLSearchParams(query);
    made.set("error", "<script>alert(1)</script>");
    const answer = await finish(made.toString(), cookie);
    expect(answer.body.error.message).not.toContain("script");
  });

  test("signing out leads to the provider's page, and only who has signed in by it", async () => {
    provider.accounts.set("hal", staff("hal@example.com"));
    const entered = await enter("hal");
    const cookie = [cookieOf(entered, "sensorium_session"), cookieOf(entered)].join("; ");
    const left = await outside.del("/auth/session", { cookie, "x-csrf-token": ok(entered).csrf_token });
    const url = new URL(ok(left).sign_out_url);
    expect(url.origin).toBe(provider.issuer);
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${server.root}/`);
    expect((await fetch(url)).status).toBe(200);
    for (const name of ["sensorium_session", COOKIE]) expect(cookieOf(left, name)).toBe(`${name}=`);
    const by = await outside.post("/auth/session", server.credentials.admin, { cookie: cookieOf(entered) });
    expect(cookieOf(by)).toBe(`${COOKIE}=`);
    const session = { cookie: cookieOf(by, "sensorium_session"), "x-csrf-token": ok(by).csrf_token };
    expect(ok(await outside.del("/auth/session", session))).toEqual({ sign_out_url: null });
  });

  test("a provider that is away is a 503 that says so, and sign-in works again when it is back", async () => {
    provider.accounts.set("ivy", staff("ivy@example.com"));
    const { query, cookie } = await begin("ivy");
    await provider.close();
    const away = await finish(query, cookie);
    expect(away).toMatchObject(refusal(503, "service_unavailable"));
    expect(away.body.error.message).toContain("Example ID cannot be reached");
    expect((await outside.post("/auth/login", server.credentials.admin)).status).toBe(200);
    await provider.reopen();
    expect((await finish(query, cookie)).status).toBe(200);
  });

  test("no secret, code or token is in a log", async () => {
    provider.accounts.set("joe", staff("joe@example.com"));
    const { query, cookie } = await begin("joe");
    await finish(`${query}x`, cookie);
    await finish(query, cookie);
    await finish(query, cookie);
    const code = new URLSearchParams(query).get("code") as string;
    await settle(() => server.logs().includes("a sign-in by the identity provider failed"));
    for (const secret of [CLIENT_SECRET, code, cookie, "eyJ"]) expect(server.logs()).not.toContain(secret);
  });

  test("the cookie cannot be read, lives for minutes, and goes to this origin alone", async () => {
    const begun = await outside.post("/auth/oidc");
    const [set] = begun.headers.getSetCookie() as [string];
    expect(set).toMatch(
      /^sensorium_oidc=v1\.[\w-]+\.[0-9a-f]{12}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    const life = Date.parse(/Expires=([^;]+)/.exec(set)?.[1] as string) - Date.now();
    expect(life).toBeGreaterThan(0);
    expect(life).toBeLessThanOrEqual(600_000);
    const { searchParams } = new URL(ok(begun).url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ response_type: "code", redirect_uri: server.root + CALLBACK, code_challenge_method: "S256" },
      scope: "openid email profile",
    });
    for (const name of ["state", "nonce", "code_challenge"])
      expect(set).not.toContain(searchParams.get(name) as string);
  });

  test("the ways to sign in are public", async () =>
    expect(ok(await outside.get("/auth/methods"))).toEqual({ password: true, oidc: { name: "Example ID" } }));
});

describe("an answer that is wrong", () => {
  let provider: FalseProvider;
  let server: TestServer;
  let outside: Api;

  beforeAll(async () => {
    provider = await startFalseProvider();
    const PASSWORD_SIGN_IN = "false";
    provider.away = true;
    server = await startServer({ env: { ...NO_LIMITS, ...provider.env, PASSWORD_SIGN_IN } });
    outside = api(server);
  });
  afterAll(async () => {
    await server?.stop();
    await provider?.stop();
  });
  beforeEach(() => void Object.assign(provider, { claims: {}, forged: false, refusal: undefined }));

  /** Signs in with an ID token that differs in these claims from the right one. */
  async function enter(claims: Record<string, unknown> = {}, query: Record<string, string> = {}) {
    const begun = await outside.post("/auth/oidc");
    const { searchParams } = new URL(ok(begun).url);
    provider.claims = { nonce: searchParams.get("nonce"), ...claims };
    const answer = { code: "a-code", state: searchParams.get("state") as string, ...query };
    const body = { query: new URLSearchParams(answer).toString() };
    return outside.post("/auth/oidc/session", body, { cookie: cookieOf(begun) });
  }

  test("cannot be asked for while the provider is away, as it was when the service started", async () => {
    const answer = await outside.post("/auth/oidc");
    await refused(answer, "service_unavailable");
    expect(answer.body.error.message).toContain("False ID cannot be reached");
    provider.away = false;
  });

  test("sends the verifier alone with the code where there is no secret", async () => {
    expect(ok(await enter()).user.email).toBe("someone@false.example");
    const sent = new URLSearchParams(provider.exchanges.at(-1));
    expect(sent.get("code_verifier")).toMatch(/^[\w-]{43}$/);
    expect([sent.get("client_id"), sent.has("client_secret")]).toEqual(["sensorium", false]);
  });

  test.each([
    ["another nonce", { nonce: "another" }],
    ["no nonce", { nonce: undefined }],
    ["another issuer", { iss: "https://another.example" }],
    ["another audience", { aud: "another client" }],
    ["an audience of several, for another client", { aud: ["sensorium", "b"], azp: "b" }],
    ["a time long past", { iat: 1_700_000_000, exp: 1_700_000_060 }],
    ["no subject", { sub: undefined }],
  ])("with %s signs nobody in", async (_, claims) => expect(await enter(claims)).toMatchObject(invalid));

  test("signed by another key signs nobody in", async () => {
    provider.forged = true;
    expect(await enter()).toMatchObject(invalid);
  });

  test("that names another issuer in the address signs nobody in", async () =>
    expect(await enter({}, { iss: "https://another.example" })).toMatchObject(invalid));

  test.each([
    ["a refused code", { status: 400, body: { error: "invalid_grant" } }, 401],
    ["a refused client", { status: 401, body: { error: "invalid_client" } }, 503],
    ["a failure", { status: 500, body: "<html>" }, 503],
    ["no JSON", { status: 200, body: "<html>" }, 503],
  ])("of the token endpoint, %s, is told apart", async (_, refused, status) => {
    provider.refusal = refused;
    expect((await enter()).status).toBe(status);
  });

  test("does not let passwords in where they are switched off", async () => {
    expect(ok(await outside.get("/auth/methods"))).toEqual({ password: false, oidc: { name: "False ID" } });
    for (const path of ["/auth/login", "/auth/session"])
      expect(await outside.post(path, server.credentials.admin)).toMatchObject(refusal(403, "forbidden"));
  });
});

test("without a provider there is none to begin at", async () => {
  await using server = await startShared();
  const outside = api(server);
  const none = refusal(404, "not_found");
  expect(ok(await outside.get("/auth/methods"))).toEqual({ password: true, oidc: null });
  expect(await outside.post("/auth/oidc")).toMatchObject(none);
  expect(await outside.post("/auth/oidc/session", { query: "code=1" })).toMatchObject(none);
});
