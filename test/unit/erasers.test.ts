import { expect, test } from "@jest/globals";
import { erasersOf, ownersOf, unerased } from "../../services/erasers.ts";
import { serviceFactories } from "../../services/index.ts";
import { MODELS } from "../../services/models.ts";
import { sources } from "../support/sources.ts";

const product = sources("{bin,middlewares,mixins,services,storage}/**/*.ts");

test("every collection says how its content is erased", () => expect(unerased()).toEqual([]));

test("a collection that does not say so is found", () => {
  const silent = { name: "notes", erasure: {} };
  expect(unerased([...MODELS, silent, { name: "drafts" }])).toEqual(["notes", "drafts"]);
  const declared = [
    { name: "a", erasure: { agent: "notes.erase" } },
    { name: "b", erasure: { with: "a" } },
    { name: "c", erasure: { none: "counts" } },
  ];
  expect(unerased(declared)).toEqual([]);
});

test("no collection is opened without a model", () => {
  const inline = product.filter(({ text }) => /\.collection(<\w+>)?\(\{/.test(text)).map(({ file }) => file);
  // Its rows go with the last row that references them.
  expect(inline).toEqual(["storage/blobs/gridfs.ts"]);
});

test("every named eraser is an action, and every named owner a field", () => {
  const text = product.map((each) => each.text).join("\n");
  const kinds = ["agent", "subject", "memories", "mentions"] as const;
  for (const name of kinds.flatMap((kind) => erasersOf(kind))) {
    const [service = "", action = ""] = name.split(".");
    expect(Object.keys(serviceFactories)).toContain(service);
    expect(text).toMatch(new RegExp(`^\\s+${action}: idempotent<`, "m"));
  }
  const schemas = new Map(
    MODELS.map((model) => [model.name, (model as unknown as { schema: { paths: object } }).schema.paths]),
  );
  for (const { name, field } of ownersOf()) expect(Object.keys(schemas.get(name) ?? {})).toContain(field);
});
