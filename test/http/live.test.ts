import { expect, test } from "@jest/globals";
import { type Api, api } from "../support/http.ts";
import { atEnd } from "../support/own-folder.ts";
import { settle } from "../support/settle.ts";
import { openStream, type Stream, type StreamMessage } from "../support/stream.ts";
import { makeWorld, ok, type World } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const [world, other] = [await makeWorld(server, "watched"), await makeWorld(server, "unwatched")];
const stream = await openStream(`${server.url}/live`, world.adminToken);
const messages = each(stream);
atEnd(() => stream.close());

async function* each({ chunks }: Stream): AsyncGenerator<StreamMessage> {
  for await (const chunk of chunks) yield* chunk;
}

/** Returns the next change of a resource, skipping changes of others. */
async function nextOf(resource: string): Promise<{ resource: string; ids: string[] }> {
  for (;;) {
    const { value, done } = await messages.next();
    if (done) throw new Error("the stream has ended");
    if (value.event === "changed" && value.data.resource === resource) return value.data;
  }
}

const begin = async (admin: Api) =>
  ok(await admin.post("/runs", { goal: "g", steps: [{ step_key: "a", completion_mode: "attestation" }] })).id;

test("reports every changed run, and none of another tenant", async () => {
  const foreign = await begin(other.admin);
  const run = await begin(world.admin);
  const first = await nextOf("run");
  expect(first.ids).toContain(run);
  expect(first.ids).not.toContain(foreign);
  ok(await world.agent.post(`/runs/${run}/steps/start`, { step_key: "a" }));
  expect((await nextOf("run")).ids).toEqual([run]);
  // Neither is a transition: nothing is relayed of them.
  ok(await world.agent.post(`/runs/${run}/artifacts`, { kind: "file", pointer: { uri: "file:a" } }));
  expect((await nextOf("run")).ids).toEqual([run]);
  const example = { display_name: "A", filename: "a.md", content: "# A" };
  const { id: exemplar_id } = ok(await world.agent.post("/exemplars", example));
  ok(await world.agent.post(`/runs/${run}/exemplars`, { exemplar_id }));
  expect((await nextOf("run")).ids).toEqual([run]);
});

test("reports a changed document without its id: not everybody may read it", async () => {
  const file_content = Buffer.from("Call the duty engineer.").toString("base64");
  const file = { filename: "a.txt", mime_type: "text/plain", file_content, sensitivity: "restricted" };
  const { document_id } = ok(await world.agent.post("/documents", file));
  expect(await nextOf("document")).toEqual({ resource: "document", ids: [] });
  for (;;) {
    const { status } = ok(await world.agent.get(`/documents/${document_id}`));
    if (status === "stored") break;
    await nextOf("document");
  }
});

test("reports a device as soon as it claims a code, and changes of other resources, without ids", async () => {
  const { user_code } = ok(await world.admin.post(`/agents/${world.agentId}/device-code`, {}));
  const client_info = { name: "editor", version: "1", host: "h" };
  ok(await api(server).post("/device-codes:claim", { user_code, client_info }));
  expect(await nextOf("device")).toEqual({ resource: "device", ids: [] });
  const { id } = ok(await world.admin.post("/channels", { name: "seen live" }));
  expect(await nextOf("channel")).toEqual({ resource: "channel", ids: [] });
  ok(await world.admin.del(`/channels/${id}`));
  expect(await nextOf("audit")).toEqual({ resource: "audit", ids: [] });
});

test("the statistics say that events or deliveries changed, and list none of the service's own", async () => {
  const read = async () => ok(await world.admin.get("/stats"));
  const before = await read();
  const event = { specversion: "1.0", source: "urn:t", id: "moves", type: "com.example.moves" };
  ok(await world.agent.post("/events", event));
  const after = await settle(async () => {
    const now = await read();
    return now.changes !== before.changes && now.recent[0]?.type === event.type && now;
  });
  expect(after.recent.filter(({ type }: { type: string }) => type.startsWith("service."))).toEqual([]);
  // Once the event has its deliveries, nothing changes.
  await settle(async () => {
    const { changes } = await read();
    return (await read()).changes === changes;
  });
});

test("the limits are those of the installation, and null where there is none", async () =>
  expect(ok(await world.member.get("/limits"))).toMatchObject({
    requests_per_minute: { caller: null, tenant: null, webhooks: 6000 },
    largest_bytes: { event: 1_048_576, output: null },
    emails_per_hour: null,
    delivery: { retry_budget: 5, retry_delays_seconds: [10, 60, 300, 1800] },
  }));

test("each tenant has its own numbers, however soon after another's it asks", async () => {
  const event = { specversion: "1.0", id: "seen", type: "com.example.seen", source: "/live" };
  ok(await other.admin.post(`/agents/${other.agentId}/interests`, { event_type: event.type }));
  ok(await other.agent.post("/events", event));
  const stats = async ({ admin }: World) => ok(await admin.get("/stats"));
  const theirs = await settle(async () => {
    const found = await stats(other);
    return found.deliveries.pending === 1 && found;
  });
  const own = await stats(world);
  expect(theirs.recent).toMatchObject([{ type: event.type }]);
  expect(own.recent.map(({ type }: { type: string }) => type)).not.toContain(event.type);
  expect(own.deliveries).toMatchObject({ pending: 0 });
});

test("agents, channels and people are found by a part of what they are called", async () => {
  const { admin } = world;
  const named = (name: string) => admin.post("/agents", { name, delivery_mode: "poll" });
  for (const name of ["Billing 50%", "billing-bot", "Shipping"]) ok(await named(name));
  ok(await admin.post("/channels", { name: "billing", description: "Invoices" }));
  ok(await admin.post("/channels", { name: "shipping" }));
  ok(await admin.post("/users", { email: "ada@lovelace.example", display_name: "Ada" }));
  const agents = async (query: string) => ok(await admin.get(`/agents?${query}`));
  expect(await agents("search=BILL&limit=1")).toMatchObject({ agents: [{ name: "Billing 50%" }], total: 2 });
  expect(await agents("search=50%25")).toMatchObject({ agents: [{ name: "Billing 50%" }], total: 1 });
  expect(await agents("search=bill&status=inactive")).toMatchObject({ agents: [], total: 0 });
  const invoices = ok(await admin.get("/channels?search=invoice"));
  expect(invoices).toMatchObject({ channels: [{ name: "billing" }], total: 1 });
  const [shipping] = ok(await admin.get("/channels?search=ship")).channels;
  const feed = ok(await admin.post(`/channels/${shipping.id}/feeds`, { event_type_glob: "com.ship.*" }));
  const fed = ok(await admin.get(`/channels?feed_id=${feed.id}`));
  expect(fed).toMatchObject({ channels: [shipping], total: 1 });
  expect(ok(await other.admin.get(`/channels?feed_id=${feed.id}`)).total).toBe(0);
  const people = ok(await admin.get("/users?search=lovelace"));
  expect(people).toMatchObject({ users: [{ display_name: "Ada" }], total: 1 });
});
