import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { agentToken, api } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";

/** A span as OTLP over HTTP has it in JSON. */
interface Span {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  links: { traceId: string; spanId: string }[];
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

const KIND = { server: 2, producer: 4, consumer: 5 };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER_SPAN = "b7ad6b7169203331";

const spans: Span[] = [];
let collector: Server;
let server: TestServer;
beforeAll(async () => {
  collector = createServer(async (req, res) => {
    if (req.url !== "/v1/traces") return res.writeHead(404).end();
    const { resourceSpans } = JSON.parse(Buffer.concat(await req.toArray()).toString("utf8"));
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    res.writeHead(200, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await new Promise((done) => collector.once("listening", done));
  const { port } = collector.address() as AddressInfo;
  server = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
});
afterAll(async () => {
  await server.stop();
  collector.closeAllConnections();
  await new Promise((done) => collector.close(done));
});

const attributeOf = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

test("a publish stands in its caller's trace, and its delivery in a new one with a link to it", async () => {
  const { agent } = server.credentials;
  const http = api(server, await agentToken(server, agent.api_key));
  await http.post(`/agents/${agent.id}/interests`, { event_type: "com.example.traced" });
  const event = { specversion: "1.0", id: "traced", type: "com.example.traced", source: "/traces" };
  const { body } = await http.post("/events", event, { traceparent: `00-${TRACE}-${CALLER_SPAN}-01` });
  const { deliveries } = (await http.get("/delivery/poll?wait=10")).body;
  expect(deliveries).toHaveLength(1);

  const find = (what: string, is: (span: Span) => boolean) => settle(() => spans.find(is), { what });
  const request = await find("the request", ({ kind, traceId }) => kind === KIND.server && traceId === TRACE);
  expect(request).toMatchObject({ name: "POST /events", parentSpanId: CALLER_SPAN });
  expect(attributeOf(request, "http.response.status_code")).toBe(202);

  const publish = await find("the publish", ({ kind }) => kind === KIND.producer);
  expect(publish).toMatchObject({ name: "events.publish", traceId: TRACE, parentSpanId: request.spanId });

  const delivery = await find("the delivery", ({ kind }) => kind === KIND.consumer);
  expect(delivery.traceId).not.toBe(TRACE);
  expect(delivery.parentSpanId ?? "").toBe("");
  expect(delivery.links).toMatchObject([{ traceId: TRACE, spanId: publish.spanId }]);
  expect(attributeOf(delivery, "messaging.system")).toBe("afferent");
  expect(attributeOf(delivery, "messaging.message.id")).toBe(body.event_id);
  expect(attributeOf(delivery, "afferent.delivery.id")).toBe(deliveries[0].id);
});

test("a request without a trace begins one", async () => {
  await api(server).get("/auth/me");
  const request = await settle(() => spans.find(({ name }) => name === "GET /auth/me"));
  expect(request.parentSpanId ?? "").toBe("");
  expect(attributeOf(request, "http.response.status_code")).toBe(401);
});

test("a collector that is gone changes nothing for callers, and the server ends in time", async () => {
  const other = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } });
  try {
    expect((await api(other).get("/healthz")).status).toBe(200);
  } finally {
    await other.stop();
  }
});
