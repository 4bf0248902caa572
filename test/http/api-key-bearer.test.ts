import { describe, expect, test } from "@jest/globals";
import { hashApiKey } from "../../lib/access/api-key.ts";
import { agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused } from "../support/tenancy.ts";
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
    const me = () => from("192.0.2.1", key);
    expect((await me()).status).toBe(200);
    expect((await world.admin.del(`/agents/${agent_id}/keys/${id}`)).status).toBe(204);
    await expectRefused(me);
    const { headers } = await me();
    expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  test("once its agent is inactive", async () => {
    const { agent_id, key } = await newKey(["send"]);
    const me = () => from("192.0.2.2", key);
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
    const here = "192.0.2.3";
    for (let n = 0; n < ATTEMPTS; n++) await refused(from(here, guess(n)), "authentication_failed");
    await refused(from(here, guess(99)), "rate_limited");
    expect((await from(here, (await newKey(["send"])).key)).status).toBe(200);
    await refused(from("192.0.2.4", guess(99)), "authentication_failed");
  });

  test("appear in no log", async () => {
    const { key } = await newKey(["send"]);
    expect((await from("192.0.2.5", key)).status).toBe(200);
    expect((await from("192.0.2.5", guess(7))).status).toBe(401);
    await settle(() => /"status":401,.*"ip":"192.0.2.5"/.test(server.logs()), { what: "both are logged" });
    expect([key, guess(7), hashApiKey(key)].filter((secret) => server.logs().includes(secret))).toEqual([]);
  });
});
