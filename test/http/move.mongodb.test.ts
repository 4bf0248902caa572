/** @needs mongodb: a tenant moves from the embedded store to MongoDB and back. */
import { randomBytes } from "node:crypto";
import { describe } from "@jest/globals";
import { moveSuite } from "../suites/move.ts";
import { useMongo } from "../support/use.ts";

const mongo = await useMongo();
const url = "url" in mongo ? mongo.url : "";

(url ? describe : describe.skip)("with MongoDB", () => {
  moveSuite("MongoDB", { MONGO_URL: url, SECRET_KEY: randomBytes(32).toString("base64") });
});
