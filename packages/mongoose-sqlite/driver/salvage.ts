import type { MongoBulkWriteError } from "mongodb";
import { decode } from "../query/codec.ts";
import { keyPattern, type Table } from "../tables/catalog.ts";
import { DamagedTables, type Rows, type StorageOf } from "../tables/readable.ts";
import { SqliteClient } from "./client.ts";
import type { SqliteCollection } from "./collection.ts";
import type { Document } from "./options.ts";

/** The readable part of a data file, by collection, and the faults that SQLite finds. */
export interface Condition {
  problems: string[];
  collections: ({ name: string } & Rows)[];
}

const BATCH_DOCUMENTS = 500;
const BATCH_CHARACTERS = 4_000_000;

/** Reads every document of a data file, which stays as it is, even of one that is open. */
export function check(file: string, storageOf: StorageOf): Condition {
  const damaged = open(file);
  if (!(damaged instanceof DamagedTables)) return damaged;
  try {
    const collections = damaged.tables(storageOf).map((table) => {
      const documents = damaged.documents(table);
      let step = documents.next();
      while (!step.done) step = documents.next();
      return { name: table.name, ...step.value };
    });
    return { problems: damaged.problems(), collections };
  } finally {
    damaged.close();
  }
}

/** Copies every document that can be read into a new data file, of the same name in `directory`. */
export async function salvage(
  file: string,
  { directory, name, storageOf }: { directory: string; name: string; storageOf: StorageOf },
): Promise<Condition> {
  const damaged = open(file);
  if (!(damaged instanceof DamagedTables)) return damaged;
  const client = await new SqliteClient(directory, { file: name }).connect();
  try {
    const collections: Condition["collections"] = [];
    for (const table of damaged.tables(storageOf)) {
      client.db().setStorage(table.name, { outOfLine: table.outOfLine, packed: table.packed?.fields });
      const copied = await copy(damaged, table, client.db().collection(table.name));
      collections.push({ name: table.name, ...copied });
    }
    return { problems: damaged.problems(), collections };
  } finally {
    damaged.close();
    await client.close();
  }
}

function open(file: string): DamagedTables | Condition {
  try {
    return new DamagedTables(file);
  } catch (error) {
    return { problems: [(error as Error).message], collections: [] };
  }
}

async function copy(damaged: DamagedTables, table: Table, into: SqliteCollection): Promise<Rows> {
  if (table.indexes.length)
    await into.createIndexes(table.indexes.map((index) => ({ ...index, key: keyPattern(index) })));
  let batch: Document[] = [];
  let characters = 0;
  let refused = 0;
  const flush = async () => {
    if (batch.length) refused += await insert(into, batch);
    batch = [];
    characters = 0;
  };
  const documents = damaged.documents(table);
  for (;;) {
    const { done, value } = documents.next();
    if (done) {
      await flush();
      return { read: value.read - refused, lost: value.lost === null ? null : value.lost + refused };
    }
    batch.push(decode(value) as Document);
    characters += value.length;
    if (batch.length >= BATCH_DOCUMENTS || characters >= BATCH_CHARACTERS) await flush();
  }
}

/** Returns how many documents were refused: damage can leave one twice. */
async function insert(into: SqliteCollection, documents: Document[]): Promise<number> {
  try {
    await into.insertMany(documents, { ordered: false });
    return 0;
  } catch (error) {
    const { writeErrors } = error as MongoBulkWriteError;
    if (!Array.isArray(writeErrors)) throw error;
    return writeErrors.length;
  }
}
