import { expect, test } from "@jest/globals";
import { newAgent, type TestAgent } from "../support/agents.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const SCOPES = ["send", "receive", "memory:read", "memory:write"];

const server = await useShared();
const [mine, theirs] = [await makeWorld(server, "mine"), await makeWorld(server, "theirs")];

interface Listener extends AsyncDisposable {
  agent: TestAgent;
  mcp: McpClient;
  /** URIs of the reported changes, in their order; `list` for a change of the list. */
  heard: string[];
}

async function connected(scopes = SCOPES): Promise<Listener> {
  const agent = await newAgent(server, mine.admin, scopes);
  const mcp = await connectMcp(server, agent.token);
  const heard: string[] = [];
  mcp.client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  mcp.client.setNotificationHandler("notifications/resources/list_changed", () => {
    heard.push("list");
  });
  return { agent, mcp, heard, [Symbol.asyncDispose]: () => mcp.client.close() };
}

test("of the handoffs that are watched, the one that has changed is reported", async () => {
  await using own = await connected();
  const save = async (name: string, next_action: string) =>
    ok(await own.agent.post("/handoffs", { name, payload: { next_action } })).id as string;
  const [one, other] = [await save("one", "Pack"), await save("other", "Weigh")].map(
    (id) => `sensorium://handoffs/${id}`,
  ) as [string, string];
  const wanted = { resourceSubscriptions: [one, other] };
  const subscription = await own.mcp.client.listen(wanted);
  expect(subscription.honoredFilter).toEqual(wanted);
  await save("other", "Weigh again");
  await settle(() => own.heard.length > 0);
  await save("one", "Ship");
  await settle(() => own.heard.length > 1);
  expect(own.heard).toEqual([other, one]);
  expect(JSON.stringify(await own.mcp.client.readResource({ uri: one }))).toContain("Ship");
  ok(await own.agent.del(one.replace("sensorium:/", "")));
  await settle(() => own.heard.length > 2);
  expect(own.heard).toEqual([other, one, one]);
  await subscription.close();
  expect(await subscription.closed).toBe("local");
});

test("the inbox is listed, and reported when an event begins to wait; reading it leases nothing", async () => {
  await using own = await connected();
  const uri = "sensorium://inbox";
  const { resources } = await own.mcp.client.listResources();
  expect(resources).toContainEqual(expect.objectContaining({ uri, title: "Waiting events" }));
  const subscription = await own.mcp.client.listen({ resourceSubscriptions: [uri] });
  const event_type = "com.example.inbox";
  ok(await own.agent.post(`/agents/${own.agent.id}/interests`, { event_type }));
  ok(await own.agent.post("/events", { specversion: "1.0", id: "1", source: "urn:t", type: event_type }));
  await settle(() => own.heard.length > 0);
  expect(new Set(own.heard)).toEqual(new Set([uri]));
  const { contents } = await own.mcp.client.readResource({ uri });
  expect(JSON.stringify(contents)).toContain(event_type);
  const { deliveries } = ok(await own.agent.get("/delivery/poll"));
  expect(deliveries).toMatchObject([{ attempt_count: 1 }]);
  await subscription.close();
});

test("what the caller cannot read cannot be subscribed to, nor too much", async () => {
  const foreign = await newAgent(server, theirs.admin, SCOPES);
  const { id } = ok(await foreign.post("/handoffs", { name: "theirs", payload: {} }));
  await using own = await connected();
  const absent = "sensorium://handoffs/00000000-0000-7000-8000-000000000000";
  const refusals = await Promise.all(
    [`sensorium://handoffs/${id}`, absent].map((uri) =>
      own.mcp.client.listen({ resourceSubscriptions: [uri] }).then(
        () => "opened",
        (error: Error) => error.message.replace(/[0-9a-f-]{36}/, "ID"),
      ),
    ),
  );
  expect(refusals[0]).toBe(refusals[1]);
  expect(refusals[0]).toMatch(/not found/i);
  const many = Array.from({ length: 21 }, (_, n) => `sensorium://handoffs/${n}`);
  await expect(own.mcp.client.listen({ resourceSubscriptions: many })).rejects.toThrow("at most 20 URIs");
  await using mute = await connected(["memory:read"]);
  await expect(mute.mcp.client.listen({ resourceSubscriptions: ["sensorium://inbox"] })).rejects.toThrow(
    /not found/i,
  );
});

test("the list is reported when it changes, until the caller's key ends", async () => {
  await using own = await connected();
  const subscription = await own.mcp.client.listen({ resourcesListChanged: true });
  ok(await own.agent.post("/handoffs", { name: "new", payload: {} }));
  await settle(() => own.heard.includes("list"));
  const { keys } = ok(await mine.admin.get(`/agents/${own.agent.id}/keys`));
  ok(await mine.admin.del(`/agents/${own.agent.id}/keys/${keys[0].id}`));
  expect(await subscription.closed).toMatch(/graceful|remote/);
});
