import { Type } from "typebox";
import type { Operation } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import type { Answer, Api } from "./http.ts";
import { identifierKind, sampleBody } from "./sample.ts";
import type { World } from "./tenancy.ts";
import { words } from "./words.ts";

/**
 * These return their current contents, hold the connection, or count reads, so two of their answers always differ.
 */
const NOT_PLAIN_READS = words`
  audit.export audit.list deliveries.poll deliveries.stream events.stream findings.list live.history
  live.stats live.watch`;

// Metrics belong to the installation, not to a tenant, and are guarded otherwise (observability.test.ts).
export const guarded = operations.filter((op) => op.access.by !== "public" && op.access.by !== "monitor");
/** The ids of a tenant for the path of an operation, and for what its query must have. */
export async function idsOf(op: Operation, world: World): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const { required = [] } = Type.Object(op.query ?? {}) as { required?: string[] };
  const inQuery = Object.entries(op.query ?? {}).filter(([name]) => required.includes(name));
  for (const [name, schema] of [...Object.entries(op.path ?? {}), ...inQuery]) {
    const kind = identifierKind(schema);
    if (!kind) throw new Error(`${op.route}: {${name}} has no kind of identifier`);
    ids[name] = await world.idOf(kind);
  }
  return ids;
}

/** The strongest caller of a tenant that the operation takes. */
export function callerOf(op: Operation, world: World): Api {
  return op.access.by === "agent" || op.access.by === "any" ? world.agent : world.admin;
}

function queryOf(op: Operation, ids: Record<string, string>): string {
  const inQuery = Object.entries(ids).filter(([name]) => !op.url.includes(`{${name}}`));
  return inQuery.length ? `?${new URLSearchParams(inQuery)}` : "";
}

/** Sends a request of an operation. @param root the origin of the server */
export async function ask(
  root: string,
  caller: Api,
  op: Operation,
  ids: Record<string, string>,
  headers?: Record<string, string>,
  body: unknown = sampleBody(op.body ?? {}),
): Promise<Answer> {
  const path =
    (op.root ? root : "") +
    op.url.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] as string)) +
    queryOf(op, ids);
  if (op.method === "GET") return caller.get(path, headers);
  if (op.method === "DELETE") return caller.del(path, headers);
  const given = op.body ? body : undefined;
  const send = { POST: caller.post, PUT: caller.put, PATCH: caller.patch }[op.method as "POST"];
  return send(path, given, headers);
}

/** All that a tenant's strongest caller can read, without what changes by being read. */
export async function holdings(world: World): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const op of guarded) {
    if (op.method !== "GET" || op.access.by === "operator" || NOT_PLAIN_READS.includes(op.action)) continue;
    const { status, body } = await ask(world.root, callerOf(op, world), op, await idsOf(op, world));
    found[op.action] = { status, body: steady(body) };
  }
  return found;
}

/** Fields that change by themselves or when read. */
const VOLATILE = words`
  accessed_at last_used_at expires_at oldest_age_seconds server_now request_id used_bytes`;

function steady(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value) => (VOLATILE.includes(name) ? undefined : value));
}
