import { expect, test } from "@jest/globals";
import { faultsOf } from "../support/mongo-rules.ts";

const writeConcern = { w: "majority", j: true };

test("accepts commands that hold everywhere", () => {
  const commands = [
    { find: "events", filter: {} },
    { insert: "events", documents: [{ _id: "1", at: new Date(), list: [{ name: "x" }] }], writeConcern },
    {
      update: "events",
      updates: [{ q: { tenant_id: "t" }, u: { $set: { "a.b": 1 } }, multi: true }],
      writeConcern,
    },
    {
      update: "deliveries",
      updates: [{ q: { _id: "1" }, u: { $push: { timeline: { $each: [{ what: "x" }], $slice: -2 } } } }],
      writeConcern,
    },
    { delete: "runs", deletes: [{ q: { _id: "1", tenant_id: "t" }, limit: 1 }], writeConcern },
    { findAndModify: "agents", query: { name: "x" }, update: { $inc: { n: 1 } }, writeConcern },
    {
      ...{ findAndModify: "events", query: { tenant_id: "t", ce_id: null }, update: { $inc: { n: 1 } } },
      writeConcern,
    },
  ];
  expect(commands.flatMap(faultsOf)).toEqual([]);
});

test.each([
  [
    { insert: "agents", documents: [{}], writeConcern: { w: "majority" } },
    "insert agents is answered before a majority has it on disk",
  ],
  [
    { findAndModify: "events", query: { _id: "1", tenant_id: "t" }, update: {}, writeConcern },
    'findAndModify events has no ce_id in ["_id","tenant_id"]',
  ],
  [
    { findAndModify: "events", query: { tenant_id: "t", ce_id: { $in: ["1"] } }, update: {}, writeConcern },
    'findAndModify events has no ce_id in ["tenant_id","ce_id"]',
  ],
  [
    {
      update: "output_chunks",
      updates: [{ q: { _id: "1", tenant_id: "t" }, u: {}, upsert: true }],
      writeConcern,
    },
    'update output_chunks has no output_id in ["_id","tenant_id"]',
  ],
  [
    { find: "blobs.chunks", filter: { tenant_id: "t" } },
    "find blobs.chunks goes through the bytes of all files: none has a tenant",
  ],
  [
    { delete: "events", deletes: [{ q: { tenant_id: "t" }, limit: 1 }], writeConcern },
    'delete events has no ce_id in ["tenant_id"]',
  ],
  [
    { insert: "agents", documents: [{ given: [{ "a.b": 1 }] }], writeConcern },
    'insert agents stores a field of the name "a.b"',
  ],
  [
    { update: "agents", updates: [{ q: {}, u: { $set: { given: { $where: 1 } } } }], writeConcern },
    'update agents stores a field of the name "$where"',
  ],
])("%j is refused", (command, fault) => expect(faultsOf(command)).toEqual([fault]));
