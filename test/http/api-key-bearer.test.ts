import { describe, expect, test } from "@jest/globals";
import { hashApiKey } from "../../lib/access/api-key.ts";
import { agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

// An API key as the bearer token itself: for clients that send one header for as long as they live.

const ATTEMPTS = 5;

const env = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "500", PUBLIC_FAILURES_PER_MINUTE: String(ATTEMPTS) };
const server = await useServer({ env: { ...env, TRUST_PROXY: "127.0.0.1", LOG_LEVEL: "debug" } });
const world = await makeWorld(server, "acme");

async function newKey(scopes: string[], fields: object = {}) {
  const { id: agent_id } = ok(await world.admin.post("/agents", { name: "sdk", delivery_mode: "poll" }));
  const { id, key } = ok(await world.admin.post(`/agents/${agent_id}/keys`, { scopes, ...fields }));
  return { agent_id, id, key: key as string, caller: api(server, key) };
}

/** Sends a request from a separate address, so that its failures count for no other test. */
const from = (address: string, token: string) =>
  api(server, token).get("/auth/me", { "x-forwarded-for": address });

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
    const answer = await api(server).get("/auth/me", { authorization: "Bearer none" });
    await refused(answer, "authentication_failed");
  }

  test("once it is revoked", async () => {
    const { agent_id, id, key } = await newKey(["send"]);
    const me = () => from("203.0.113.1", key);
    expect((await me()).status).toBe(200);
    expect((await world.admin.del(`/agents/${agent_id}/keys/${id}`)).status).toBe(204);
    await expectRefused(me);
    const { headers } = await me();
    expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  test("once its agent is inactive", async () => {
    const { agent_id, key } = await newKey(["send"]);
    const me = () => from("203.0.113.2", key);
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

describe("keys that are guessed", () => {
  const guess = (n: number) => `ak_live_${String(n).padStart(32, "x")}`;

  test("are limited by address; good ones are not, whether or not they are known there", async () => {
    const here = "203.0.113.3";
    for (let n = 0; n < ATTEMPTS; n++) await refused(from(here, guess(n)), "authentication_failed");
    await refused(from(here, guess(99)), "rate_limited");
    expect((await from(here, (await newKey(["send"])).key)).status).toBe(200);
    await refused(from("203.0.113.4", guess(99)), "authentication_failed");
  });

  test("appear in no log", async () => {
    const { key } = await newKey(["send"]);
    expect((await from("203.0.113.5", key)).status).toBe(200);
    expect((await from("203.0.113.5", guess(7))).status).toBe(401);
    await settle(() => /"status":401,.*"ip":"203.0.113.5"/.test(server.logs()), { what: "both are logged" });
    expect([key, guess(7), hashApiKey(key)].filter((secret) => server.logs().includes(secret))).toEqual([]);
  });
});

// POST /auth/token as OAuth 2.0 has it (RFC 6749, section 4.4): libraries of many languages speak nothing else.

const UNKNOWN = `ak_live_${"x".repeat(32)}`;

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
