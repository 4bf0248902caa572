/** @needs ferretdb: the same suite as on MongoDB, on another server that speaks its protocol. */
import { describe, test } from "@jest/globals";
import { openStore } from "../storage/connection.ts";
import { storeSuite } from "./suites/store.ts";
import { FERRETDB_LACKS, startFerret } from "./support/ferretdb.ts";

const ferret = await startFerret();

if ("url" in ferret) {
  storeSuite({
    name: "FerretDB",
    lacks: FERRETDB_LACKS,
    open: async () => ({
      store: await openStore({ DATA_DIR: "", MONGO_URL: ferret.url }),
      stop: ferret.stop,
    }),
  });
} else {
  describe("the store on FerretDB", () => {
    test.skip(ferret.skipped, () => {});
  });
}
