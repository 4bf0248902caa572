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

/** Requests that the edge refuses: name, request, and the code and details of the answer. */
export const REFUSALS: [string, SentRequest, FaultCode, Record<string, unknown>][] = [
  [
    "an unknown path",
    { path: "/nothing" },
    "not_found",
    { resource_type: "path", resource_id: "/v1/nothing" },
  ],
  [
    "a path outside the version",
    { method: "GET", path: "/status/x" },
    "not_found",
    { resource_type: "path" },
  ],
  [
    "a path that cannot be decoded",
    { method: "GET", path: "/things/%ff" },
    "validation_failed",
    { field: "path" },
  ],
  [
    "a query that cannot be decoded",
    { method: "GET", path: "/things?limit=%zz" },
    "validation_failed",
    { field: "query" },
  ],
  [
    "a wrong method",
    { method: "PUT", path: "/things" },
    "method_not_allowed",
    { allow: ["POST", "GET", "HEAD"] },
  ],
  [
    "OPTIONS",
    { method: "OPTIONS", path: "/things" },
    "method_not_allowed",
    { allow: ["POST", "GET", "HEAD"] },
  ],
  [
    "a wrong method of a path with an id",
    { path: "/things/ch_1" },
    "method_not_allowed",
    { allow: ["GET", "PATCH", "DELETE", "HEAD"] },
  ],
  ["no token", { path: "/things", token: null, body: "{" }, "authentication_failed", {}],
  ["a token that is not known", { path: "/things", token: "eve" }, "authentication_failed", {}],
  [
    "a missing scope, whatever the body",
    { path: "/things", token: "bob", body: "{" },
    "insufficient_scope",
    { required_scope: "send" },
  ],
  ["an agent where people are asked for", { path: "/things/people" }, "forbidden", {}],
  [
    "no content type",
    { path: "/things", type: "", body: Buffer.from("{}") },
    "unsupported_media_type",
    { value: "" },
  ],
  [
    "another content type",
    { path: "/things", type: "text/plain", body: "{}" },
    "unsupported_media_type",
    { value: "text/plain", expected: ["application/json"] },
  ],
  [
    "a packed body",
    { path: "/things", body: "{}", headers: { "content-encoding": "gzip" } },
    "unsupported_media_type",
    { value: "gzip" },
  ],
  [
    "a body over the limit",
    { path: "/things", body: LARGE_BODY },
    "payload_too_large",
    { actual_size: LARGE_BODY.length, max_size: 1_048_576 },
  ],
  [
    "malformed JSON",
    { path: "/things", body: '{"name":' },
    "validation_failed",
    { field: "", expected: "JSON" },
  ],
  [
    "JSON that is not UTF-8",
    { path: "/things", body: Buffer.from([0x22, 0xff, 0x22]) },
    "validation_failed",
    { expected: "JSON" },
  ],
  [
    "JSON that is nested too deep",
    { path: "/things", body: `{"name":${"[".repeat(50_000)}${"]".repeat(50_000)}}` },
    "validation_failed",
    { expected: "JSON" },
  ],
  [
    "an array for an object",
    { path: "/things", body: "[1]" },
    "validation_failed",
    { field: "", expected: "object" },
  ],
  [
    "null for an object",
    { path: "/things", body: "null" },
    "validation_failed",
    { field: "", expected: "object" },
  ],
  ["a missing field", { path: "/things", body: "{}" }, "validation_failed", { field: "name", value: null }],
  [
    "a field of another type",
    { path: "/things", body: '{"name":7}' },
    "validation_failed",
    { field: "name", value: 7, expected: "string", example: "lamp" },
  ],
  [
    "a field out of range",
    { path: "/things", body: '{"name":"a","size":10}' },
    "validation_failed",
    { field: "size", value: 10 },
  ],
  [
    "an unknown field",
    { path: "/things", body: '{"nmae":"a"}' },
    "validation_failed",
    { field: "nmae", value: "a", expected: "name" },
  ],
  ["a malformed id", { method: "GET", path: "/things/nope" }, "validation_error", { field: "thing_id" }],
  [
    "an unknown id",
    { method: "GET", path: "/things/ch_1" },
    "not_found",
    { resource_type: "thing", resource_id: "ch_1" },
  ],
  [
    "a query value of another type",
    { method: "GET", path: "/things?limit=many" },
    "validation_failed",
    { field: "limit", value: "many" },
  ],
  [
    "an empty query value",
    { method: "GET", path: "/things?limit=" },
    "validation_failed",
    { field: "limit" },
  ],
  [
    "a query value out of range",
    { method: "GET", path: "/things?limit=6" },
    "validation_failed",
    { field: "limit", value: 6 },
  ],
  [
    "a query parameter that is repeated",
    { method: "GET", path: "/things?limit=1&limit=2" },
    "validation_failed",
    { field: "limit" },
  ],
];
