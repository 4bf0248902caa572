/** @needs ferretdb: the same suite as on MongoDB, on another server that speaks its protocol. */
import { describe, test } from "@jest/globals";
import { storeSuite } from "./suites/store.ts";
import { FERRETDB_LACKS, startFerret } from "./support/ferretdb.ts";
import { atEnd } from "./support/own-folder.ts";
import { ownStore } from "./support/own-store.ts";

const ferret = await startFerret();

if ("url" in ferret) {
  atEnd(ferret.stop);
  storeSuite({ name: "FerretDB", lacks: FERRETDB_LACKS, open: () => ownStore(ferret.url) });
} else {
  describe("the store on FerretDB", () => {
    test.skip(ferret.skipped, () => {});
  });
}
