import { type Operation as Contract, isAudited } from "../../../lib/contract/contract.ts";
import type { Operation } from "../operation.ts";
import { isJson, type JsonSchema } from "./json.ts";

/** Idempotent changes: they need no Idempotency-Key, which the service would have to store. */
const REPEATABLE = new Set([
  "auth.logout",
  "deliveries.ack",
  "deliveries.extend",
  "deliveries.next",
  "events.publish",
  "handoffs.resume",
  "tenants.import",
  "tenants.import_content",
  "tenants.import_rows",
]);

const SENDS: Partial<Record<NonNullable<Contract["consumes"]>, string>> = {
  cloudevents: "application/cloudevents+json",
  raw: "application/octet-stream",
};

/** Returns `generated/operations.ts`. Pure: the same contracts give the same file. */
export function tableOf(contracts: readonly Contract[]): string {
  const services = new Map<string, Map<string, Contract>>();
  for (const op of contracts) {
    // Separate protocols with their own clients.
    if (op.action === "gateway.mcp" || op.oauth) continue;
    const [service, name] = nameOf(op);
    const calls = services.get(service) ?? new Map<string, Contract>();
    services.set(service, calls);
    // For an operation at two paths, use the one under /v1.
    if (!calls.has(name) || !op.root) calls.set(name, op);
  }
  const groups = [...services]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([service, calls]) => {
      const rows = [...calls].map(([name, op]) => `    ${name}: ${JSON.stringify(describe(op))},\n`);
      return `  ${service}: {\n${rows.join("")}  },\n`;
    });
  return [
    "// Written by `npm run openapi` from the contracts: change those.\n",
    'import type { Operation } from "../operation.ts";\n\n',
    `export const OPERATIONS = {\n${groups.join("")}} as const satisfies Record<string, Record<string, Operation>>;\n`,
  ].join("");
}

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
    ...(!op.stream && isDocument(op) && { document: true }),
    ...(op.fromBlob === "answer" && { file: true }),
    ...(pages && { pages }),
    ...(isAudited(op) && { audited: true }),
  };
}

/** Whether an operation answers with something else than JSON, or sometimes does. */
export function isDocument({ produces, alsoProduces }: Pick<Contract, "produces" | "alsoProduces">): boolean {
  return alsoProduces !== undefined || (produces !== undefined && !produces.every(isJson));
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
