/** @needs mongodb: lists of the largest rows, as list-memory.test.ts has them, read from MongoDB. */
import { test } from "@jest/globals";
import { testLists } from "../suites/list-memory.ts";
import { startMongo } from "../support/mongo.ts";
import { atEnd } from "../support/own-folder.ts";

const mongo = await startMongo();
if ("url" in mongo) {
  await testLists(mongo.url);
  atEnd(mongo.stop);
} else test.skip(mongo.skipped, () => {});
