import { createPublicKey, type JsonWebKey } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import jwt from "jsonwebtoken";
import type { Caller } from "../../lib/access/caller.ts";
import { AgentModel } from "../../services/identity/agents/agents.model.ts";
import { TenantModel } from "../../services/identity/tenants/tenants.model.ts";
import { newErasing } from "../../services/identity/tenants/tenants.ts";
import { BlobWrite } from "../../storage/blobs/blobs.ts";
import { agentToken, api } from "../support/http.ts";
import { startIdentity } from "../support/node.ts";
import { atEnd, ownFolder } from "../support/own-folder.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused, signIn } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" } });
const operator = api(server, OPERATOR_TOKEN);

describe("the operator's tenants", () => {
  const ACME = { slug: "acme", name: "Acme", admin_email: "ada@acme.example" };

  test("come with an admin and an agent that work", async () => {
    const { status, body } = await operator.post("/tenants", ACME);
    expect([status, body]).toEqual([
      201,
      {
        tenant: {
          ...{ id: expect.stringMatching(/^tn_/), slug: "acme", name: "Acme", status: "active" },
          storage: { used_bytes: expect.any(Number), quota_bytes: 10_000_000_000 },
          ...{ storage_quota_mb: null, requests_per_minute: null, created_at: expect.any(String) },
          updated_at: expect.any(String),
        },
        admin: { email: ACME.admin_email, password: expect.any(String) },
        agent: { id: expect.stringMatching(/^ag_/), api_key: expect.stringMatching(/^ak_live_/) },
        ingest_url: server.root,
      },
    ]);
    const me = ok(await api(server, await signIn(server, body.admin, "acme")).get("/auth/me"));
    expect(me).toMatchObject({ user: { role: "admin" }, tenant: { id: body.tenant.id, slug: "acme" } });
    const agent = ok(await api(server, await agentToken(server, body.agent.api_key)).get("/auth/me"));
    expect(agent).toMatchObject({
      agent: { id: body.agent.id, owner_user_id: me.user.id },
      scopes: ["admin"],
    });
  });

  test.each<[string, object, number, string, string]>([
    ["a slug that is taken", ACME, 409, "conflict", "slug"],
    ["capitals in the slug", { ...ACME, slug: "Acme2" }, 400, "validation_failed", "slug"],
    ["a slug that ends in a hyphen", { ...ACME, slug: "acme-" }, 400, "validation_failed", "slug"],
    ["a slug of 64 letters", { ...ACME, slug: "a".repeat(64) }, 400, "validation_failed", "slug"],
    ["no e-mail", { slug: "x", name: "x" }, 400, "validation_failed", "admin_email"],
  ])("are not made with %s", async (_, body, status, code, field) => {
    const { total } = ok(await operator.get("/tenants"));
    expect(await operator.post("/tenants", body)).toMatchObject(refusal(status, code, { field }));
    expect(ok(await operator.get("/tenants")).total).toBe(total);
  });

  test("are made once for an Idempotency-Key, secrets included", async () => {
    const key = { "idempotency-key": "make-umbrella" };
    const umbrella = { slug: "umbrella", name: "Umbrella", admin_email: "ada@umbrella.example" };
    const first = await operator.post("/tenants", umbrella, key);
    const again = await operator.post("/tenants", umbrella, key);
    expect([first.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([
      201,
      201,
      "true",
    ]);
    expect(again.body).toEqual(first.body);
    const other = await operator.post("/tenants", { ...umbrella, slug: "other" }, key);
    await refused(other, "conflict", { idempotency_key: "make-umbrella" });
  });

  test("are erased with all they have, with a receipt that anyone can check", async () => {
    const [gone, stays] = [await makeWorld(server, "gone"), await makeWorld(server, "stays")];
    for (const kind of ["ag", "key", "usr", "team", "int", "ch", "feed", "evt"]) await gone.idOf(kind);
    const before = ok(await stays.admin.get("/agents"));
    const { status, body } = await operator.del(`/tenants/${gone.tenant_id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tenant_id: gone.tenant_id,
      erased: { agents: 2, api_keys: 2, users: 3, teams: 1 },
    });
    for (const collection of ["channels", "events", "interests"])
      expect(body.erased[collection]).toBeGreaterThan(0);
    const { keys } = ok(await api(server).get(`${server.root}/.well-known/jwks.json`));
    const publicKey = createPublicKey({ key: keys[0] as JsonWebKey, format: "jwk" });
    const { receipt, ...statement } = body;
    expect(jwt.verify(receipt, publicKey, { audience: "sensorium-receipt" })).toMatchObject(statement);
    expect((await api(server, receipt).get("/auth/me")).status).toBe(401);
    for (const caller of [gone.admin, gone.agent])
      await settle(async () => (await caller.get("/auth/me")).status === 401);
    await refused(operator.del(`/tenants/${gone.tenant_id}`), "not_found");
    await refused(operator.patch(`/tenants/${gone.tenant_id}`, { status: "active" }), "not_found");
    expect(ok(await stays.admin.get("/agents"))).toEqual(before);
    const again = await makeWorld(server, "gone");
    expect(ok(await again.admin.get("/agents")).total).toBe(1);
    const { tenants } = ok(await operator.get("/tenants?limit=200"));
    expect(tenants.map((tenant: { id: string }) => tenant.id)).not.toContain(gone.tenant_id);
  });
});

const node = await startIdentity(await ownFolder());
atEnd(node.stop);

describe("leftovers of a crash", () => {
  const ADMIN = { email: "a@b.example", password: "secret" };
  const told: string[] = [];
  const erased = async (tenant_id: string) => void told.push(tenant_id);
  const founding = (tenant_id: string, slug: string) => ({
    ...{ tenant_id, slug, name: slug, admin: ADMIN },
    api_key: `ak_live_${tenant_id.padEnd(32, "0").slice(0, 32)}`,
  });

  test("a routing version is raised or refused, never passed over", async () => {
    const { broker, runtime } = node;
    await broker.call("tenants.found", founding("tn_routed", "routed"));
    const version = () => broker.call<number, object>("tenants.routing_version", { tenant_id: "tn_routed" });
    const before = await version();
    const change = { tenant_id: "tn_routed", subject: "agent ag_1" };
    expect(await broker.call("tenants.bump_routing", change)).toBe(before + 1);
    expect(await version()).toBe(before + 1);
    await runtime.store.collection(TenantModel).delete("tn_routed", { _id: "tn_routed" });
    await expect(broker.call("tenants.bump_routing", change)).rejects.toMatchObject({ type: "not_found" });
  });

  test("a slug of a founding under way is not given away, of one that was left it is", async () => {
    const { broker, runtime } = node;
    const tenants = runtime.store.collection(TenantModel);
    await broker.call("tenants.found", founding("tn_left", "wanted"));
    const begun = (created_at: Date) =>
      tenants.update("tn_left", { _id: "tn_left" }, { $set: { status: "founding", created_at } });
    await begun(new Date());
    await expect(broker.call("tenants.found", founding("tn_next", "wanted"))).rejects.toMatchObject({
      type: "conflict",
    });
    await begun(new Date(Date.now() - 61_000));
    await broker.call("tenants.found", founding("tn_next", "wanted"));
    expect(await broker.call("tenants.by_slug", { slug: "wanted" })).toMatchObject({
      id: "tn_next",
      status: "active",
    });
    // The next sweep removes the rows of the abandoned tenant.
    const agents = runtime.store.collection(AgentModel);
    expect(await agents.count("tn_left", {})).toBe(1);
    await newErasing({ ...runtime, tenants }, erased)();
    expect(await agents.count("tn_left", {})).toBe(0);
    expect(await agents.count("tn_next", {})).toBe(1);
    await expect(broker.call("tenants.found", founding("tn_left", "other"))).rejects.toMatchObject({
      type: "conflict",
    });
  });

  test("an erasure that was interrupted goes on, and late writes go after a minute", async () => {
    const { broker, runtime } = node;
    const tenants = runtime.store.collection(TenantModel);
    const agents = runtime.store.collection(AgentModel);
    await broker.call("tenants.found", founding("tn_half", "half"));
    const due = { erase_due_at: new Date(Date.now() - 1) };
    told.length = 0;
    const { hash } = await runtime.blobs.put(new BlobWrite("tn_half"), Buffer.from("a document"));
    await tenants.update("tn_half", { _id: "tn_half" }, { $set: { status: "erasing", ...due } });
    await newErasing({ ...runtime, tenants }, erased)();
    expect(await tenants.findOne("tn_half", {})).toMatchObject({
      ...{ status: "erased", slug: "tn_half", name: "" },
    });
    expect(await agents.count("tn_half", {})).toBe(0);
    // The interrupted erasure may not have notified holders of data outside the store.
    expect(told).toEqual(["tn_half"]);
    await expect(runtime.blobs.get("tn_half", hash)).rejects.toThrow("has no blob");
    await broker.call("agents.insert_first", {
      ...{ tenant_id: "tn_half", agent_id: "ag_late", owner_user_id: "usr_x" },
    });
    await newErasing({ ...runtime, tenants }, erased)();
    expect(await agents.count("tn_half", {})).toBe(1);
    await tenants.update("tn_half", { _id: "tn_half" }, { $set: due });
    await newErasing({ ...runtime, tenants }, erased)();
    expect(await agents.count("tn_half", {})).toBe(0);
    expect(await tenants.findOne("tn_half", {})).not.toHaveProperty("erase_due_at");
    expect(told).toEqual(["tn_half", "tn_half"]);
  });

  test("an erasure that fails stops no other, and is tried again", async () => {
    const { broker, runtime } = node;
    const tenants = runtime.store.collection(TenantModel);
    for (const name of ["stuck", "other"]) {
      const _id = `tn_${name}`;
      await broker.call("tenants.found", founding(_id, name));
      const $set = { status: "erasing", erase_due_at: new Date(Date.now() - 1) } as const;
      await tenants.update(_id, { _id }, { $set });
    }
    const blobs = {
      erase: async (tenant_id: string) => {
        if (tenant_id === "tn_stuck") throw new Error("a disk");
        return runtime.blobs.erase(tenant_id);
      },
    };
    told.length = 0;
    const erasing = newErasing({ ...runtime, tenants, blobs: blobs as never }, erased)();
    await expect(erasing).rejects.toThrow("tn_stuck tn_stuck: a disk");
    expect(told).toEqual(["tn_other"]);
    await tenants.update("tn_stuck", {}, { $set: { erase_due_at: new Date(Date.now() - 1) } });
    await newErasing({ ...runtime, tenants }, erased)();
    expect(await tenants.findOne("tn_stuck", {})).toMatchObject({ status: "erased" });
  });

  test("a creation that is tried again under its key makes the same, secrets included", async () => {
    const { broker } = node;
    const meta = (idempotency_seed: string) => ({ meta: { idempotency_seed, caller: adminOf("tn_next") } });
    const twice = async (action: string, params: object) => {
      const [first, again, other] = [
        await broker.call(action, params, meta(`${action} one`)),
        await broker.call(action, params, meta(`${action} one`)),
        await broker.call(action, { ...params, ...differently[action] }, meta(`${action} two`)),
      ] as [{ id: string }, { id: string }, { id: string }];
      expect(again).toEqual(first);
      expect(other).not.toEqual(first);
      return first;
    };
    const differently: Record<string, object> = {
      "teams.create": { name: "another" },
      "users.create": { email: "other@b.example" },
      "tenants.create": { slug: "second" },
    };
    const agent = (await twice("agents.create", { name: "a", delivery_mode: "poll" })) as { id: string };
    await twice("keys.create", { agent_id: agent.id, scopes: ["send"] });
    await twice("agents.rotate_signing_secret", { agent_id: agent.id });
    await twice("teams.create", { name: "a team" });
    await twice("users.create", { email: "once@b.example" });
    await twice("tenants.create", { slug: "first", name: "First", admin_email: "f@b.example" });
  });

  test("pushes are signed with both secrets for a day, then with the new one", async () => {
    const { broker, runtime } = node;
    const caller = adminOf("tn_next");
    type Made = { id: string; signing_secret: string };
    const call = (action: string, params: object) =>
      broker.call<Made, object>(action, params, { meta: { caller } });
    const made = await call("agents.create", { name: "s", delivery_mode: "push" });
    const key = { tenant_id: "tn_next", agent_id: made.id };
    const secrets = () => broker.call("agents.signing_secrets", key);
    expect(await secrets()).toEqual([made.signing_secret]);
    const rotate = async () =>
      (await call("agents.rotate_signing_secret", { agent_id: made.id })).signing_secret;
    const second = await rotate();
    expect(await secrets()).toEqual([second, made.signing_secret]);
    const rotated = await Promise.all([rotate(), rotate()]);
    const [newest, previous] = (await secrets()) as string[];
    expect(new Set(rotated)).toEqual(new Set([newest, previous]));
    const agents = runtime.store.collection(AgentModel);
    const stored = await agents.findOne(key.tenant_id, { _id: made.id });
    expect(JSON.stringify(stored)).not.toContain(newest);
    const ended = stored?.signing_secrets.map((secret, i) =>
      i === 0 ? secret : { ...secret, ends_at: new Date() },
    );
    await agents.update(key.tenant_id, { _id: made.id }, { $set: { signing_secrets: ended as never } });
    expect(await secrets()).toEqual([newest]);
  });
});

function adminOf(tenant_id: string): Caller {
  return {
    ...{ kind: "user", tenant_id, user_id: "usr_tester", role: "admin", scopes: ["admin"] },
    ...{ token_version: 1, session_id: "sid_tester", token_id: "jti_tester", expires_at: 0 },
  };
}
