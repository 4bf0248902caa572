import type { FaultCode } from "../../lib/contract/faults.ts";

/** A request to a gateway with the service of things.ts; what is left out is as it should be. */
export interface SentRequest {
  method?: string;
  path: string;
  token?: string | null;
  type?: string | null;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

/** Over the default limit of an operation. */
export const LARGE_BODY = JSON.stringify({ name: "x".repeat(1_100_000) });

/** Requests that the edge refuses: name, request and the answer's details. */
type Refusal = [string, SentRequest, Record<string, unknown>];
const BY_CODE: Partial<Record<FaultCode, Refusal[]>> = {
  not_found: [
    ["an unknown path", { path: "/nothing" }, { resource_type: "path", resource_id: "/v1/nothing" }],
    ["a path outside the version", { method: "GET", path: "/status/x" }, { resource_type: "path" }],
    ["no such id", { method: "GET", path: "/things/ch_1" }, { resource_type: "thing", resource_id: "ch_1" }],
  ],
  validation_failed: [
    ["a path that cannot be decoded", { method: "GET", path: "/things/%ff" }, { field: "path" }],
    ["a query that cannot be decoded", { method: "GET", path: "/things?limit=%zz" }, { field: "query" }],
    ["malformed JSON", { path: "/things", body: '{"name":' }, { field: "", expected: "JSON" }],
    ["JSON, not UTF-8", { path: "/things", body: Buffer.from([0x22, 0xff, 0x22]) }, { expected: "JSON" }],
    [
      "JSON that is nested too deep",
      { path: "/things", body: `{"name":${"[".repeat(50_000)}${"]".repeat(50_000)}}` },
      { expected: "JSON" },
    ],
    ["an array for an object", { path: "/things", body: "[1]" }, { field: "", expected: "object" }],
    ["null for an object", { path: "/things", body: "null" }, { field: "", expected: "object" }],
    ["a missing field", { path: "/things", body: "{}" }, { field: "name", value: null }],
    [
      "a field of another type",
      { path: "/things", body: '{"name":7}' },
      { field: "name", value: 7, expected: "string", example: "lamp" },
    ],
    ["a field over 9", { path: "/things", body: '{"name":"a","size":10}' }, { field: "size", value: 10 }],
    ["a typo", { path: "/things", body: '{"nmae":"a"}' }, { field: "nmae", value: "a", expected: "name" }],
    ["a word as a number", { method: "GET", path: "/things?limit=many" }, { field: "limit", value: "many" }],
    ["an empty query value", { method: "GET", path: "/things?limit=" }, { field: "limit" }],
    ["a query value out of range", { method: "GET", path: "/things?limit=6" }, { field: "limit", value: 6 }],
    ["a repeated query parameter", { method: "GET", path: "/things?limit=1&limit=2" }, { field: "limit" }],
  ],
  method_not_allowed: [
    ["a wrong method", { method: "PUT", path: "/things" }, { allow: ["POST", "GET", "HEAD"] }],
    ["OPTIONS", { method: "OPTIONS", path: "/things" }, { allow: ["POST", "GET", "HEAD"] }],
    ["a wrong method with an id", { path: "/things/ch_1" }, { allow: ["GET", "PATCH", "DELETE", "HEAD"] }],
  ],
  authentication_failed: [
    ["no token", { path: "/things", token: null, body: "{" }, {}],
    ["a token that is not known", { path: "/things", token: "eve" }, {}],
  ],
  insufficient_scope: [
    ["a missing scope, any body", { path: "/things", token: "bob", body: "{" }, { required_scope: "send" }],
  ],
  forbidden: [["an agent where people are asked for", { path: "/things/people" }, {}]],
  unsupported_media_type: [
    ["no content type", { path: "/things", type: "", body: Buffer.from("{}") }, { value: "" }],
    [
      "another content type",
      { path: "/things", type: "text/plain", body: "{}" },
      { value: "text/plain", expected: ["application/json"] },
    ],
    ["packed", { path: "/things", body: "{}", headers: { "content-encoding": "gzip" } }, { value: "gzip" }],
  ],
  payload_too_large: [
    [
      "a body over the limit",
      { path: "/things", body: LARGE_BODY },
      { actual_size: LARGE_BODY.length, max_size: 1_048_576 },
    ],
  ],
  validation_error: [["a malformed id", { method: "GET", path: "/things/nope" }, { field: "thing_id" }]],
};
export const REFUSALS = Object.entries(BY_CODE).flatMap(([code, rows]) =>
  rows.map(([name, request, details]) => [name, request, code as FaultCode, details] as const),
);
