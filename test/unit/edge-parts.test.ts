import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { Errors } from "moleculer";
import type { Operation } from "../../lib/contract/contract.ts";
import { Fault, invalidValue, notFound } from "../../lib/contract/faults.ts";
import { originAt } from "../../lib/http/origin.ts";
import { errorAnswer, toFault } from "../../services/edge/gateway/answer/respond.ts";
import { CallerLimits, Overload, overLimit } from "../../services/edge/gateway/guards.ts";
import { clientAddress, givenRequestId } from "../../services/edge/gateway/router.ts";
import { HttpServer } from "../../services/edge/gateway/server.ts";
import { RateWindows } from "../../services/platform/admission/rate-windows.ts";
import { CALLERS } from "../support/gateway.ts";
import { settle } from "../support/settle.ts";

const request = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, connection: { remoteAddress }, headers }) as unknown as IncomingMessage;

const forwarded = { "x-forwarded-for": "203.0.113.9, 10.0.0.7" };

test.each([
  ["no proxy is trusted", [], "10.0.0.1", forwarded, "10.0.0.1"],
  ["the peer is not a trusted one", ["10.9.0.0/16"], "10.0.0.1", forwarded, "10.0.0.1"],
  ["the peer is trusted", ["10.0.0.1"], "10.0.0.1", forwarded, "10.0.0.7"],
  ["all proxies on the way are trusted", ["10.0.0.0/8"], "10.0.0.1", forwarded, "203.0.113.9"],
  ["the trusted peer forwards for nobody", ["loopback"], "127.0.0.1", {}, "127.0.0.1"],
  ["the peer is IPv4 on an IPv6 socket", [], "::ffff:192.0.2.1", {}, "192.0.2.1"],
  ["the peer is IPv6", [], "2001:db8::1", {}, "2001:db8::1"],
])("the address of a caller when %s", (_when, trusted, peer, headers, address) =>
  expect(clientAddress(trusted)(request(peer, headers as Record<string, string>))).toBe(address),
);

describe("the origin of what listens", () => {
  test.each([
    ["127.0.0.1", "http://127.0.0.1:3000"],
    ["10.1.2.3", "http://10.1.2.3:3000"],
    ["::1", "http://[::1]:3000"],
    ["localhost", "http://localhost:3000"],
  ])("at %s is there", (host, origin) => expect(originAt(host, 3000)).toBe(origin));

  test.each([
    ["0.0.0.0", "http://127.0.0.1:3000"],
    ["::", "http://[::1]:3000"],
  ])("at %s, on all addresses, is the loopback one, which can be called", (host, origin) =>
    expect(originAt(host, 3000)).toBe(origin),
  );
});

describe("a request id", () => {
  test.each(["a", "req_1", "00-4bf9-01", "A.b:c@d/e+f=g", "x".repeat(128)])("%j is kept", (id) =>
    expect(givenRequestId(request("", { "x-request-id": id }))).toBe(id),
  );

  test.each(["", "a b", "<b>", "ä", "a\tb", "x".repeat(129)])("%j is not", (id) =>
    expect(givenRequestId(request("", { "x-request-id": id }))).toBeNull(),
  );
});

describe("an error", () => {
  const SOON = { retry_after_seconds: 1 };
  test.each([
    [new Fault("conflict", "Taken.", { a: 1 }), 409, "conflict", { a: 1 }],
    [notFound("agent", "ag_1"), 404, "not_found", { resource_type: "agent", resource_id: "ag_1" }],
    [invalidValue("name", "No."), 400, "validation_error", { field: "name" }],
    [new Errors.RequestTimeoutError({ action: "a.b", nodeID: "n" }), 503, "service_unavailable", SOON],
    [new Errors.ServiceNotFoundError({ action: "a.b" }), 503, "service_unavailable", SOON],
    [new Errors.QueueIsFullError({ action: "a.b", nodeID: "n", size: 1 }), 503, "service_unavailable", SOON],
    [new Errors.MoleculerError("E11000 dup key", 500, "DRIVER", { index: "x" }), 500, "internal_error", {}],
    [new TypeError("undefined is not a function at /srv/x.ts"), 500, "internal_error", {}],
    ["thrown text", 500, "internal_error", {}],
    [undefined, 500, "internal_error", {}],
  ])("is answered as the catalogue says: %s", (err, status, code, details) => {
    const answer = errorAnswer(err, "req_1");
    expect(answer.status).toBe(status);
    const { error } = JSON.parse(answer.body as string);
    expect(error).toMatchObject({ code, request_id: "req_1", details });
    if (code === "internal_error") expect(answer.body).not.toMatch(/E11000|srv|undefined is|thrown text/);
  });

  test("that came from another node is still the same", () => {
    // Across nodes an error keeps message, code, type and data, and no class of ours.
    const remote = Object.assign(new Error("Taken."), {
      ...{ name: "Fault", code: 409, type: "conflict", data: { a: 1 } },
    });
    expect(toFault(remote)).toMatchObject({ type: "conflict", data: { a: 1 } });
  });
});

describe("the limits of callers", () => {
  const limits = (perCaller: number, perTenant: number) =>
    new CallerLimits(
      { RATE_LIMIT_PER_MINUTE: perCaller, TENANT_RATE_LIMIT_PER_MINUTE: perTenant },
      new RateWindows(null),
    );
  const { ann, ada, cyd } = CALLERS as Record<string, NonNullable<(typeof CALLERS)[string]>>;
  const NOW = 1_800_000_000_000;

  test("count a refused request against neither", () => {
    const both = limits(10, 2);
    for (let i = 0; i < 5; i++) both.take(ann as never, NOW);
    expect(both.take(ada as never, NOW)).toMatchObject({ allowed: false, limit: 2, remaining: 0 });
    // A window later the tenant has room again, and so has ada, all of it.
    expect(both.take(ada as never, NOW + 60_000)).toMatchObject({ allowed: true, limit: 2, remaining: 1 });
    expect(both.take(cyd as never, NOW)).toMatchObject({ allowed: true, limit: 2, remaining: 1 });
  });

  test("name a wait after which there is room", () => {
    const one = limits(1, 0);
    one.take(ann as never, NOW);
    const refused = one.take(ann as never, NOW + 20_500) as never;
    const fault = overLimit(refused, NOW + 20_500);
    expect(fault.data).toEqual({ retry_after_seconds: 40, limit: 1, window_seconds: 60 });
    expect(one.take(ann as never, NOW + 20_500 + 40_000)).toMatchObject({ allowed: true });
  });
});

describe("an overloaded node", () => {
  const op = (method: string, by: string) => ({ method, access: { by } }) as unknown as Operation;

  const share = (tenant_id: string, caller = "agent") => ({ tenant_id, caller });
  const write = op("POST", "any");
  const BUSY = ["service_unavailable", { retry_after_seconds: 1 }];
  const refusal = (task: () => unknown) => {
    try {
      task();
      return null;
    } catch (err) {
      const { type, data } = err as Fault;
      return [type, data];
    }
  };

  test("takes so many writes at once, and one more for each that ends", () => {
    const overload = new Overload(4);
    const leaves = ["a", "b", "c", "d"].map((tenant) => overload.enter(write, share(tenant)));
    expect(refusal(() => overload.enter(write, share("e")))).toEqual(BUSY);
    expect(overload.enter(op("GET", "any"), share("e"))).toBeNull();
    leaves[0]?.();
    expect(overload.enter(write, share("e"))).not.toBeNull();
  });

  test("keeps places for acknowledgements and renewals, whatever else there is", () => {
    const overload = new Overload(4);
    for (const tenant of ["a", "b", "c", "d"]) overload.enter(write, share(tenant));
    expect(refusal(() => overload.enter(write, share("e")))?.[0]).toBe("service_unavailable");
    expect(refusal(() => overload.enter({ ...write, reserved: true }, share("e")))).toBeNull();
  });

  test("keeps places for other tenants, and for a tenant's other callers", () => {
    const overload = new Overload(16);
    const fill = (tenant: string, caller: string) => {
      let taken = 0;
      while (!refusal(() => overload.enter(write, share(tenant, caller)))) taken++;
      return taken;
    };
    expect(fill("a", "flood")).toBe(4);
    expect(fill("a", "other")).toBe(4);
    expect(refusal(() => overload.enter(write, share("a", "third")))?.[0]).toBe("rate_limited");
    expect(fill("b", "busy")).toBe(4);
    expect(fill("c", "calm")).toBe(2);
    expect(fill("d", "calm")).toBe(1);
  });

  test("keeps places for the streams of others", () => {
    const overload = new Overload(16);
    const stream = { ...op("GET", "any"), stream: true } as Operation;
    const leaves = Array.from({ length: 200 }, () => overload.enter(stream, share("a")));
    expect(refusal(() => overload.enter(stream, share("a")))?.[0]).toBe("rate_limited");
    expect(overload.enter(stream, share("a", "other"))).not.toBeNull();
    leaves[0]?.();
    expect(overload.enter(stream, share("a"))).not.toBeNull();
  });

  test("refuses reads and writes while its event loop is late, but not the question how it is", async () => {
    // No loop is on time to less than nothing: the first measure is over this bound.
    const overload = new Overload(100, Number.NEGATIVE_INFINITY);
    for (const method of ["POST", "GET"])
      expect(refusal(() => overload.requireTimely(op(method, "any")))).toEqual(BUSY);
    expect(refusal(() => overload.requireTimely(op("GET", "public")))).toBeNull();
  });

  test("measures how late its event loop is, and forgives a single pause", async () => {
    const overload = new Overload(100, 500);
    const refuses = () => refusal(() => overload.requireTimely(op("GET", "any"))) !== null;
    const block = () => {
      const until = performance.now() + 1200;
      while (performance.now() < until);
    };
    overload.start();
    try {
      block();
      await nextTimers();
      expect(refuses()).toBe(false);
      block();
      await nextTimers();
      expect(refuses()).toBe(true);
      await settle(() => !refuses());
    } finally {
      overload.stop();
    }
  });
});

/** After the timers that are due now. */
const nextTimers = () => new Promise((resolve) => setTimeout(resolve));

test("a request that was not received in time is to be sent again", async () => {
  const times = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 };
  const server = new HttpServer(() => {}, times);
  await server.listen(0, "127.0.0.1");
  const socket = connect(Number(new URL(server.origin).port), "127.0.0.1");
  socket.write("POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe");
  const answer = await text(socket);
  socket.destroy();
  await server.close();
  expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
  expect(answer).toMatch(/\r\nRetry-After: 1\r\n/);
  expect(answer).toContain('"code":"service_unavailable"');
});

test("a stop closes connections that were never used, and waits for a request", async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = new HttpServer((_req, res) => asked.resolve(res));
  await server.listen(0, "127.0.0.1");
  const { port } = new URL(server.origin);
  const unused = connect({ port: Number(port), host: "127.0.0.1" });
  const answer = fetch(server.origin).then((response) => response.text());
  const res = await asked.promise;
  const closed = server.close();
  await once(unused, "close");
  res.end("after the stop began");
  expect(await answer).toBe("after the stop began");
  await closed;
});
