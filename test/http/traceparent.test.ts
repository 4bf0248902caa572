/** The trace context of events, on a node that exports no traces. */
import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type Api, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const CALLER_SPAN = "b7ad6b7169203331";
const traceparent = `00-0af7651916cd43dd8448eb211c80319c-${CALLER_SPAN}-01`;

const server = await useShared("open");
const http = await firstAgent(server);
await http.post(`/agents/${http.id}/interests`, { event_type: "com.example.*" });

const newEvent = (type: string) => ({ specversion: "1.0", id: type, type, source: "/traces" });

/** Polls for one delivery, and acknowledges it. */
async function received(http: Api) {
  const { deliveries } = (await http.get("/delivery/poll?wait=10")).body;
  expect(deliveries).toHaveLength(1);
  await http.post("/delivery/ack", { delivery_ids: [deliveries[0].id] });
  return deliveries[0];
}

test("an event has the trace of the request that published it", async () => {
  await http.post("/events", newEvent("com.example.by-header"), { traceparent });
  expect((await received(http)).payload).toEqual({ ...newEvent("com.example.by-header"), traceparent });
});

test("an event that names its own trace keeps it", async () => {
  const own = `00-${"1".repeat(32)}-${"2".repeat(16)}-00`;
  const event = { ...newEvent("com.example.own"), traceparent: own };
  await http.post("/events", event, { traceparent });
  expect((await received(http)).payload).toEqual(event);
});

test.each([["no trace"], [`00-${"0".repeat(32)}-${CALLER_SPAN}-01`]])(
  "%s is added to no event",
  async (given) => {
    const event = newEvent(`com.example.${given.replaceAll(" ", "-")}`);
    await http.post("/events", event, given === "no trace" ? {} : { traceparent: given });
    expect((await received(http)).payload).toEqual(event);
  },
);

test("an event of the largest size is accepted with a trace too", async () => {
  const event = { ...newEvent("com.example.largest"), data: "" };
  event.data = "x".repeat(1_048_576 - JSON.stringify(event).length);
  const { status } = await http.post("/events", event, { traceparent });
  expect(status).toBe(202);
  expect((await received(http)).payload).toEqual({ ...event, traceparent });
});

test("a push passes the trace on as a header", async () => {
  await using endpoint = await startEndpoint();
  const { admin, tenant_slug } = server.credentials;
  const person = api(server, await signIn(server, admin, tenant_slug));
  const settings = { name: "pushed", delivery_mode: "push", delivery_endpoint: endpoint.url };
  const { body: agent } = await http.post("/agents", settings);
  ok(await person.post(`/agents/${agent.id}/interests`, { event_type: "org.example.*" }));
  await http.post("/events", newEvent("org.example.traced"), { traceparent });
  await http.post("/events", newEvent("org.example.untraced"));
  await settle(() => endpoint.pushed.length === 2);
  const traces = endpoint.pushed.map(({ body, headers }) => [JSON.parse(body).type, headers.traceparent]);
  expect(Object.fromEntries(traces)).toEqual({
    "org.example.traced": traceparent,
    "org.example.untraced": undefined,
  });
});
