import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { type Operation, operation } from "../../lib/contract/contract.ts";
import { pathParams, Router } from "../../services/edge/gateway/router.ts";

const declare = (route: `GET /${string}`, root = false) =>
  operation({
    ...{ action: route, route, root, summary: "", access: { by: "public" }, results: { 200: Type.Null() } },
  }) as unknown as Operation;

const routes = [
  "GET /agents",
  "GET /agents/{agent_id}",
  "PATCH /agents/{id}",
  "GET /agents/{agent_id}/keys/{key_id}",
  "GET /agents/{id}/interests",
  "POST /agents/{id}/interests:test",
  "GET /memories/search",
  "GET /memories/{id}",
  "POST /device-codes:claim",
  "GET /device-codes/{code}",
  "POST /agents/{id}/device-code:confirm",
] as `GET /${string}`[];

const router = new Router([...routes.map((route) => declare(route)), declare("GET /w/{slug}", true)], "/v1");

function find(method: string, path: string) {
  const found = router.find(path);
  const route = found?.routes.get(method);
  return route && { route: route.op.route, params: pathParams(route, found?.values ?? []) };
}

describe("a path", () => {
  test.each([
    ["GET", "/v1/agents", "GET /agents", {}],
    ["GET", "/v1/agents/", "GET /agents", {}],
    ["GET", "/v1/agents/ag_1", "GET /agents/{agent_id}", { agent_id: "ag_1" }],
    ["PATCH", "/v1/agents/ag_1", "PATCH /agents/{id}", { id: "ag_1" }],
    [
      "GET",
      "/v1/agents/ag_1/keys/k",
      "GET /agents/{agent_id}/keys/{key_id}",
      { agent_id: "ag_1", key_id: "k" },
    ],
    ["GET", "/v1/agents/ag_1/interests", "GET /agents/{id}/interests", { id: "ag_1" }],
    ["POST", "/v1/agents/ag_1/interests:test", "POST /agents/{id}/interests:test", { id: "ag_1" }],
    ["POST", "/v1/agents/ag_1/device-code:confirm", "POST /agents/{id}/device-code:confirm", { id: "ag_1" }],
    ["GET", "/v1/memories/search", "GET /memories/search", {}],
    ["GET", "/v1/memories/searching", "GET /memories/{id}", { id: "searching" }],
    ["POST", "/v1/device-codes:claim", "POST /device-codes:claim", {}],
    ["GET", "/v1/device-codes/BCDF-2345", "GET /device-codes/{code}", { code: "BCDF-2345" }],
    ["GET", "/v1/agents/a%2Fb%20c", "GET /agents/{agent_id}", { agent_id: "a/b c" }],
    ["GET", "/w/acme", "GET /w/{slug}", { slug: "acme" }],
  ])("%s %s is %s", (method, path, route, params) => expect(find(method, path)).toEqual({ route, params }));

  test.each([
    ...["/", "", "/v1", "/agents", "/v1/agents/ag_1/keys", "/v1/agents//keys/key_1"],
    ...["/v1/agents/ag_1/keys/key_1/more", "/v1/agents/%ff", "/v1/w/acme", "/v1/constructor"],
    "/v1/agents/ag_1/interests:other",
  ])("%j is not found", (path) => expect(router.find(path)).toBeNull());

  test("has its own methods only", () =>
    expect([...(router.find("/v1/agents/ag_1")?.routes.keys() ?? [])]).toEqual(["GET", "PATCH"]));
});

test("two operations cannot have the same place", () => {
  const twice = [declare("GET /agents/{agent_id}"), declare("GET /agents/{id}")];
  expect(() => new Router(twice, "/v1")).toThrow("GET /v1/agents/{id} is declared twice.");
});
