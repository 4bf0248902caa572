import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { type Answer, api } from "../support/http.ts";
import { connectMcp } from "../support/mcp.ts";
import { settle } from "../support/settle.ts";
import { ABSENT, makeWorld, OPERATOR_TOKEN, ok, type World } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";
import { order, register, SHOP, send, serviceHeaders } from "../support/webhooks.ts";

const MARKDOWN = { "content-type": "text/markdown" };
const KB = 1000;
/** Of every tenant here, unless the operator gives it another. */
const QUOTA = 2_000 * KB;

const env = { OPERATOR_TOKEN, TENANT_STORAGE_MB: "2", RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
const server = await useServer({ env });
const operator = api(server, OPERATOR_TOKEN);

let texts = 0;
/** A text that no other call gives. */
const text = (bytes: number) => `# Text ${++texts}\n`.padEnd(bytes, `${texts} `);
const memory = () => ({
  ...{ title: `Memory ${++texts}`, content: `It is number ${texts}.`, type: "semantic", scope: "agent" },
});
const save = ({ agent }: World, bytes: number) => agent.post("/outputs", text(bytes), MARKDOWN);
const setQuota = async ({ tenant_id }: World, storage_quota_mb: number | null) =>
  ok(await operator.patch(`/tenants/${tenant_id}`, { storage_quota_mb }));
const event = (id: string) => ({ specversion: "1.0", id, type: "com.example.full", source: "/quota" });

function expectRefused({ status, body }: Answer, quota_bytes = QUOTA): void {
  expect([status, body]).toMatchObject([
    422,
    {
      error: {
        code: "business_rule_violation",
        details: { rule: "storage_quota", used_bytes: expect.any(Number), quota_bytes },
      },
    },
  ]);
}

const acme = await makeWorld(server, "acme");

describe("what a tenant stores", () => {
  test("is counted, shown to its admins and the operator, and summed up for monitoring", async () => {
    const before = ok(await acme.admin.get("/stats")).storage.used_bytes;
    ok(await save(acme, 400 * KB));
    const storage = await settle(async () => {
      const now = ok(await acme.admin.get("/stats")).storage;
      return now.used_bytes >= before + 400 * KB && now;
    });
    expect(storage.quota_bytes).toBe(QUOTA);
    expect(storage.used_bytes).toBeLessThan(before + 1500 * KB);
    expect(ok(await acme.member.get("/stats")).storage).toBe(null);
    expect(ok(await acme.member.get("/limits")).storage.quota_bytes).toBe(QUOTA);
    await settle(async () => {
      const { tenants } = ok(await operator.get("/tenants"));
      const shown = tenants.find(({ slug }: { slug: string }) => slug === "acme");
      return shown.storage_quota_mb === null && shown.storage.used_bytes >= 400 * KB;
    });
    // A new tenant is in the sum once the node has written its first count.
    await settle(async () => {
      const sum = /^sensorium_storage_bytes\{of="tenants"\} (\d+)/m.exec(await server.metrics())?.[1];
      return Number(sum) > 400 * KB;
    });
    expect(await server.metrics()).toMatch(/^sensorium_tenants_over_quota\{quota="storage"\} \d+$/m);
  });

  test("is bounded as the operator says", async () => {
    expect(await setQuota(acme, 50)).toMatchObject({
      ...{ storage: { quota_bytes: 50_000 * KB }, storage_quota_mb: 50, status: "active" },
    });
    expect(await setQuota(acme, 0)).toMatchObject({ storage: { quota_bytes: null } });
    expect(await setQuota(acme, null)).toMatchObject({
      storage: { quota_bytes: QUOTA },
      storage_quota_mb: null,
    });
    const { status, body } = await operator.patch(`/tenants/${acme.tenant_id}`, { storage_quota_mb: -1 });
    expect([status, body.error.details.field]).toEqual([400, "storage_quota_mb"]);
  });
});

const beta = await makeWorld(server, "beta");

describe("an upload beyond the quota", () => {
  test("is refused with the figures, whether or not it says how long it is", async () => {
    expectRefused(await save(beta, 2_100 * KB));
    const token = await beta.tokenWith(["memory:write"]);
    const body = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 21; n++) controller.enqueue(new TextEncoder().encode(text(100 * KB)));
        controller.close();
      },
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const headers = { authorization: `Bearer ${token}`, ...MARKDOWN };
    const streamed = await fetch(`${server.url}/outputs`, { ...init, headers });
    expectRefused({ status: streamed.status, headers: streamed.headers, body: await streamed.json() });
    const file_content = Buffer.from(text(2_100 * KB)).toString("base64");
    const file = { filename: "long.txt", mime_type: "text/plain", file_content };
    expectRefused(await beta.agent.post("/documents", file));
    expect(ok(await beta.agent.get("/outputs")).outputs).toEqual([]);
  });

  test("of two at once that do not fit together, one is refused", async () => {
    const both = await Promise.all([save(beta, 1_100 * KB), save(beta, 1_100 * KB)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 422]);
  });

  test("takes nothing from another tenant", async () => {
    const other = await makeWorld(server, "gamma");
    expect((await save(other, 1_100 * KB)).status).toBe(201);
  });
});

const delta = await makeWorld(server, "delta");
ok(await delta.agent.post(`/agents/${delta.agentId}/interests`, { event_type: "com.example.*" }));
const hook = await register(delta.admin, SHOP);
ok(await delta.agent.post("/events", event("one")));
const memory_id = ok(await delta.agent.post("/memories", memory())).id;
ok(await save(delta, 1_500 * KB));
await setQuota(delta, 1);

describe("a tenant over its quota", () => {
  test.each<[string, (world: World) => Promise<Answer>]>([
    ["an event", ({ agent }) => agent.post("/events", event("two"))],
    ["a memory", ({ agent }) => agent.post("/memories", memory())],
    ["a change of a memory", ({ agent }) => agent.patch(`/memories/${memory_id}`, { content: "Longer." })],
    ["an output", (world) => save(world, 10)],
    ["a handoff", ({ agent }) => agent.post("/handoffs", { name: "n", summary: "s" })],
    ["a run", ({ agent }) => agent.post("/runs", { template_slug: "none" })],
    ["a webhook", () => send(hook, order(), serviceHeaders(hook.signing_secret, order()))],
  ])("stores no more: %s is refused", async (_what, call) => {
    expectRefused(await call(delta), 1_000 * KB);
  });

  test("refuses each of a batch, and what a tool of MCP would store", async () => {
    const batch = { "content-type": "application/cloudevents-batch+json" };
    expectRefused(await delta.agent.post("/events", JSON.stringify([event("three")]), batch), 1_000 * KB);
    await using mcp = await connectMcp(server, delta.adminToken);
    const { code, details } = await mcp.refused("memories_create", memory());
    expect([code, details.rule]).toEqual(["business_rule_violation", "storage_quota"]);
  });

  test("reads, searches, receives, acknowledges, deletes and signs in", async () => {
    const { agent, admin } = delta;
    ok(await agent.get(`/memories/${memory_id}`));
    ok(await agent.post("/memories/search", { query: "anything" }));
    const [delivery] = await settle(async () => {
      const { deliveries } = ok(await agent.get("/delivery/poll?wait=5"));
      return deliveries.length > 0 && deliveries;
    });
    ok(await agent.post("/delivery/ack", { delivery_ids: [delivery.id] }));
    expect((await agent.del(`/documents/${ABSENT}?source_id=${ABSENT}`)).status).toBe(200);
    ok(await admin.patch(`/agents/${delta.agentId}/status`, { status: "active" }));
    const invited = await admin.patch("/users/usr_00000000000000000000", { role: "member" });
    expect(invited.status).toBe(404);
    expect(await delta.tokenWith([]).catch((err: Error) => err.message)).toContain("storage_quota");
  });

  test("stores again what fits when something was deleted", async () => {
    const epsilon = await makeWorld(server, "epsilon");
    await setQuota(epsilon, 1);
    const remember = () => epsilon.agent.post("/memories", { ...memory(), content: text(30 * KB) });
    const ids: string[] = [];
    for (let answer = await remember(); answer.status === 201; answer = await remember())
      ids.push(answer.body.id);
    expect(ids.length).toBeGreaterThan(3);
    ok(await epsilon.admin.post("/memories/erase", { ids }));
    await settle(async () => (await remember()).status === 201);
  });

  test("carries out under the same key what was refused, once there is space", async () => {
    const key = { "idempotency-key": createHash("md5").update("quota").digest("hex") };
    const remembered = memory();
    expectRefused(await delta.agent.post("/memories", remembered, key), 1_000 * KB);
    await setQuota(delta, 50);
    const answer = await settle(async () => {
      const now = await delta.agent.post("/memories", remembered, key);
      return now.status === 201 && now;
    });
    expect(answer.headers.get("idempotency-replayed")).toBe(null);
  });
});
