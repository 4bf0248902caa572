import type { IncomingHttpHeaders } from "node:http";
import { afterAll, expect, test } from "@jest/globals";
import { firstAgent } from "../../../../test/support/agents.ts";
import { startEndpoint } from "../../../../test/support/endpoint.ts";
import { type Api, api } from "../../../../test/support/http.ts";
import { startServer, type TestServer } from "../../../../test/support/server.ts";
import { serving } from "../../../../test/support/serving.ts";
import { settle } from "../../../../test/support/settle.ts";
import { signIn } from "../../../../test/support/tenancy.ts";
import { useServer } from "../../../../test/support/use.ts";

/** A span as OTLP over HTTP has it in JSON. */
interface Span {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status: { code?: number };
  links: { traceId: string; spanId: string }[];
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

const KIND = { server: 2, client: 3, producer: 4, consumer: 5 };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER_SPAN = "b7ad6b7169203331";

const spans: Span[] = [];
/** The attributes of each exporting process, once per export. */
const resources: Record<string, unknown>[] = [];
const attributesOf = ({ attributes }: Pick<Span, "attributes">) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const collector = await serving(async (req, res) => {
  if (req.url !== "/v1/traces") return res.writeHead(404).end();
  const { resourceSpans } = JSON.parse(Buffer.concat(await req.toArray()).toString("utf8"));
  for (const { resource, scopeSpans } of resourceSpans) {
    for (const scope of scopeSpans) spans.push(...scope.spans);
    resources.push(attributesOf(resource));
  }
  res.writeHead(200, { "content-type": "application/json" }).end("{}");
});
const server = await useServer({
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PUSH_ALLOW_PRIVATE: "true" },
});
afterAll(() => collector.close());

/** Signs in who creates interests for other agents. */
async function person(server: TestServer): Promise<Api> {
  const { admin, tenant_slug } = server.credentials;
  return api(server, await signIn(server, admin, tenant_slug));
}

/** Polls for one delivery, and acknowledges it. */
async function received(http: Api) {
  const { deliveries } = (await http.get("/delivery/poll?wait=30")).body;
  expect(deliveries).toHaveLength(1);
  await http.post("/delivery/ack", { delivery_ids: [deliveries[0].id] });
  return deliveries[0];
}

const find = (what: string, is: (span: Span) => boolean) => settle(() => spans.find(is), { what });
const contextOf = (span: Span) => `00-${span.traceId}-${span.spanId}-01`;
const newEvent = (type: string) => ({ specversion: "1.0", id: type, type, source: "/traces" });

const attributeOf = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

test("a publish stands in its caller's trace, and its delivery in a new one with a link to it", async () => {
  const http = await firstAgent(server);
  await http.post(`/agents/${http.id}/interests`, { event_type: "com.example.traced" });
  const traceparent = `00-${TRACE}-${CALLER_SPAN}-01`;
  const { body } = await http.post("/events", newEvent("com.example.traced"), { traceparent });
  const { id, payload } = await received(http);

  const request = await find("the request", ({ kind, traceId }) => kind === KIND.server && traceId === TRACE);
  expect(request).toMatchObject({ name: "POST /v1/events", parentSpanId: CALLER_SPAN });

  const publish = await find("the publish", ({ kind }) => kind === KIND.producer);
  expect(publish).toMatchObject({ name: "publish events", traceId: TRACE, parentSpanId: request.spanId });
  expect(attributesOf(publish)).toEqual({
    "messaging.system": "sensorium",
    "messaging.operation.type": "send",
    "messaging.operation.name": "publish",
    "messaging.destination.name": "events",
    "messaging.message.id": body.event_id,
    "cloudevents.event_id": "com.example.traced",
    "cloudevents.event_source": "/traces",
    "cloudevents.event_type": "com.example.traced",
    "cloudevents.event_spec_version": "1.0",
  });

  const delivery = await find("the delivery", ({ kind }) => kind === KIND.consumer);
  expect(delivery.name).toBe("deliver events");
  expect(delivery.traceId).not.toBe(TRACE);
  expect(delivery.parentSpanId ?? "").toBe("");
  expect(delivery.links).toMatchObject([{ traceId: TRACE, spanId: publish.spanId }]);
  expect(attributesOf(delivery)).toEqual({
    "messaging.system": "sensorium",
    "messaging.operation.type": "receive",
    "messaging.operation.name": "deliver",
    "messaging.destination.name": "events",
    "messaging.destination.subscription.name": http.id,
    "messaging.message.id": body.event_id,
    "sensorium.delivery.id": id,
    "sensorium.delivery.attempt": 1,
  });
  expect(payload.traceparent).toBe(contextOf(publish));
});

test("a request's span follows the semantic conventions of HTTP", async () => {
  const http = await firstAgent(server);
  await http.get(`/agents/${http.id}?secret=query`, { "user-agent": "tracing test" });
  const request = await find("the request", ({ name }) => name === "GET /v1/agents/{agent_id}");
  const { hostname, port } = new URL(server.url);
  expect(attributesOf(request)).toEqual({
    "http.request.method": "GET",
    "http.route": "/v1/agents/{agent_id}",
    ...{ "http.response.status_code": 200, "url.path": `/v1/agents/${http.id}`, "url.scheme": "http" },
    ...{ "server.address": hostname, "server.port": Number(port), "client.address": "127.0.0.1" },
    "network.peer.address": expect.stringContaining("127.0.0.1"),
    "network.protocol.version": "1.1",
    "user_agent.original": "tracing test",
  });
  // A path that lets its caller in is not in it.
  await api(server).get("/device-codes/ABCD-EFGH");
  const hidden = await find("the request", ({ name }) => name.includes("device-codes"));
  expect(attributeOf(hidden, "url.path")).toBe("/v1/device-codes/{code}");
  expect(JSON.stringify(spans)).not.toContain("ABCD");
});

test("an action that fails says so by the type of its error", async () => {
  const http = await firstAgent(server);
  const { status } = await http.get("/events/evt_0000000000000000000000000");
  const failed = await find("the action", ({ name, status }) => name === "events.get" && status.code === 2);
  expect({ status, type: attributeOf(failed, "error.type") }).toEqual({ status: 404, type: "not_found" });
  // Not found is the caller's error: the server did what it should.
  const request = await find("its request", ({ spanId }) => spanId === failed.parentSpanId);
  expect(request.status.code ?? 0).toBe(0);
});

test("a push has a span below its delivery's, which its endpoint can continue", async () => {
  const http = await firstAgent(server);
  await using endpoint = await startEndpoint();
  const settings = { name: "pushed", delivery_mode: "push", delivery_endpoint: `${endpoint.url}?key=s3cret` };
  const { body: agent } = await http.post("/agents", settings);
  await (await person(server)).post(`/agents/${agent.id}/interests`, { event_type: "com.example.pushed" });
  endpoint.answer(500);
  await http.post("/events", newEvent("com.example.pushed"));
  const push = await settle(() => endpoint.pushed[0]);
  const span = await find("the push", ({ kind, name }) => kind === KIND.client && name === "POST");
  expect(push.headers.traceparent).toBe(contextOf(span));
  expect(span.status.code).toBe(2);
  expect(attributesOf(span)).toMatchObject({
    ...{ "http.request.method": "POST", "http.response.status_code": 500, "error.type": "500" },
    "url.full": endpoint.url,
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(endpoint.url).port),
  });
  const delivery = await find("its delivery", ({ spanId }) => spanId === span.parentSpanId);
  const publish = await find("its publish", ({ spanId }) => spanId === delivery.links[0]?.spanId);
  expect(publish.kind).toBe(KIND.producer);
  expect(JSON.parse(push.body).traceparent).toBe(contextOf(publish));
  await http.patch(`/agents/${agent.id}/status`, { status: "inactive" });
});

test("a collector that is gone changes nothing for callers, and the server ends in time", async () => {
  await using other = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } });
  expect((await api(other).get("/healthz")).status).toBe(200);
});

test("a collector that is away and back is told in two lines, with the count of what was lost", async () => {
  let away = true;
  let refused = 0;
  await using collector = await serving((req, res) => {
    req.resume();
    if (away) refused++;
    req.once("end", () => (away ? res.writeHead(404).end() : res.writeHead(200).end("{}")));
  });
  await using other = await startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const lines = () =>
    other
      .logs()
      .split("\n")
      .slice(0, -1)
      .filter((line) => line.includes("tracing: "))
      .map((line) => JSON.parse(line));
  const ask = async () => (await api(other).get("/healthz")).status === 200;
  const isLost = async () => (await ask()) && refused >= 4 && lines().length > 0;
  await settle(isLost, { what: "four exports to be refused" });
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).toMatchObject({ level: "warn", msg: expect.stringContaining("cannot be reached") });
  away = false;
  await settle(async () => (await ask()) && lines().length > 1, { what: "the collector to be back" });
  expect(lines()).toHaveLength(2);
  expect(lines()[1]).toMatchObject({ level: "info", msg: "tracing: the collector is back" });
  expect(lines()[1].lost_spans).toBeGreaterThanOrEqual(4);
});

test("the variables of OpenTelemetry say where traces go, with which headers and names, and which", async () => {
  const exports: { url?: string; headers: IncomingHttpHeaders; text: string }[] = [];
  await using collector = await serving(async (req, res) => {
    const text = Buffer.concat(await req.toArray()).toString("utf8");
    exports.push({ url: req.url as string, headers: req.headers, text });
    res.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await using other = await startServer({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20s3cret, x-scope=all",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-scope=traces",
      OTEL_SERVICE_NAME: "sense",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=staging",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0",
    },
  });
  await api(other).get("/auth/me");
  await api(other).get("/healthz", { traceparent: `00-${TRACE}-${CALLER_SPAN}-01` });
  const { url, headers, text } = await settle(() => exports.find((each) => each.text.includes(TRACE)));
  expect(url).toBe("/own/traces");
  expect(headers).toMatchObject({ authorization: "Bearer s3cret", "x-scope": "traces" });
  const [{ resource }] = JSON.parse(text).resourceSpans;
  expect(attributesOf(resource)).toMatchObject({
    "service.name": "sense",
    "deployment.environment.name": "staging",
    "sensorium.node": expect.stringMatching(/-\d+$/),
  });
  // It ended earlier, so that it would have been sent by now.
  expect(exports.map((each) => each.text).join()).not.toContain("/auth/me");
  expect(other.logs()).not.toContain("s3cret");
});

test("a request without a trace begins one, which names the node and the instance that it comes from", async () => {
  await api(server).get("/auth/me");
  const request = await settle(() => spans.find(({ name }) => name === "GET /v1/auth/me"));
  expect(request.parentSpanId ?? "").toBe("");
  expect(attributeOf(request, "http.response.status_code")).toBe(401);
  for (const resource of resources)
    expect(resource).toMatchObject({
      "service.name": "sensorium",
      "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "sensorium.node": expect.stringMatching(/-\d+$/),
    });
});
