import { describe, expect, test } from "@jest/globals";
import { byLogin, createClient } from "../../packages/client/index.ts";
import { api } from "../support/http.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

// Clients decide by WWW-Authenticate (RFC 6750) whether to renew a token, to request more scopes or to stop.

const BARE = 'Bearer realm="sensorium"';
/** With the address at which a client reads how to get a token (RFC 9728). */
const REALM = () => `${BARE}, resource_metadata="${server.root}/.well-known/oauth-protected-resource"`;

const server = await useShared("local");
const world = await makeWorld(server, "acme");

async function challengeTo(path: string, headers: Record<string, string> = {}) {
  const answer = await api(server).get(path, headers);
  return [answer.status, answer.headers.get("www-authenticate")];
}

describe("the challenge of a refusal", () => {
  test("names no error with no token, another scheme or a session that has ended", async () => {
    for (const headers of [{}, { authorization: "Basic YTpi" }, { cookie: "sensorium_session=a.b.c" }])
      expect(await challengeTo("/auth/me", headers as Record<string, string>)).toEqual([401, REALM()]);
  });

  test.each(["Bearer a.b.c", "bearer a.b.c", "Bearer nonsense"])("of %s is invalid_token", async (header) => {
    const [status, challenge] = await challengeTo("/auth/me", { authorization: header });
    expect(status).toBe(401);
    expect(challenge).toMatch(
      /^Bearer realm="sensorium", resource_metadata="[^"]+", error="invalid_token", error_description="[^"]+"$/,
    );
  });

  test("of the operator's routes is the same", async () => {
    expect(await challengeTo("/tenants")).toEqual([401, BARE]);
    const [, challenge] = await challengeTo("/tenants", { authorization: "Bearer wrong" });
    expect(challenge).toContain('error="invalid_token"');
  });

  test("of a missing scope names it", async () => {
    const { status, headers, body } = await api(server, await world.tokenWith(["send"])).get("/memories");
    expect([status, headers.get("www-authenticate")]).toEqual([
      403,
      `${REALM()}, error="insufficient_scope", error_description="${body.error.message}", scope="memory:read"`,
    ]);
  });

  test("of a wrong password is about no token", async () => {
    const login = { email: "nobody@acme.example", password: "wrong" };
    const { status, headers } = await api(server, world.adminToken).post("/auth/login", login);
    expect([status, headers.get("www-authenticate")]).toEqual([401, BARE]);
  });

  test("has no place where the caller may not for another reason", async () => {
    const { status, headers } = await world.agent.get("/auth/session");
    expect([status, headers.get("www-authenticate")]).toEqual([403, null]);
  });
});

describe("an agent's route with a person's valid token", () => {
  const reason = "agent_identity_required";

  test.each(["/handoffs", "/handoffs/0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f/export"])(
    "says on %s that the token is valid and of whom it has to be",
    async (path) => {
      const { status, body, headers } = await world.admin.get(path);
      await refused({ status, body }, "authentication_failed", { reason });
      expect(headers.get("www-authenticate")).toBe(REALM());
      expect(body.error.message).toContain("valid");
      expect(ok(await world.admin.get("/auth/me"))).toMatchObject({ kind: "user" });
    },
  );

  test("is no reason for the client to sign in again", async () => {
    const { email, password } = ok(await world.admin.post("/users", { email: "ada@acme.example" }));
    const urls: string[] = [];
    const counted: typeof fetch = (input, init) => {
      urls.push(new URL(String(input)).pathname);
      return fetch(input, init);
    };
    const login = { email, password, tenant_slug: world.slug };
    const client = createClient({ url: server.url, authorize: byLogin(login), fetch: counted });
    await expect(client.handoffs.list()).rejects.toMatchObject({ status: 401, details: { reason } });
    expect(await client.auth.me()).toMatchObject({ kind: "user" });
    expect(urls).toEqual(["/v1/auth/login", "/v1/handoffs", "/v1/auth/me"]);
  });
});
