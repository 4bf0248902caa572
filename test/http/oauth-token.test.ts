import { describe, expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

// POST /auth/token as OAuth 2.0 has it (RFC 6749, section 4.4): libraries of many languages speak nothing else.

const ATTEMPTS = 5;
const UNKNOWN = `ak_live_${"x".repeat(32)}`;

const env = {
  ...{ OPERATOR_TOKEN, PUBLIC_FAILURES_PER_MINUTE: String(ATTEMPTS), TRUST_PROXY: "127.0.0.1" },
  EMBEDDER: "none",
};
const server = await useServer({ env });
const world = await makeWorld(server, "acme");
const agent_id = ok(await world.admin.post("/agents", { name: "sdk", delivery_mode: "poll" })).id;
const scopes = ["send", "memory:read"];
const key = ok(await world.admin.post(`/agents/${agent_id}/keys`, { scopes })).key;

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
    ["an unknown key", { ...GRANT, client_id: "a", client_secret: UNKNOWN }, {}],
    ["what is no key", { ...GRANT, client_id: "a", client_secret: "hunter2" }, {}],
    ["no key", GRANT, {}],
    ["an unknown key by HTTP Basic", GRANT, basic("a", UNKNOWN)],
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
    ["no grant", { client_secret: UNKNOWN }, "invalid_request"],
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
    const wrong = { ...GRANT, client_id: "a", client_secret: UNKNOWN };
    for (let n = 0; n < ATTEMPTS; n++) expect((await ask(wrong, here)).status).toBe(401);
    const { status, body, headers } = await ask(wrong, here);
    expect([status, body.error]).toEqual([429, "temporarily_unavailable"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    ok(await ask({ ...wrong, client_secret: key }, here));
  });
});

test("the exchange by JSON says the same, and has the envelope of every error", async () => {
  const { body } = await api(server).post("/auth/token", { api_key: key });
  expect(body).toMatchObject({ expires_in: expect.any(Number), scope: "send memory:read" });
  const refused = await api(server).post("/auth/token", { api_key: UNKNOWN });
  expect(refused).toMatchObject(refusal(401, "authentication_failed"));
});

test("the exchange by JSON of another media type says which are taken", async () => {
  const answer = await api(server).post("/auth/token", "<a/>", { "content-type": "text/xml" });
  const expected = ["application/json", "application/x-www-form-urlencoded"];
  await refused(answer, "unsupported_media_type", { expected });
});
