/** @alone: kills the process, and looks into its files. */
import { expect, test } from "@jest/globals";
import { firstAgent } from "../../../../test/support/agents.ts";
import { newCli } from "../../../../test/support/cli.ts";
import { type Api, api } from "../../../../test/support/http.ts";
import { heldIn } from "../../../../test/support/kept-bytes.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, signIn } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" } });
const operator = api(server, OPERATOR_TOKEN);
const agent = await firstAgent(server);

type Demo = { tenant: { id: string; slug: string }; person: { email: string; password: string } };

const tenants = async () =>
  (ok(await operator.get("/tenants")).tenants as { id: string; slug: string }[]).map(({ id }) => id);
const demos = async () => (await tenants()).filter((id) => id.startsWith("tn_demo-"));
const inside = async ({ person, tenant }: Demo) => api(server, await signIn(server, person, tenant.slug));
const remove = async () => ok(await agent.del("/demo"));

/** The contents of a whole demonstration. */
async function expectStory(admin: Api): Promise<void> {
  const { agents } = ok(await admin.get("/agents?include=delivery"));
  const names = agents.map(({ name }: { name: string }) => name).sort();
  expect(names).toEqual(["billing", "marketing", "support", "warehouse", "web-shop"]);
  for (const { delivery } of agents) expect(delivery.last_seen_at).not.toBeNull();
  const { events } = ok(await admin.get("/events?include_service=false&limit=50"));
  const outcomes = events.map(
    ({ payload, outcome }: { payload: { id: string; type: string }; outcome: string }) =>
      payload.type === "com.carrier.parcel.handed_over" ? `parcel ${outcome}` : `${payload.id} ${outcome}`,
  );
  expect(outcomes.sort()).toEqual([
    ...["newsletter-2211 none", "order-1841 done", "order-1842 done", "order-1843 done", "order-1844 dead"],
    ...["order-1845 done", "order-1846 done", "parcel done", "review-77 pending"],
  ]);
  const { items } = ok(await admin.get("/delivery/dlq"));
  expect(items).toMatchObject([{ dlq_reason: expect.stringContaining("does not know lamp-99") }]);
  const { webhooks } = ok(await admin.get("/ingest/webhooks"));
  expect(webhooks).toMatchObject([{ source: "carrier", last_request: { outcome: "accepted" } }]);
  const found = ok(await admin.get("/memories?include_superseded=true&limit=50"));
  expect(found.total).toBe(7);
  const policy = found.memories.find(({ content }: { content: string }) => content.includes("60 days"));
  expect(ok(await admin.get(`/memories/${policy.id}/history`)).versions).toHaveLength(3);
  expect(ok(await admin.get(`/memories/${policy.id}/relationships`)).relationships).not.toEqual([]);
  const runs = ok(await admin.get("/runs"));
  expect(runs).toMatchObject([{ goal: expect.stringContaining("lamp-44"), status: "active" }]);
  const { steps } = ok(await admin.get(`/runs/${runs[0].id}`));
  expect(steps.map(({ status }: { status: string }) => status).join(" ")).toBe(
    "completed completed in_progress ready blocked blocked",
  );
  const { approvals } = ok(await admin.get("/approvals"));
  expect(approvals).toMatchObject([{ status: "open", on_deadline: "reject" }]);
  const { evidence } = ok(await admin.get(`/approvals/${approvals[0].id}/evidence`));
  expect(evidence).toMatchObject([{ kind: "event" }, { kind: "memory" }, { kind: "memory" }]);
  const isStored = async () => {
    const { documents } = ok(await admin.get("/documents"));
    return documents.length === 1 && documents[0].status === "stored";
  };
  await settle(isStored, { what: "the handbook", within: 60_000 });
}

const TEXTS = {
  event: "One of the two lamps arrived broken. I would like my money back.",
  memory: "Pack each shade by itself.",
  document: "support then calls the customer",
  reason: "the stock service does not know",
  name: "Northwind (demonstration)",
};

test("fills a separate organisation, once, and removes it whole", async () => {
  const other = await makeWorld(server, "other");
  const kept = { title: "Kept", content: "Stays where it is.", type: "semantic", scope: "institutional" };
  ok(await other.agent.post("/memories", kept));
  const before = await tenants();
  expect(ok(await agent.get("/demo"))).toEqual({ tenant: null, own: false });

  const demo = ok(await agent.post("/demo"));
  expect(demo.made.length).toBeGreaterThan(5);
  const admin = await inside(demo);
  await expectStory(admin);
  expect(ok(await agent.post("/demo"))).toEqual(demo);
  await expectStory(admin);
  expect(ok(await agent.get("/demo")).tenant.id).toBe(demo.tenant.id);
  expect(ok(await agent.get("/memories?include_superseded=true")).total).toBe(0);
  expect(ok(await other.agent.get("/memories")).total).toBe(1);

  expect(await remove()).toMatchObject({ tenant_id: demo.tenant.id });
  expect(await remove()).toEqual({ tenant_id: null, erased: 0 });
  expect(await tenants()).toEqual(before);
  expect((await admin.get("/agents")).status).toBe(401);
  // Late writes of the service are erased a minute later.
  const isGone = async () => (await heldIn(server.dataDir, TEXTS)).length === 0;
  await settle(isGone, { what: "the end of all texts", within: 120_000 });
  expect(ok(await other.agent.get("/memories")).memories).toMatchObject([kept]);
}, 300_000);

test("is one for each organisation, and removes itself", async () => {
  const [own, other] = [await makeWorld(server, "one"), await makeWorld(server, "two")];
  const [first, second] = [ok(await own.admin.post("/demo")), ok(await other.admin.post("/demo"))];
  expect(first.tenant.id).not.toBe(second.tenant.id);
  const admin = await inside(first);
  expect(ok(await admin.get("/demo"))).toEqual({ tenant: null, own: true });
  await refused(admin.post("/demo"), "conflict");
  expect(ok(await admin.del("/demo")).tenant_id).toBe(first.tenant.id);
  expect(await demos()).toEqual([second.tenant.id]);
  expect(ok(await other.admin.del("/demo")).tenant_id).toBe(second.tenant.id);
});

test("never removes another organisation with the slug of one", async () => {
  const own = await makeWorld(server, "namesake");
  const { tenant } = ok(await own.admin.post("/demo"));
  ok(await own.admin.del("/demo"));
  const { slug } = tenant;
  const namesake = ok(await operator.post("/tenants", { slug, name: slug, admin_email: "ada@example.com" }));
  expect(ok(await own.admin.get("/demo")).tenant).toBeNull();
  expect(ok(await own.admin.del("/demo")).tenant_id).toBeNull();
  await refused(own.admin.post("/demo"), "conflict");
  expect(await tenants()).toContain(namesake.tenant.id);
});

test.each(["completed", "removed"])("one that was interrupted by a crash can be %s", async (wanted) => {
  await remove();
  const begun = agent.post("/demo").catch(() => null);
  await settle(async () => ok(await agent.get("/demo")).tenant !== null, { what: "the tenant" });
  await server.kill();
  await begun;
  await server.restart();
  if (wanted === "completed") await expectStory(await inside(ok(await agent.post("/demo"))));
  expect((await remove()).tenant_id).not.toBeNull();
  expect(ok(await agent.get("/demo")).tenant).toBeNull();
});

test("the command line says what was made and how to sign in, and removes it", async () => {
  await using cli = newCli({
    SENSORIUM_URL: server.root,
    SENSORIUM_API_KEY: server.credentials.agent.api_key,
  });
  const said = await cli.done("demo");
  const { tenant, person } = ok(await agent.post("/demo"));
  for (const each of ["a dead letter", `${server.root}/dead-letters`, person.email, person.password])
    expect(said).toContain(each);
  expect(await cli.json("demo", "--json")).toMatchObject({ tenant });
  expect(await cli.done("demo", "--remove")).toMatch(/^Removed the demonstration with its \d+ rows\.$/m);
  expect(await cli.done("demo", "--remove")).toContain("There is no demonstration to remove.");
});
