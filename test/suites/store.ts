import { beforeAll, describe, test } from "@jest/globals";
import type { Collection, Db } from "mongodb";
import type { Store } from "../../storage/connection.ts";
import { bulkTests } from "./store/bulk.ts";
import { cursorTests } from "./store/cursors.ts";
import { filterTests } from "./store/filters.ts";
import { indexTests } from "./store/indexes.ts";
import { modelTests } from "./store/models.ts";
import { modifyTests } from "./store/modify.ts";
import { updateTests } from "./store/updates.ts";
import { withinTests } from "./store/within.ts";
import { writeTests } from "./store/writes.ts";

/** A driver under test; `open` gives an empty store. */
interface StoreUnderTest {
  name: string;
  open(): Promise<Store>;
  /** Known differences of a stand-in from MongoDB: names of tests and of details that they check. */
  lacks?: string[];
}

// biome-ignore lint/suspicious/noExplicitAny: documents of all shapes are the subject here
export type AnyCollection = Collection<any>;

/** Gives each test a new collection. */
export interface Workbench {
  store(): Store;
  db(): Db;
  collection(documents?: object[]): Promise<AnyCollection>;
  /** The ids of all documents, in order. */
  ids(things: AnyCollection): Promise<unknown[]>;
  lacks(what: string): boolean;
  /** `test`, but for what the store lacks. */
  it(name: string, run: () => Promise<void>): void;
}

/** The contract of every record store. */
export function storeSuite({ name, open, lacks = [] }: StoreUnderTest): void {
  describe(`the store on ${name}`, () => {
    let store: Store;
    let collections = 0;
    const db = () => store.connection.db as unknown as Db;
    const bench: Workbench = {
      store: () => store,
      db,
      ids: async (things) => (await things.find({}, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id),
      lacks: (what) => lacks.includes(what),
      it(name, run) {
        if (!lacks.includes(name)) test(name, run);
      },
      async collection(documents = []) {
        const made: AnyCollection = db().collection(`things_${++collections}`);
        if (documents.length > 0) await made.insertMany(documents);
        return made;
      },
    };

    beforeAll(async () => {
      store = await open();
    });

    filterTests(bench);
    cursorTests(bench);
    updateTests(bench);
    writeTests(bench);
    withinTests(bench);
    modifyTests(bench);
    bulkTests(bench);
    indexTests(bench);
    modelTests(bench);
  });
}
