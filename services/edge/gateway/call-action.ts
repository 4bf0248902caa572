import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { Type } from "typebox";
import type { Caller, Meta } from "../../../lib/access/caller.ts";
import { cookieValue } from "../../../lib/access/session-cookie.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { compileQueryCheck } from "../../../lib/contract/validator.ts";
import { oncePer } from "../../../lib/once-per.ts";
import { requestShare } from "../../../lib/queue/fair-queue.ts";
import { endWrite } from "../../../storage/blobs/blobs.ts";
import type { Runtime } from "../../runtime.ts";
import { isRefusedInBand, requireAccess } from "./access/access.ts";
import { isTokenRequest, readForm, readTokenRequest } from "./access/oauth.ts";
import { idempotencyKey, once } from "./answer/idempotency.ts";
import { afterCall, errorAnswer, JSON_TYPE } from "./answer/respond.ts";
import { discardBody, maxBodyOf, readJson, readUncompressed, requireNoFields } from "./body/body.ts";
import { readByReference } from "./body/by-reference.ts";
import { readCloudEvents } from "./body/cloudevents.ts";
import { type GatewayContext, rootCall } from "./gateway-context.ts";
import { type Leave, requireFormats, requireQuota, requireSpace, requireWrites } from "./guards.ts";
import type { Answer, GatewayRequest, HttpExchange, NestedRequest } from "./http-exchange.ts";
import { headerText, originFor } from "./router.ts";
import { whileWanted } from "./streams/long-poll.ts";

/**
 * Reads the body of an admitted request, executes it once for its Idempotency-Key, and calls the action by name, so that
 * calls with an affinity key reach the node that owns it.
 */
export function callAction(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  return edge.hold(exchange, () => edge.guard.charge(exchange, () => carryOut(edge, exchange)));
}

/** Executes a nested request (`Perform`): all checks except those that the outer one has passed. */
export async function callNested(
  edge: GatewayContext,
  outer: HttpExchange,
  request: NestedRequest,
): Promise<Answer> {
  const started = performance.now();
  const { op } = request;
  let leave: Leave | null = null;
  let answer: Answer;
  try {
    requireSpace(op, edge.runtime.disk);
    requireWrites(op, edge.runtime.modes);
    requireAccess(op, outer.caller as Caller);
    edge.overload.requireTimely(op);
    leave = edge.overload.enter(op, requestShare(outer));
    answer = await carryOut(edge, exchangeWithin(edge, outer, request));
  } catch (err) {
    answer = errorAnswer(edge.faultOf(err, outer.request_id), outer.request_id);
  } finally {
    leave?.();
  }
  edge.observer.measure(op, answer.status, started);
  return answer;
}

/** Returns the answer to an admitted caller; blobs that the request put without effect are deleted by then. */
async function carryOut(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  try {
    return await answered(edge, exchange);
  } finally {
    if (exchange.write) await endWrite(edge.runtime.blobs, exchange.write);
  }
}

async function answered(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  const { op, caller } = exchange;
  if (caller && isRefusedInBand(op, caller)) return refuseInBand(exchange);
  const key = op.method === "GET" ? null : idempotencyKey(exchange);
  if (key === null) return answerTo(edge, exchange);
  return once(exchange, key, edge, () => answerTo(edge, exchange));
}

async function answerTo(edge: GatewayContext, exchange: HttpExchange): Promise<Answer> {
  const { runtime, broker } = edge;
  const { ctx, op } = exchange;
  const space = requireQuota(exchange, runtime.usage);
  if (space) await space;
  passCookie(edge, exchange);
  if (op.origin) ctx.meta.origin = originFor(exchange.req, runtime.config.PUBLIC_URL);
  const params = await readParams(exchange, runtime);
  if (op.needs) await requireFormats(broker, op, params);
  const action = () => ctx.call(op.action, params);
  const call = op.tries ? () => edge.guard.try(exchange, params, action) : action;
  const answer = afterCall(
    exchange,
    op.waits ? await whileWanted(broker, exchange, edge.linkOf(exchange), call) : await call(),
  );
  if (answer.insert && op.method === "GET") answer.again = async () => afterCall(exchange, await call());
  return answer;
}

function passCookie({ runtime }: GatewayContext, { op, req, ctx }: HttpExchange): void {
  if (!op.cookie) return;
  const value = cookieValue(req.headers.cookie, op.cookie, runtime.config.PUBLIC_URL);
  if (value !== null) ctx.meta.cookie = value;
}

/** Answers a caller without the scope as the operation defines, with 200. */
function refuseInBand({ req, res, op }: HttpExchange): Answer {
  discardBody(req, res, maxBodyOf(op));
  return { status: 200, type: JSON_TYPE, body: JSON.stringify(op.scopeRefusal) };
}

/** The same caller and connection, but its own body and status, so that nested requests cannot affect each other. */
function exchangeWithin(edge: GatewayContext, outer: HttpExchange, request: NestedRequest): HttpExchange {
  const { request_id, ip, caller, traceparent } = outer.ctx.meta;
  const meta: Meta = { request_id, caller, ...(ip && { ip }), ...(traceparent && { traceparent }) };
  const { op, path, query } = request;
  const { res, allowance } = outer;
  const req = requestWithin(outer.req, request);
  const ctx = rootCall(edge.broker, meta);
  return { op, path, query, req, res, ctx, request_id, started: outer.started, caller, allowance };
}

/** Builds the parts of a request that are read after authentication: body, headers, and the identity for a key. */
function requestWithin({ headers }: IncomingMessage, { op, url, headers: own, body }: NestedRequest) {
  const { authorization, cookie } = headers;
  const bytes = Buffer.from(body ?? "");
  const length = { "content-length": String(bytes.length) };
  return Object.assign(Readable.from(bytes.length ? [bytes] : []), {
    method: op.method,
    url,
    headers: { authorization, cookie, ...length, ...own },
    complete: true,
  }) as unknown as IncomingMessage;
}

const queryCheckOf = oncePer(({ query = {} }: Operation) =>
  compileQueryCheck(Type.Partial(Type.Object(query))),
);

/** Query parameters by their names without case, separators and the brackets that some clients write for arrays. */
const plainNamesOf = oncePer(
  ({ query = {} }: Operation) => new Map(Object.keys(query).map((name) => [plainName(name), name])),
);

function plainName(name: string): string {
  return name
    .replace(/\[[^\]]*\]$/, "")
    .replace(/[-_]/g, "")
    .toLowerCase();
}

/** Refuses another spelling of a parameter: ignored, it would widen the answer. @throws Fault validation_failed */
function requireSpelling(op: Operation, names: string[]): void {
  for (const field of names) {
    const expected = plainNamesOf(op).get(plainName(field));
    if (expected === undefined || expected === field || op.query?.[field]) continue;
    const isArray = field.endsWith("]");
    const message = `${field} is not a query parameter. Did you mean ${expected}${isArray ? ", repeated for several values" : ""}?`;
    throw new Fault("validation_failed", message, { field, expected });
  }
}

/** Parameters whose empty value is one: no project; the end of a list, which must not become its beginning. */
const MEANT_EMPTY = new Set(["project_id", "cursor"]);

/** Whether a form's field that was left empty is no filter. */
function isLeftEmpty({ query = {} }: Operation, name: string, value: unknown): boolean {
  return (
    value === "" &&
    (query[name] as { type?: unknown } | undefined)?.type === "string" &&
    !MEANT_EMPTY.has(name)
  );
}

/** Converts the query to the contract's types: "10" becomes 10. Throws a fault on a mismatch. */
function readQuery({ op, query }: HttpExchange): Record<string, unknown> {
  if (!op.query) return {};
  requireSpelling(op, Object.keys(query));
  const known = Object.keys(op.query).filter(
    (name) => query[name] !== undefined && !isLeftEmpty(op, name, query[name]),
  );
  if (known.length === 0) return {};
  const values = Object.fromEntries(known.map((name) => [name, query[name]]));
  const fault = queryCheckOf(op)(values);
  if (fault) throw fault;
  return values;
}

/** Merges path, query and body for the action. The path wins, so a body cannot name another id. */
export async function readParams(exchange: HttpExchange, runtime: Pick<Runtime, "blobs" | "config">) {
  const { op, path } = exchange;
  const query = readQuery(exchange);
  if (!op.body) {
    if (op.method !== "GET") await requireNoFields(exchange);
    return { ...query, ...path };
  }
  const body = await readBody(exchange, runtime);
  return op.url.includes("{") || op.query ? { ...query, ...body, ...path } : body;
}

function readBody(
  exchange: HttpExchange,
  { blobs, config }: Pick<Runtime, "blobs" | "config">,
): Promise<Record<string, unknown>> {
  const { op, caller } = exchange;
  // Only callers with a tenant may send stored fields.
  if (op.byReference && caller) return readByReference(exchange, caller.tenant_id, blobs);
  const consumes = op.consumes ?? "json";
  if (consumes === "json")
    return isTokenRequest(op, exchange.req) ? readTokenRequest(exchange) : readJson(exchange);
  if (consumes === "form") return readForm(exchange);
  if (consumes === "raw") return readDelivery(exchange);
  return readCloudEvents(exchange, config.EVENT_MAX_BYTES);
}

/** Reads the body, uncompressed as senders sign it, and the headers, both as text: nodes use JSON, which would encode bytes as lists of numbers. */
async function readDelivery({ op, req }: HttpExchange): Promise<Record<string, unknown>> {
  const raw = await readUncompressed(req, maxBodyOf(op));
  const headers = Object.entries(req.headers).map(([name, value]) => [name, headerText(String(value))]);
  const target = (req as GatewayRequest).originalUrl;
  return { raw: raw.toString("base64"), headers: Object.fromEntries(headers), ...(target && { target }) };
}
