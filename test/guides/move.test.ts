/** @needs mongodb: the commands of docs/guides/move.md. */
import { expect, test } from "@jest/globals";
import { page, prelude, readersFolder, runCommands } from "../support/guides.ts";
import { startMongo } from "../support/mongo.ts";
import { freePort } from "../support/ports.ts";
import { startServer } from "../support/server.ts";

/** It starts a dozen processes. */
const LONGEST_MS = 400_000;

test(
  "the commands of move.md print what it shows",
  async () => {
    const mongo = await startMongo();
    if ("skipped" in mongo) throw new Error(mongo.skipped);
    const OPERATOR_TOKEN = "the-long-operator-token-of-the-guide";
    const server = await startServer({ env: { OPERATOR_TOKEN } });
    const reader = readersFolder(server);
    const text = page("docs/guides/move.md");
    expect(text).toContain("3100");
    try {
      await runCommands(text.replaceAll("3100", String(await freePort())), reader.folder, {
        prelude: prelude(),
        env: { OPERATOR_TOKEN, mongo: mongo.url, MONGO_URL: "" },
        longestMs: LONGEST_MS - 20_000,
      });
    } finally {
      reader.remove();
      await server.stop();
      await mongo.stop();
    }
  },
  LONGEST_MS,
);
