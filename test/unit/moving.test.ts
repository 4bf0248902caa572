import { randomBytes } from "node:crypto";
import { expect, test } from "@jest/globals";
import { SecretBox, SecretError } from "../../lib/crypto/secrets.ts";
import {
  exportRow,
  isSameRow,
  MOVED,
  readRows,
  toImport,
  unmoved,
} from "../../services/identity/tenants/portable-rows.ts";
import { MODELS } from "../../services/models.ts";
import { type Model, sealedFields, type TenantDocument } from "../../storage/model.ts";

const schemaOf = (model: unknown) => (model as Model<TenantDocument>).schema;
const movedModel = (name: string) => MOVED.find((model) => model.name === name) as (typeof MOVED)[number];
const box = () => new SecretBox(randomBytes(32));

test("every collection says how it moves", () => {
  expect(unmoved()).toEqual([]);
});

test("a collection that does not say so is found", () => {
  const silent = [{ name: "notes" }, { name: "drafts", move: {} as never }];
  expect(unmoved([...MODELS, ...silent])).toEqual(["notes", "drafts"]);
});

test("what search follows is stamped, and what is stamped exists", () => {
  for (const model of MOVED) {
    const followed = schemaOf(model)
      .indexes()
      .some(([key]) => Object.keys(key)[0] === "changed_at");
    expect([model.name, model.move.stamped]).toEqual([model.name, followed ? "changed_at" : undefined]);
  }
});

test("every text that is sealed is declared: a field that is called so, and no other collection's", () => {
  const named = (name: string) => /^sealed|_sealed|^signing_secrets$/.test(name);
  for (const model of MOVED) {
    const declared = sealedFields(schemaOf(model)).map(({ path }) => path.split(".")[0] as string);
    const fields = Object.keys(schemaOf(model).obj).filter(named);
    expect(declared).toEqual(expect.arrayContaining(fields));
  }
});

const agent = (own: SecretBox) => ({
  _id: "ag_1",
  tenant_id: "tn_1",
  at: new Date(1),
  signing_secrets: [{ sealed: own.seal("whsec_x", "agents/ag_1/signing"), ends_at: null }],
});

test("a row travels with its secrets under the export's key, and no other opens them", () => {
  const [own, portable, there] = [box(), box(), box()];
  const line = exportRow(movedModel("agents"), agent(own), { own, portable });
  const [row] = readRows("tn_1", line);
  if (!row) throw new Error("no row");
  const boxes = { own: there, portable };
  const { row: stored, isUnset } = toImport(
    movedModel("agents"),
    readRows("tn_1", line)[0] as never,
    boxes,
    new Date(),
  );
  const sealed = (stored as unknown as ReturnType<typeof agent>).signing_secrets[0]?.sealed;
  expect([isUnset, there.open(sealed as never, "agents/ag_1/signing")]).toEqual([false, "whsec_x"]);
  expect((stored as unknown as { at: Date }).at).toEqual(new Date(1));
  expect(isSameRow(movedModel("agents"), stored as TenantDocument, row, boxes)).toBe(true);
  const changed = { ...stored, name: "changed" } as unknown as TenantDocument;
  expect(isSameRow(movedModel("agents"), changed, row, boxes)).toBe(false);
  expect(() => toImport(movedModel("agents"), row, { own: there, portable: box() }, new Date())).toThrow(
    SecretError,
  );
});

test("without a key secrets are left out, and replaced by random ones", () => {
  const own = box();
  const line = exportRow(movedModel("agents"), agent(own), { own, portable: null });
  expect(line).not.toContain("v1.");
  const [row] = readRows("tn_1", line);
  const { row: stored, isUnset } = toImport(
    movedModel("agents"),
    row as never,
    { own, portable: null },
    new Date(),
  );
  const sealed = (stored as unknown as ReturnType<typeof agent>).signing_secrets[0]?.sealed;
  expect(isUnset).toBe(true);
  expect(own.open(sealed as never, "agents/ag_1/signing")).toMatch(/^whsec_.{44}$/);
});

test("rows of another tenant, and what is no row, are refused", () => {
  for (const line of [
    '{"_id":"a","tenant_id":"tn_2"}',
    '{"tenant_id":"tn_1"}',
    '{"_id":{"$ne":1},"tenant_id":"tn_1"}',
    "x",
  ])
    expect(() => readRows("tn_1", line)).toThrow(/rows:/);
});
