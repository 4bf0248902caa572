import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "@jest/globals";
import { SecretBox, SecretError } from "../../lib/crypto/secrets.ts";
import { Moving } from "../../services/identity/tenants/moving.ts";
import { exportRow, MOVED, readRows, toImport } from "../../services/identity/tenants/portable-rows.ts";
import { type TenantDoc, TenantModel } from "../../services/identity/tenants/tenants.model.ts";
import { ErasureModel } from "../../services/remember/search/search.model.ts";
import { type Model, sealedFields, type TenantDocument } from "../../storage/model.ts";
import { tenantErasure } from "../../storage/search/protocol.ts";
import { loadKits } from "../support/kits.ts";
import { temporaryStore } from "../support/own-store.ts";
import { words } from "../support/words.ts";

const schemaOf = (model: unknown) => (model as Model<TenantDocument>).schema;
const movedModel = (name: string) => MOVED.find((model) => model.name === name) as (typeof MOVED)[number];
const box = () => new SecretBox(randomBytes(32));

test("what search follows is stamped, and no key is taken that another tenant's rows could have", () => {
  const now = new Date(2);
  for (const { name, anew, ...model } of MOVED) {
    const first = schemaOf(model)
      .indexes()
      .map(([key]) => Object.keys(key)[0] as string);
    const kindOf = (field: string) => schemaOf(model).path(field)?.instance;
    const keys = new Set(first.filter((field) => field !== "tenant_id" && kindOf(field) === "String"));
    for (const field of words`email hash identity.subject queue answer_blob state delivery_mode`)
      keys.delete(field);
    const row = { ...Object.fromEntries([...keys].map((field) => [field, "tn_2 of another"])), outbox: [] };
    const own = { _id: "one", tenant_id: "tn_1", agent_id: "ag_1", event_id: "evt_1", state: "dead" };
    const made: Record<string, unknown> = {
      ...anew?.({ ...row, ...own, dead_lettered_at: now } as never, now),
    };
    for (const field of keys) expect(`${name} ${field}: ${made[field]}`).not.toMatch(/_2/);
    for (const field of keys)
      expect([name, Object.keys(made)]).toEqual([name, expect.arrayContaining([field])]);
    if (first.includes("changed_at")) expect([name, made.changed_at]).toEqual([name, now]);
  }
});

const KITS = await loadKits();

/** Their ids are made of others, or of names and digests: what refers to them has one of these. */
const MADE_IDS =
  "idempotency_keys onboarding finding_cursors findings memory_keys embeddings specialist_loads channel_members " +
  "delivery_progress event_types webhook_bodies webhook_logs push_endpoints output_chunks run_facts memory_cites event_waits";

test("every collection says what its ids look like, so that an import finds those of other tenants", () =>
  expect(MOVED.flatMap(({ name, ids }) => (ids ? [] : name)).sort()).toEqual(
    [...MADE_IDS.split(" "), ...KITS.flatMap(({ madeIds = [] }) => madeIds)].sort(),
  ));

test("every text that is sealed is declared: a field that is called so, and no other collection's", () => {
  const named = (name: string) => /^sealed|_sealed|^signing_secrets$/.test(name);
  for (const model of MOVED) {
    const declared = sealedFields(schemaOf(model)).map(({ path }) => path.split(".")[0] as string);
    expect(declared).toEqual(expect.arrayContaining(Object.keys(schemaOf(model).obj).filter(named)));
  }
});

const agent = (own: SecretBox) => ({
  ...{ _id: "ag_1", tenant_id: "tn_1", at: new Date(1) },
  signing_secrets: [{ sealed: own.seal("whsec_x", "agents/ag_1/signing"), ends_at: null }],
});

test("a row travels with its secrets under the export's key, and no other opens them", () => {
  const [own, portable, there] = [box(), box(), box()];
  const line = exportRow(movedModel("agents"), agent(own), { own, portable });
  const [row] = readRows("tn_1", line);
  if (!row) throw new Error("no row");
  const boxes = { own: there, portable };
  const { row: stored, isUnset } = toImport(movedModel("agents"), readRows("tn_1", line)[0] as never, boxes);
  const sealed = (stored as unknown as ReturnType<typeof agent>).signing_secrets[0]?.sealed;
  expect([isUnset, there.open(sealed as never, "agents/ag_1/signing")]).toEqual([false, "whsec_x"]);
  expect((stored as unknown as { at: Date }).at).toEqual(new Date(1));
  expect(() => toImport(movedModel("agents"), row, { own: there, portable: box() })).toThrow(SecretError);
});

test("without a key secrets are left out, and replaced by random ones", () => {
  const own = box();
  const line = exportRow(movedModel("agents"), agent(own), { own, portable: null });
  expect(line).not.toContain("v1.");
  const [row] = readRows("tn_1", line);
  const { row: stored, isUnset } = toImport(movedModel("agents"), row as never, { own, portable: null });
  const sealed = (stored as unknown as ReturnType<typeof agent>).signing_secrets[0]?.sealed;
  expect(isUnset).toBe(true);
  expect(own.open(sealed as never, "agents/ag_1/signing")).toMatch(/^whsec_.{44}$/);
});

test("rows of another tenant, and what is no row, are refused", () => {
  for (const line of [
    ...['{"_id":"a","tenant_id":"tn_2"}', '{"tenant_id":"tn_1"}', '{"_id":{"$ne":1},"tenant_id":"tn_1"}'],
    ...["x", "null", "[]"],
  ])
    expect(() => readRows("tn_1", line)).toThrow(/rows:/);
});

const at = new Date(1);

test("an export has every row of the tenant, in pages of a few, and no other tenant's", async () => {
  const files = await temporaryStore();
  try {
    const { store } = files;
    const tenants = store.collection(TenantModel);
    const channels = store.collection(movedModel("channels"));
    const moving = new Moving({ store, secrets: box() } as never, tenants);
    await store.ready();
    for (const _id of ["tn_1", "tn_2"]) {
      const tenant = { _id, tenant_id: _id, slug: _id, name: "", status: "active" };
      await tenants.insert({ ...tenant, routing_version: 1, created_at: at, updated_at: at } as TenantDoc);
      // Two are more than a page.
      for (const n of [1, 2, 3])
        await channels.insert({
          ...{ _id: `ch_${n}_${_id}`, tenant_id: _id, name: `${n}`, description: "x".repeat(600_000) },
        } as never);
    }
    const found: string[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const params = { tenant_id: "tn_1", collection: "channels", after };
      const { rows, next } = await moving.exportRows({ params } as never);
      found.push(...readRows("tn_1", rows).map(({ _id }) => _id));
      after = next ?? undefined;
    }
    expect(found).toEqual(["ch_1_tn_1", "ch_2_tn_1", "ch_3_tn_1"]);
  } finally {
    await files.remove();
  }
});

const files = await temporaryStore();
afterAll(() => files.remove());

describe("a tenant that was erased here and returns", () => {
  test("has its own limits, and no index drops it again", async () => {
    const { store } = files;
    const [tenants, notes] = [store.collection(TenantModel), store.collection(ErasureModel)];
    const quotas: unknown[] = [];
    const usage = {
      async setQuota(...quota: unknown[]) {
        if (quotas.push(quota) === 1) throw new Error("cut off");
      },
    };
    const moving = new Moving({ store, usage, secrets: box() } as never, tenants);
    await store.ready();
    const erased = {
      ...{ _id: "tn_1", tenant_id: "tn_1", slug: "tn_1", name: "", status: "erased", export_id: "e" },
    };
    const counts = { routing_version: 4, requests_per_minute: 5, created_at: at, updated_at: at };
    await tenants.insert({ ...erased, ...counts } as TenantDoc);
    for (const id of ["tn_1", "tn_2"]) await notes.insert(tenantErasure(id, at));
    const limits = { storage_quota_mb: 9, requests_per_minute: null };
    const tenant = { id: "tn_1", slug: "acme", name: "Acme", ...limits, created_at: at.toISOString() };
    const importing = () => moving.importTenant({ params: { tenant, export_id: "f" } } as never);
    await expect(importing()).rejects.toThrow("cut off");
    expect(await importing()).toEqual({ status: "importing", slug: "acme", done: false });
    expect(quotas).toEqual([
      ["tn_1", 9],
      ["tn_1", 9],
    ]);
    const found = await tenants.findOne("tn_1", { _id: "tn_1" });
    expect(found).toMatchObject({ export_id: "f", routing_version: 5, token_version: 1 });
    expect(found).not.toHaveProperty("requests_per_minute");
    const left = await notes.system.find({}, { projection: { _id: 1 } }).toArray();
    expect(left.map(({ _id }) => _id)).toEqual(["tenant tn_2"]);
    // So has one that was never here.
    const other = { ...tenant, id: "tn_3", slug: "other", requests_per_minute: 7 };
    await moving.importTenant({ params: { tenant: other, export_id: "f" } } as never);
    expect(await tenants.findOne("tn_3", { _id: "tn_3" })).toMatchObject({ requests_per_minute: 7 });
    expect(quotas.at(-1)).toEqual(["tn_3", 9]);
  });
});
