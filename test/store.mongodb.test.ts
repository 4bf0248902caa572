/** @needs mongodb: the same suite as the embedded store, on MongoDB's own driver. */
import { describe, test } from "@jest/globals";
import { storeSuite } from "./suites/store.ts";
import { ownStore } from "./support/own-store.ts";
import { useMongo } from "./support/use.ts";

const mongo = await useMongo();

/** Where mongo-java-server answers otherwise than MongoDB 7 does. */
const STAND_IN_LACKS = [
  ...["keyPattern", "codes of refused updates", "insertedCount"],
  ...["ordered bulk writes stop at the first error", "_id first", "an unknown operator is refused by name"],
  ...["$gt and $lt, each by any element", "$gte of null", "refuse two arrays in one document"],
];

if ("url" in mongo) {
  storeSuite({
    name: mongo.kind,
    lacks: mongo.kind === "mongo-java-server" ? STAND_IN_LACKS : [],
    open: () => ownStore(mongo.url),
  });
} else {
  describe("the store on MongoDB", () => {
    test.skip(mongo.skipped, () => {});
  });
}
