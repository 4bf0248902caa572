import type { Operation } from "../../../../lib/contract/contract.ts";
import { Type } from "../../../../lib/contract/type.ts";
import { type Check, compileQueryCheck } from "../../../../lib/contract/validator.ts";
import type { Blobs } from "../../../../storage/blobs/blobs.ts";
import { headerText } from "../access/client.ts";
import { isTokenRequest, readTokenRequest } from "../access/oauth.ts";
import type { Exchange } from "../exchange.ts";
import { maxBodyOf, readRaw } from "./body.ts";
import { readByReference } from "./by-reference.ts";
import { readJson, requireNoFields } from "./json-bodies.ts";
import { readInPieces } from "./pieces.ts";

/** Reads the body of an operation into params. One reader for each `consumes` that is not JSON. */
export type BodyReader = (exchange: Exchange) => Promise<Record<string, unknown>>;

const queryChecks = new WeakMap<Operation, Check>();

/** The query of an exchange as the contract types it: "10" becomes 10, and a misfit is a fault. */
function readQuery({ op, query }: Exchange): Record<string, unknown> {
  if (!op.query) return {};
  const known = Object.keys(op.query).filter((name) => query[name] !== undefined);
  if (known.length === 0) return {};
  const values = Object.fromEntries(known.map((name) => [name, query[name]]));
  const fault = queryCheckOf(op)(values);
  if (fault) throw fault;
  return values;
}

function queryCheckOf(op: Operation): Check {
  let check = queryChecks.get(op);
  if (!check) {
    check = compileQueryCheck(Type.Partial(Type.Object(op.query ?? {})));
    queryChecks.set(op, check);
  }
  return check;
}

/** Path, query and body in one object, as the action takes them. The path wins, so a body cannot name another id. */
export async function readParams(exchange: Exchange, readers: Record<string, BodyReader>, blobs: Blobs) {
  const { op, path } = exchange;
  const query = readQuery(exchange);
  if (!op.body) {
    await requireNoFields(exchange);
    return { ...query, ...path };
  }
  const body = await readBody(exchange, readers, blobs);
  return op.url.includes("{") || op.query ? { ...query, ...body, ...path } : body;
}

function readBody(
  exchange: Exchange,
  readers: Record<string, BodyReader>,
  blobs: Blobs,
): Promise<Record<string, unknown>> {
  const { op, caller } = exchange;
  // Only who has a tenant may send what is kept.
  if (op.byReference && caller) return readByReference(exchange, caller.tenant_id, blobs);
  const consumes = op.consumes ?? "json";
  if (op.inPieces) return readInPieces(exchange, op.inPieces);
  if (isTokenRequest(op, exchange.req)) return readTokenRequest(exchange);
  if (consumes === "json") return readJson(exchange);
  if (consumes === "raw") return readDelivery(exchange);
  return (readers[consumes] as BodyReader)(exchange);
}

/** The body as it came with the headers, both as text: nodes talk in JSON, where bytes would be lists of numbers. */
async function readDelivery({ op, req }: Exchange): Promise<Record<string, unknown>> {
  const raw = await readRaw(req, maxBodyOf(op));
  const headers = Object.entries(req.headers).map(([name, value]) => [name, headerText(String(value))]);
  return { raw: raw.toString("base64"), headers: Object.fromEntries(headers) };
}
