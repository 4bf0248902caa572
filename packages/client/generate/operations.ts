import { type Operation as Contract, isAudited } from "../../../lib/contract/contract.ts";
import type { Operation } from "../operation.ts";
import type { JsonSchema } from "./schema-types.ts";

/** Idempotent changes: they need no Idempotency-Key, which the service would have to store. */
const REPEATABLE = new Set([
  "auth.logout",
  "deliveries.ack",
  "deliveries.extend",
  "events.publish",
  "handoffs.resume",
]);

const SENDS: Partial<Record<NonNullable<Contract["consumes"]>, string>> = {
  cloudevents: "application/cloudevents+json",
  raw: "application/octet-stream",
};

/** Returns an operation's place in the client: `devices.look_up` → `["devices", "lookUp"]`. */
export function nameOf({ action }: Contract): [string, string] {
  return action.split(".").map(camel) as [string, string];
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns how the client calls an operation. */
export function describe(op: Contract): Operation {
  const pages = pagesOf(op);
  // A parameter allowed in either goes in the body, which holds any JSON.
  const query = Object.keys(op.query ?? {}).filter((name) => !(name in (op.body ?? {})));
  return {
    method: op.method,
    path: op.url,
    ...(op.root && { root: true }),
    ...(op.body && query.length && { query }),
    ...(op.wholeBody && { whole: Object.keys(op.body ?? {})[0] as string }),
    ...(op.consumes && SENDS[op.consumes] && { sends: SENDS[op.consumes] as string }),
    ...callersOf(op),
    ...((op.reads || REPEATABLE.has(op.action)) && { repeatable: true }),
    ...(op.stream && { stream: true }),
    ...(!op.stream && (op.produces || op.alsoProduces) && { document: true }),
    ...(pages && { pages }),
    ...(isAudited(op) && { audited: true }),
  };
}

function callersOf({ access }: Contract): Pick<Operation, "open" | "by" | "scope" | "people"> {
  if (access.by === "public") return { open: true };
  const { by, ...rest } = access;
  const { scope, people } = rest as { scope?: string; people?: "org_admin" };
  return { ...(by !== "any" && { by }), ...(scope && { scope }), ...(people && { people }) };
}

/** Returns how a list is paged: it takes a cursor or an offset, and answers one array of items. */
export function pagesOf({ query = {}, results, method }: Contract): Operation["pages"] {
  const by = "cursor" in query ? "cursor" : "offset" in query ? "offset" : undefined;
  const items = method === "GET" && results[200] ? itemsOf(results[200] as JsonSchema) : undefined;
  return by && items !== undefined ? { items, by } : undefined;
}

function itemsOf(result: JsonSchema): string | undefined {
  if (result.type === "array") return "";
  const { properties = {}, required = [] } = result;
  const arrays = required.filter((name) => properties[name]?.type === "array");
  return arrays.length === 1 ? arrays[0] : undefined;
}
