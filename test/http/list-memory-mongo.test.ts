/** @needs mongodb: lists of the largest rows, as list-memory.test.ts has them, read from MongoDB. */
import { test } from "@jest/globals";
import { testLists } from "../suites/list-memory.ts";
import { useMongo } from "../support/use.ts";

const mongo = await useMongo();
if ("url" in mongo) {
  await testLists(mongo.url);
} else test.skip(mongo.skipped, () => {});
