import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { SchemaType } from "mongoose";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { MOVED } from "../../services/identity/tenants/portable-rows.ts";
import { fieldsOf } from "../../storage/model.ts";
import { api } from "../support/http.ts";
import { ofKits } from "../support/kits.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, type World } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

// Rows of an import are input. For each field of each collection: what is refused, and what is taken must harm nobody else.

const TENANT = "tn_guest";

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" } });
const operator = api(server, OPERATOR_TOKEN);
const world = await makeWorld(server, "host");

type Options = {
  large?: boolean;
  enum?: string[];
  match?: RegExp;
  type: unknown[];
  validate?: { message?: string };
};
type Path = SchemaType & { options: Options; schema?: { paths: Record<string, Path> } };
const date = ($: number) => ({ $ });
const key = randomBytes(32).toString("base64");
const box = new SecretBox(Buffer.from(key, "base64"));
const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}{}${"}".repeat(levels)}`);

/** A value of a field's kind, as an archive has it. */
function sampleOf({ instance, options, schema }: Path, id: string): unknown {
  if (schema) return instance === "Array" ? [rowOf(schema.paths, id)] : rowOf(schema.paths, id);
  if (options.sealed) return box.seal("a secret", options.sealed.place(id));
  if (instance === "String" && options.enum) return options.enum[0];
  if (instance === "String") return options.match ? "0".repeat(43) : options.validate ? "{}" : "a";
  return { Number: 1, Boolean: true, Date: date(1e12), Buffer: { $: "b00AAAA" }, Mixed: {}, Array: [] }[
    instance
  ];
}
const rowOf = (paths: Record<string, Path>, id: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, sampleOf(path, id)]));

const isFree = ({ instance, options }: Path) =>
  instance !== "String" || !(options.enum || options.match || options.validate || options.sealed);

/** Values that no field of a kind may have. */
const WRONG: Record<string, unknown[]> = {
  String: [5, {}, ["a"], "x".repeat(70_000)],
  Number: ["1", {}, 1e300, Number.MIN_SAFE_INTEGER],
  Boolean: ["no", 1],
  Date: ["2026-01-01", 1e12, date(9e15), date(3e14), date(-1e14)],
  ...{ Mixed: ["a", 5, deep(1_000)], Array: ["a", { a: 1 }, [null]], Embedded: ["a", 5, []] },
};
/** Unusual values that are allowed. */
const EXTREME: Record<string, unknown[]> = {
  String: ["", "~~", "\u{10ffff}", "x".repeat(6_000)],
  Number: [1e15, -1e15, 0.5],
  ...{ Date: [date(Date.UTC(9998)), date(Date.UTC(1))], Mixed: [{ v1: 5 }, [], deep(60)], Array: [[]] },
};

type Case = { id: string; row: string; field: string; isRefused: boolean };

/** Rows of a collection in which one field is missing, of another type or extreme. */
function casesOf(name: string, paths: Record<string, Path>): Case[] {
  let count = 0;
  const of = (field: string, value: unknown, isRefused: boolean): Case => {
    const id = `${name}_${count++}`;
    const row = { ...rowOf(paths, id), [field]: value, _id: id, tenant_id: TENANT };
    return { id, row: JSON.stringify(row), field, isRefused };
  };
  const fields = Object.entries(paths).filter(([field]) => !["_id", "tenant_id"].includes(field));
  return fields.flatMap(([field, path]) => [
    of(field, undefined, path.isRequired === true),
    ...(WRONG[path.instance] ?? [])
      .filter((value) => typeof value !== "string" || !(path.options.large || path.options.sealed))
      .map((value) => of(field, value, true)),
    ...(isFree(path) ? (EXTREME[path.instance] ?? []) : []).map((value) => of(field, value, false)),
  ]);
}

const begin = { tenant: { id: TENANT, slug: "guest", name: "g", created_at: "2026-01-01T00:00:00.000Z" } };
const importing = (more: object) => {
  const limits = { storage_quota_mb: null, requests_per_minute: null };
  return operator.post("/tenants/import", {
    tenant: { ...begin.tenant, ...limits },
    export_id: "e",
    ...more,
  });
};

test("each wrong row is refused with its field, and each odd one that is taken harms no other tenant", async () => {
  ok(await importing({}));
  const wrong: string[] = [];
  for (const { name, schema } of MOVED) {
    const cases = casesOf(name, (schema as unknown as { paths: Record<string, Path> }).paths);
    expect(cases.length).toBeGreaterThan(0);
    const refused = new Map<string, string>();
    for (const page of pages(cases)) {
      const rows = page.map(({ row }) => `${row}\n`).join("");
      const answer = ok(
        await operator.post(`/tenants/${TENANT}/import/rows`, { collection: name, rows, key }),
      );
      for (const { id, reason } of answer.refused) refused.set(id, reason);
    }
    for (const { id, field, isRefused, row } of cases) {
      const reason = refused.get(id);
      const why = `${name}.${field}: ${reason?.slice(0, 80)} for ${row.slice(0, 200)}`;
      if (isRefused && !reason?.startsWith(field)) wrong.push(why);
      // Another row may have the same unique field.
      if (!isRefused && reason && !reason.includes("another row")) wrong.push(why);
    }
  }
  expect(wrong).toEqual([]);
  expect(await importing({ complete: true })).toMatchObject({ status: 409 });
  // Who begins again wants the rows that fit.
  ok(await importing({}));
  ok(await importing({ complete: true }));
  await worksFor(world);
});

function isTextual({ options }: Path): boolean {
  const [of] = options.type as { type: unknown; enum?: string[] }[];
  return of?.type === String && !of.enum;
}

/** Returns a value of a field that has an id wherever it may; undefined if it may not. */
function named(path: Path, id: string, row_id: string): unknown {
  if (path.instance === "String") return isFree(path) ? id : undefined;
  if (path.instance === "Mixed") return { a: [{ b: id }] };
  if (path.instance !== "Array") return undefined;
  if (!path.schema) return isTextual(path) ? [id] : undefined;
  const inner = Object.entries(path.schema.paths).map(
    ([name, each]) => [name, named(each, id, row_id), each] as const,
  );
  if (inner.every(([, value]) => value === undefined)) return undefined;
  return [Object.fromEntries(inner.map(([name, value, each]) => [name, value ?? sampleOf(each, row_id)]))];
}

/** Fields that the server computes again: the values in an archive are never read. */
const COMPUTED = {
  ...(await ofKits("computed")),
  ...{ approvals: "queue", deliveries: "held_key active_key slot_key", documents: "live_key queue" },
  events: "waiting_key fanout_key fanout_owner unmatched_key",
  merge_proposals: "pair open_pair",
  ...{ outputs: "queue", replays: "running_key queue", users: "password" },
};

test("a row that names another tenant's in any field but content is refused, and one of its own is not", async () => {
  const tenant = { ...begin.tenant, id: "tn_foreign", slug: "foreign" };
  const limits = { storage_quota_mb: null, requests_per_minute: null };
  ok(await operator.post("/tenants/import", { tenant: { ...tenant, ...limits }, export_id: "e" }));
  const memory = { title: "t", content: "c", type: "semantic", scope: "agent" };
  const [memoryId, runId] = [
    ok(await world.agent.post("/memories", memory)).id,
    ok(await world.agent.post("/runs", { goal: "g" })).id,
  ];
  const taken = new Map<string, Set<string>>();
  for (const { name, schema } of MOVED) {
    const { paths } = schema as unknown as { paths: Record<string, Path> };
    const isContent = (field: string) =>
      fieldsOf(schema)
        .filter(({ path }) => path.split(".")[0] === field)
        .every(({ content, kept }) => content === true || kept);
    const fields = Object.entries(paths).filter(
      ([field, path]) => !["_id", "tenant_id"].includes(field) && named(path, "", "") !== undefined,
    );
    const rows = fields.flatMap(([field, path], n) =>
      [world.agentId, memoryId, `${runId} 1`, "ag_own"].map((id, i) => {
        const _id = `r${name}${n}_${i}`;
        const own = { ...rowOf(paths, _id), _id, tenant_id: tenant.id };
        const value = named(path, id, _id);
        return { field, isOwn: i === 3, row: { ...own, [field]: value } };
      }),
    );
    const text = rows.map(({ row }) => `${JSON.stringify(row)}\n`).join("");
    const { refused } = ok(
      await operator.post(`/tenants/${tenant.id}/import/rows`, { collection: name, rows: text, key }),
    );
    const reasons = new Map<string, string>(
      refused.map(({ id, reason }: { id: string; reason: string }) => [id, reason]),
    );
    for (const { field, isOwn, row } of rows) {
      const reason = reasons.get(row._id) ?? "";
      const isForeign = reason.endsWith("is another tenant's.");
      if (isOwn || isContent(field)) expect([name, field, isForeign]).toEqual([name, field, false]);
      else if (!isForeign) taken.set(name, (taken.get(name) ?? new Set()).add(field));
    }
  }
  const found = [...taken].map(([name, fields]) => [name, [...fields].join(" ")]);
  expect(Object.fromEntries(found)).toEqual(COMPUTED);
});

function* pages(cases: Case[]): Generator<Case[]> {
  for (let at = 0; at < cases.length; at += 200) yield cases.slice(at, at + 200);
}

/** The tenant's events, runs, approvals and documents go their way. */
async function worksFor({ agent, agentId }: World): Promise<void> {
  for (const event_type of ["order.*", "service.*"])
    ok(await agent.post(`/agents/${agentId}/interests`, { event_type }));
  ok(await agent.post("/events", { specversion: "1.0", id: "after", type: "order.placed", source: "/s" }));
  const document = ok(
    await agent.post("/documents", {
      ...{ filename: "a.md", mime_type: "text/markdown" },
      file_content: Buffer.from("# After the import").toString("base64"),
    }),
  );
  ok(await agent.post("/runs", { goal: "g" }));
  ok(await agent.post("/approvals", { title: "t", question: "q" }));
  const seen = new Set<string>();
  await settle(async () => {
    const { deliveries } = ok(await agent.get("/delivery/poll?limit=50"));
    for (const each of deliveries) seen.add(each.payload.type);
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
    if (delivery_ids.length) ok(await agent.post("/delivery/ack", { delivery_ids }));
    return ["order.placed", "service.run.created", "service.approval.requested"].every((type) =>
      seen.has(type),
    );
  });
  await settle(async () => ok(await agent.get(`/documents/${document.document_id}`)).status === "stored");
}
