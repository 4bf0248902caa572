/** @needs mongodb: a tenant moves from the embedded store to MongoDB and back. */
import { randomBytes } from "node:crypto";
import { describe } from "@jest/globals";
import { ENV, moveSuite } from "../suites/move.ts";
import type { TestServer } from "../support/server.ts";
import { useMongo, useServer } from "../support/use.ts";

const mongo = await useMongo();
const url = "url" in mongo ? mongo.url : "";

const SECRET_KEY = randomBytes(32).toString("base64");
const target = url ? await useServer({ env: { ...ENV, MONGO_URL: url, SECRET_KEY } }) : null;

(target ? describe : describe.skip)("with MongoDB", () => moveSuite("MongoDB", target as TestServer));
