/** @alone: kills the process, and looks into its files. */
import { expect, test } from "@jest/globals";
import { firstAgent } from "../../../../test/support/agents.ts";
import { newCli } from "../../../../test/support/cli.ts";
import { type Api, api } from "../../../../test/support/http.ts";
import { heldIn } from "../../../../test/support/kept-bytes.ts";
import { settle } from "../../../../test/support/settle.ts";
import {
  makeWorld,
  OPERATOR_TOKEN,
  ok,
  refused,
  signIn,
  type World,
} from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" } });
const operator = api(server, OPERATOR_TOKEN);
const agent = await firstAgent(server);

type Demo = { tenant: { id: string; slug: string }; person: { email: string; password: string } };

const tenants = async () =>
  (ok(await operator.get("/tenants")).tenants as { id: string; slug: string }[]).map(({ id }) => id);
const demos = async () => (await tenants()).filter((id) => id.startsWith("tn_demo-"));
const inside = async ({ person, tenant }: Demo) => api(server, await signIn(server, person, tenant.slug));

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

test("fills a separate organisation, once, says how to sign in, and removes it whole", async () => {
  await using cli = newCli({
    SENSORIUM_URL: server.root,
    SENSORIUM_API_KEY: server.credentials.agent.api_key,
  });
  const other = await makeWorld(server, "other");
  const kept = { title: "Kept", content: "Stays where it is.", type: "semantic", scope: "institutional" };
  ok(await other.agent.post("/memories", kept));
  const before = await tenants();
  expect(ok(await agent.get("/demo"))).toEqual({ tenant: null, own: false });

  const said = await cli.done("demo");
  const demo = ok(await agent.post("/demo"));
  expect(demo.made.length).toBeGreaterThan(5);
  const { email, password } = demo.person;
  for (const each of ["a dead letter", `${server.root}/dead-letters`, email, password])
    expect(said).toContain(each);
  const admin = await inside(demo);
  await expectStory(admin);
  expect(await cli.json("demo")).toMatchObject({ tenant: demo.tenant });
  expect(ok(await agent.post("/demo"))).toEqual(demo);
  await expectStory(admin);
  expect(ok(await agent.get("/demo")).tenant.id).toBe(demo.tenant.id);
  expect(ok(await agent.get("/memories?include_superseded=true")).total).toBe(0);
  expect(ok(await other.agent.get("/memories")).total).toBe(1);
  expect(ok(await admin.get("/demo"))).toEqual({ tenant: null, own: true });
  await refused(admin.post("/demo"), "conflict");

  expect(await cli.done("demo", "--remove")).toMatch(/^Removed the demonstration with its \d+ rows\.$/m);
  expect(ok(await agent.del("/demo"))).toEqual({ tenant_id: null, erased: 0 });
  expect(await cli.done("demo", "--remove")).toContain("There is no demonstration to remove.");
  expect(await tenants()).toEqual(before);
  expect((await admin.get("/agents")).status).toBe(401);
  // Late writes of the service are erased a minute later.
  const isGone = async () => (await heldIn(server.dataDir, TEXTS)).length === 0;
  await settle(isGone, { what: "the end of all texts", within: 120_000 });
  expect(ok(await other.agent.get("/memories")).memories).toMatchObject([kept]);
}, 300_000);

test("of each organisation, one that a crash interrupted is completed or removed; the first takes no other's place", async () => {
  const [own, other] = [await makeWorld(server, "one"), await makeWorld(server, "two")];
  const begun = [own, other].map(({ admin }) => admin.post("/demo").catch(() => null));
  const isBegun = async ({ admin }: World) => ok(await admin.get("/demo")).tenant !== null;
  await settle(async () => (await isBegun(own)) && (await isBegun(other)), { what: "the tenants" });
  await server.kill();
  await Promise.all(begun);
  await server.restart();
  const first = ok(await own.admin.post("/demo"));
  const admin = await inside(first);
  await expectStory(admin);
  expect(ok(await other.admin.del("/demo")).tenant_id).not.toBeNull();
  expect(ok(await other.admin.get("/demo")).tenant).toBeNull();
  expect(await demos()).toEqual([first.tenant.id]);

  // It removes itself, and never another organisation with its slug.
  expect(ok(await admin.del("/demo")).tenant_id).toBe(first.tenant.id);
  const { slug } = first.tenant;
  const namesake = ok(await operator.post("/tenants", { slug, name: slug, admin_email: "ada@example.com" }));
  expect(ok(await own.admin.get("/demo")).tenant).toBeNull();
  expect(ok(await own.admin.del("/demo")).tenant_id).toBeNull();
  await refused(own.admin.post("/demo"), "conflict");
  expect(await tenants()).toContain(namesake.tenant.id);
});
