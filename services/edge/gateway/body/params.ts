import { Type } from "typebox";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import { compileQueryCheck } from "../../../../lib/contract/validator.ts";
import { oncePer } from "../../../../lib/once-per.ts";
import type { Runtime } from "../../../runtime.ts";
import { headerText } from "../access/client-address.ts";
import { isTokenRequest, readForm, readTokenRequest } from "../access/oauth.ts";
import type { GatewayRequest, HttpExchange } from "../http-exchange.ts";
import { readJson, readUncompressed, requireNoFields } from "./body.ts";
import { maxBodyOf } from "./budget.ts";
import { readByReference } from "./by-reference.ts";
import { readCloudEvents } from "./cloudevents.ts";

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
function requireSpelling(op: Operation, given: string[]): void {
  for (const field of given) {
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
    await requireNoFields(exchange);
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
