import { expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { REMOVED } from "../support/record.ts";
import { ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);

const SCOPES = ["send", "receive", "memory:read", "memory:write"];
const agent = (name: string) => agentIn(server, cast.admin, { name }, SCOPES);
const audit = async (action: string) =>
  ok(await cast.orgAdmin.get(`/audit?action=${action}&limit=1`)).entries[0];

test("an agent is deleted with what is its own; what it shared stays", async () => {
  const { orgAdmin, bob } = cast;
  const leaver = await agent("leaver");
  const own = await remember(leaver, { scope: "agent" });
  const shared = await remember(leaver, { scope: "institutional" });
  ok(await leaver.post("/handoffs", { name: "next", summary: "s" }));
  ok(await cast.orgAdmin.post(`/agents/${leaver.id}/interests`, { event_type: "com.example.*" }));
  const event = { type: "com.example.tick" };
  ok(await leaver.post("/schedules", { name: "yearly", cron: "0 0 1 1 *", event }));

  const done = ok(await orgAdmin.del(`/agents/${leaver.id}`));
  expect(done).toMatchObject({ id: leaver.id, storage: REMOVED, receipt: expect.any(String) });
  expect(done.erased).toMatchObject({
    ...{ memories: 1, handoffs: 1, interests: 1, schedules: 1, api_keys: 1 },
  });
  expect((await leaver.get("/memories")).status).toBe(401);
  expect((await orgAdmin.get(`/agents/${leaver.id}`)).status).toBe(404);
  expect((await orgAdmin.get(`/memories/${own.id}`)).status).toBe(404);
  expect(ok(await bob.get(`/memories/${shared.id}`)).id).toBe(shared.id);
  expect(await audit("agents.delete")).toMatchObject({ resource_id: leaver.id, outcome: "done" });
  await refused(orgAdmin.del(`/agents/${leaver.id}`), "not_found");
});

test("what it shared is erased on demand; neither an agent nor a person deletes itself", async () => {
  const { orgAdmin } = cast;
  const leaver = await agent("leaver");
  const shared = await remember(leaver, { scope: "institutional" });
  ok(await orgAdmin.del(`/agents/${leaver.id}?shared=erase`));
  expect((await cast.bob.get(`/memories/${shared.id}`)).status).toBe(404);
  const admin = await agentIn(server, cast.admin, { name: "admin" }, ["admin"]);
  await refused(admin.del(`/agents/${admin.id}`), "business_rule_violation");
  expect((await admin.get(`/agents/${admin.id}`)).status).toBe(200);
  const me = ok(await orgAdmin.get("/auth/me")).user;
  await refused(orgAdmin.del(`/users/${me.id}`), "business_rule_violation");
});

test("a person is deleted, and the agents get another owner", async () => {
  const { orgAdmin } = cast;
  const { tenant_slug } = server.credentials;
  const invite = async (email: string, role = "member") =>
    ok(await orgAdmin.post("/users", { email, role })) as { id: string; email: string; password: string };
  const [leaver, next] = [await invite("leaver@example.com", "admin"), await invite("next@example.com")];
  const token = await signIn(server, leaver, tenant_slug);
  const owned = await agentIn(server, cast.admin, { name: "owned", owner_user_id: leaver.id }, SCOPES);
  await refused(orgAdmin.del(`/users/${leaver.id}?agents_to=${leaver.id}`), "validation_error");
  const question = { title: "Refund?", question: "The cup is broken." };
  const { id } = ok(await owned.post("/approvals", { ...question, assignees: [leaver.id] }));
  ok(await api(server, token).post(`/approvals/${id}/answer`, { choice: "approve", text: "I saw it." }));
  const done = ok(await orgAdmin.del(`/users/${leaver.id}?agents_to=${next.id}`));
  expect(done).toMatchObject({ id: leaver.id, receipt: expect.any(String) });
  expect(ok(await owned.get(`/approvals/${id}`))).toMatchObject({ choice: "approve", text: null });
  await expect(signIn(server, leaver, tenant_slug)).rejects.toThrow();
  expect(ok(await orgAdmin.get(`/agents/${owned.id}`)).owner_user_id).toBe(next.id);
  expect(ok(await orgAdmin.get("/users?search=leaver@")).total).toBe(0);
  expect(await audit("users.delete")).toMatchObject({ resource_id: leaver.id, outcome: "done" });
});
