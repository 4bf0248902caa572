import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "mongodb";

const SHARDING = readFileSync(join(import.meta.dirname, "../../docs/sharding.md"), "utf8");

/** The fields of a collection's shard key, as docs/sharding.md has it. */
const SHARD_KEYS = new Map(
  [...SHARDING.matchAll(/^\| `([a-z_]+)` \| `([^`]+)` \| .+ \|$/gm)].map(([, name = "", key = ""]) => [
    name,
    key.replace(": hashed", "").split(", "),
  ]),
);

const WRITES = new Set(["insert", "update", "delete", "findAndModify"]);

/**
 * Returns the parts of a command that a real MongoDB would refuse or treat differently than the stand-in and the embedded
 * store: writes answered before they are durable; on sharded collections, single-document writes without the shard key
 * (MongoDB 7: the whole key for findAndModify and upserts, else the key or the id); and fields whose names mean something
 * in a statement. Also reports finds over the bytes of all files.
 */
export function faultsOf(command: Document): string[] {
  const [name = ""] = Object.keys(command);
  const collection = String(command[name]);
  if (name === "find" && collection.startsWith("blobs.") && "tenant_id" in command.filter)
    return [`find ${collection} goes through the bytes of all files: none has a tenant`];
  if (!WRITES.has(name)) return [];
  const { w, j } = command.writeConcern ?? {};
  return [
    ...(w === "majority" && j === true ? [] : ["is answered before a majority has it on disk"]),
    ...keyFaults(name, collection, command),
    ...documentsOf(name, command).flatMap((document) => namesThatMean(document)),
  ].map((fault) => `${name} ${collection} ${fault}`);
}

type Single = { filter: Document; upsert: boolean; isWhole: boolean };

function keyFaults(name: string, collection: string, command: Document): string[] {
  const key = SHARD_KEYS.get(collection);
  if (!key) return [];
  return singles(name, command).flatMap(({ filter, upsert, isWhole }) => {
    const lacking = key.filter((field) => !isEquality(filter[field]));
    if (lacking.length === 0) return [];
    if (!upsert && !isWhole && isEquality(filter._id)) return [];
    return [`has no ${lacking.join(", ")} in ${JSON.stringify(Object.keys(filter))}`];
  });
}

/** Those parts of a command that change one document. */
function singles(name: string, command: Document): Single[] {
  if (name === "findAndModify")
    return [{ filter: command.query, upsert: command.upsert === true, isWhole: true }];
  if (name === "delete") {
    const one = (command.deletes as Document[]).filter(({ limit }) => limit === 1);
    return one.map(({ q }) => ({ filter: q, upsert: false, isWhole: false }));
  }
  if (name !== "update") return [];
  const those = (command.updates as Document[]).filter(({ multi, upsert }) => !multi || upsert);
  return those.map(({ q, upsert }) => ({ filter: q, upsert: upsert === true, isWhole: false }));
}

function isEquality(condition: unknown): boolean {
  if (condition === undefined) return false;
  return !isPlain(condition) || !Object.keys(condition).some((key) => key.startsWith("$"));
}

/** Returns the stored documents; for updates, the values set. */
function documentsOf(name: string, command: Document): unknown[] {
  if (name === "insert") return command.documents;
  const updates = name === "update" ? (command.updates as Document[]).map(({ u }) => u) : [command.update];
  return updates.flatMap((update) =>
    ["$set", "$setOnInsert", "$push", "$addToSet"].flatMap((operator) =>
      Object.values(update?.[operator] ?? {}),
    ),
  );
}

const MODIFIERS = new Set(["$each", "$slice", "$position", "$sort"]);

function namesThatMean(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesThatMean);
  if (!isPlain(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const means = (key.startsWith("$") && !MODIFIERS.has(key)) || key.includes(".");
    return [...(means ? [`stores a field of the name ${JSON.stringify(key)}`] : []), ...namesThatMean(item)];
  });
}

function isPlain(value: unknown): value is Document {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
