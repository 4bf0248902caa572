import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, describe, expect, test } from "@jest/globals";
import { operationsIn } from "../../lib/contract/contract.ts";
import { FAULTS } from "../../lib/contract/faults.ts";
import { ALLOWANCE, countRead } from "../../lib/queue/work.ts";
import type { StreamHandler } from "../../services/edge/gateway/http-exchange.ts";
import * as system from "../../services/platform/system/system.contract.ts";
import { internal } from "../../services/runtime.ts";
import { startGateway } from "../support/gateway.ts";
import { LARGE_BODY, REFUSALS, type SentRequest } from "../support/refusals.ts";
import { settle } from "../support/settle.ts";
import { things } from "../support/things.ts";

const MEGABYTE = 1_048_576;
const domain = things();

const streamUntilClosed: StreamHandler = async ({ res }) => {
  res.write("first");
  await once(res, "close");
};
const gateway = await startGateway({
  operations: [...domain.operations, ...operationsIn(system)],
  services: [domain.service],
  env: { MAX_WRITES_IN_FLIGHT: "8", TRUST_PROXY: "loopback" },
  deps: { streams: { "things.stream": streamUntilClosed } },
});
afterAll(() => gateway.stop());

async function send({ token = "ann", type = "application/json", ...sent }: SentRequest) {
  const { method = "POST", path, body, headers } = sent;
  const all: Record<string, string> = { ...headers };
  if (token) all.authorization = `Bearer ${token}`;
  if (type && body !== undefined) all["content-type"] = type;
  const url =
    path.startsWith("/status") || path.startsWith("/docs") ? gateway.root + path : gateway.url + path;
  const options = { method, headers: all, ...(body !== undefined && { body: body as never }) };
  const response = await fetch(url, options);
  const text = await response.text();
  return {
    ...{ status: response.status, headers: response.headers, text },
    body: text.startsWith("{") ? JSON.parse(text) : null,
  };
}

describe("a refusal", () => {
  test.each(REFUSALS)("of %s", async (_name, refusal, code, details) => {
    const before = [...domain.made];
    const answer = await send(refusal);
    expect(answer.status).toBe(FAULTS[code].status);
    expect(answer.body.error).toMatchObject({ code, details });
    expect(Object.keys(answer.body)).toEqual(["error"]);
    expect(Object.keys(answer.body.error)).toEqual(["code", "message", "request_id", "details"]);
    expect(answer.body.error.request_id).toBe(answer.headers.get("x-request-id"));
    expect(domain.made).toEqual(before);
  });

  test("reveals neither a body that is not JSON nor internals of an unexpected failure", async () => {
    const malformed = await send({ path: "/things", body: '{"name": whsec_of_somebody}' });
    expect(malformed.status).toBe(400);
    expect(malformed.body.error.message).toBe("The body is not valid JSON: Unexpected token 'w'.");
    const { status, text, body } = await send({ path: "/things/fail", body: '{"how":"unexpectedly"}' });
    expect(status).toBe(500);
    expect(body.error).toMatchObject({ code: "internal_error", details: {} });
    expect(text).not.toMatch(/ENOENT|secret|\.ts|at /);
  });

  test("leaves the connection usable, also when the body was not read", async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send({ path: "/things", body: LARGE_BODY })),
    );
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413]);
    expect((await send({ path: "/things", body: '{"name":"after"}' })).status).toBe(201);
  });

  test("of too many writes of one tenant at once says when to retry, while reads go on", async () => {
    const held = [1, 2].map((n) => send({ path: "/things/slow", body: `{"name":"slow ${n}"}` }));
    await settle(() => domain.waiting() === 2);
    const refused = await send({ path: "/things", body: '{"name":"one more"}' });
    const read = await send({ method: "GET", path: "/things" });
    domain.release();
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({ code: "rate_limited", details: { retry_after_seconds: 1 } });
    expect([refused.headers.get("retry-after"), read.status]).toEqual(["1", 200]);
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([201, 201]);
    expect(domain.made).not.toContain("one more");
  });
});

describe("a request", () => {
  test("keeps its own id when it is a sane one, and else gets one", async () => {
    const given = await send({ method: "GET", path: "/status", headers: { "x-request-id": "trace-1.a:b" } });
    expect(given.headers.get("x-request-id")).toBe("trace-1.a:b");
    expect(given.body.request_id).toBe("trace-1.a:b");
    const odd = await send({ method: "GET", path: "/status", headers: { "x-request-id": "a b<script>" } });
    expect(odd.headers.get("x-request-id")).toMatch(/^req_[\w-]{20}$/);
  });

  test("may have unknown parameters, and a slash at the end of its path", async () => {
    const listed = await send({ method: "GET", path: "/things/?limit=2&tags=a&unknown=1" });
    expect(listed.body.query).toEqual({ limit: 2, tags: ["a"] });
  });

  test("cannot name another id in its body than in its path", async () => {
    const fields = { method: "PATCH", path: "/things/nope", body: '{"name":"c","thing_id":"ch_1"}' };
    const { body } = await send(fields);
    expect(body.error).toMatchObject({ code: "validation_failed", details: { field: "thing_id" } });
  });

  test("of HEAD is answered as GET is, and one that deletes, without a body", async () => {
    const get = await send({ method: "GET", path: "/things" });
    const head = await send({ method: "HEAD", path: "/things" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
    const { status, text, headers } = await send({ method: "DELETE", path: "/things/ch_1" });
    expect([status, text, headers.get("content-type")]).toEqual([204, "", null]);
  });
});

test("a gateway that stops: answers requests in progress, closes their connections and accepts no others", async () => {
  const own = things();
  const stopping = await startGateway({ operations: own.operations, services: [own.service] });
  const headers = { authorization: "Bearer ann", "content-type": "application/json" };
  const last = fetch(`${stopping.url}/things/slow`, { method: "POST", headers, body: '{"name":"last"}' });
  await settle(() => own.waiting() === 1);
  const stopped = stopping.stop();
  await settle(() =>
    fetch(`${stopping.url}/nothing`)
      .catch(() => "closed")
      .then((told) => told === "closed"),
  );
  own.release();
  const answer = await last;
  expect([answer.status, answer.headers.get("connection")]).toEqual([201, "close"]);
  await stopped;
  expect(own.made).toEqual(["last"]);
});

const GET = "GET /v1/things HTTP/1.1\r\n";
const POST = "POST /v1/things HTTP/1.1\r\nHost: a\r\n";
test.each([
  ["no HTTP at all", "hello\r\n\r\n", "is not HTTP/1.1"],
  ["headers over the limit", `${GET}Host: a\r\nX: ${"y".repeat(20_000)}\r\n\r\n`, "16 KB"],
  ["no Host", `${GET}\r\n`, "no Host"],
  ["a malformed length", `${POST}Content-Length: x\r\n\r\n`, "is not HTTP/1.1"],
  ["two lengths", `${POST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, "is not HTTP/1.1"],
])(
  "malformed requests: (%s) is answered with the envelope, and the connection ends",
  async (_name, bytes, why) => {
    const { head, body } = await exchange(bytes);
    expect(head).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(head).toMatch(/\r\nConnection: close(\r\n|$)/);
    const expected = { code: "validation_failed", details: { expected: "an HTTP/1.1 request" } };
    expect(body.error).toMatchObject(expected);
    expect(body.error.message).toContain(why);
    expect(head).toContain(`X-Request-Id: ${body.error.request_id}`);
  },
);

test("the page of the API loads nothing from elsewhere, and serves no other file", async () => {
  for (const path of ["/docs/index.html", "/docs/../package.json", "/docs/package.json"])
    expect([path, (await send({ method: "GET", path, token: null })).status]).toEqual([path, 404]);
  const page = await send({ method: "GET", path: "/docs", token: null });
  expect(page.status).toBe(200);
  const answer = page.headers.get("content-security-policy");
  expect(answer).toMatch(/^default-src 'none'; script-src 'self' 'sha256-/);
  expect(page.headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
  const wanted = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url as string);
  expect(wanted.every((url) => url.startsWith("/"))).toBe(true);
  for (const url of wanted.filter((each) => each.startsWith("/docs/"))) {
    const file = await fetch(gateway.root + url);
    expect([url, file.status, file.headers.get("x-request-id") !== null]).toEqual([url, 200, true]);
    await file.arrayBuffer();
  }
});

test.each([
  ["http://shop.example/v1/things/missing?limit=1", 401],
  ["HTTPS://shop.example:8443/healthz", 200],
])("a proxy's whole address, %s, is its path", async (target, status) => {
  const { head } = await exchange(
    `GET ${target} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`,
  );
  const same = await fetch(gateway.root + (new URL(target).pathname + new URL(target).search));
  expect([Number(head.split(" ")[1]), same.status]).toEqual([status, status]);
});

test("writes nothing into a started response", async () => {
  const { socket, received, closed } = openSocket();
  socket.write("GET /v1/things/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ann\r\n\r\n");
  await settle(() => received().includes("first"));
  socket.write("rubbish\r\n\r\n");
  await closed;
  expect(received()).not.toContain("400 Bad Request");
});

test("an internal action that a stream calls reads no more than a call may", async () => {
  const own = things();
  const rows = { name: "rows", actions: { read: internal(() => countRead(ALLOWANCE + 1)) } };
  const reads: StreamHandler = async ({ ctx }, _params, _link, output) => {
    await ctx.call("rows.read", {});
    output.end();
  };
  const streams = { "things.stream": reads };
  const reading = await startGateway({
    ...{ operations: own.operations, services: [own.service, rows], deps: { streams } },
  });
  const headers = { authorization: "Bearer ann" };
  const answer = await fetch(`${reading.url}/things/stream`, { headers });
  const { error } = (await answer.json()) as { error: { details: object } };
  await reading.stop();
  expect([answer.status, error.details]).toEqual([
    422,
    expect.objectContaining({ rule: "answer_too_large" }),
  ]);
});

test("a refused body without a token is not read for long", async () => {
  const { socket, received, closed } = openSocket();
  const head = "POST /v1/things/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  socket.write(`${head}Content-Length: ${2 * MEGABYTE}\r\n\r\n[`);
  await settle(() => received().includes("413 Payload Too Large"));
  socket.write(Buffer.alloc(2 * MEGABYTE - 1, "{},"));
  socket.write("GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await closed;
  expect(received()).not.toContain("200 OK");
});

/** Opens a connection and collects the bytes received on it. */
function openSocket() {
  const socket = connect(Number(new URL(gateway.root).port), "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  return { socket, received: () => text, closed };
}

/** Sends bytes over a new connection and reads until it ends. */
async function exchange(bytes: string) {
  const socket = connect(Number(new URL(gateway.root).port), "127.0.0.1");
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  return { head, body: JSON.parse(body) };
}
