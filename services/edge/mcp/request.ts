import type { Operation } from "../../../lib/contract/contract.ts";
import type { NestedRequest } from "../gateway/http-exchange.ts";
import { VERSION_PREFIX } from "../gateway/router.ts";

export type Arguments = Record<string, unknown>;

const TYPES: Record<string, string> = { cloudevents: "application/cloudevents+json" };

/** Converts arguments to the equivalent HTTP request. Names unknown to the operation are dropped. */
export function toRequest(op: Operation, args: Arguments, idempotency_key?: string): NestedRequest {
  const { path = {}, query = {}, body } = op;
  // A field of both query and body goes into the body.
  const inQuery = Object.keys(query).filter((name) => !body || !(name in body));
  const request: NestedRequest = {
    op,
    path: inPath(pick(args, Object.keys(path))),
    query: pick(args, inQuery),
    headers: idempotency_key === undefined ? {} : { "idempotency-key": idempotency_key },
    url: buildUrl(op, args, inQuery),
  };
  if (!body) return request;
  request.headers["content-type"] = TYPES[op.consumes ?? "json"] ?? "application/json";
  request.body = JSON.stringify(op.wholeBody ? args : pick(args, Object.keys(body)));
  return request;
}

function pick(args: Arguments, names: string[]): Arguments {
  const there = names.filter((name) => args[name] !== undefined);
  return Object.fromEntries(there.map((name) => [name, args[name]]));
}

/** Converts numbers to text for the path; other types are left for the contract to reject. */
function inPath(values: Arguments): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "number" ? String(value) : value,
  ]);
  return Object.fromEntries(texts);
}

/** Returns the URL that an Idempotency-Key is bound to, besides the body. */
function buildUrl(op: Operation, args: Arguments, inQuery: string[]): string {
  const path = op.url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(args[name])));
  const query = JSON.stringify(pick(args, inQuery));
  return `${VERSION_PREFIX}${path}?${encodeURIComponent(query)}`;
}
