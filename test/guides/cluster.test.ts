/** @needs mongodb, nats, redis: the commands of docs/guides/cluster.md. */
import { expect, test } from "@jest/globals";
import { helpers, page, readersFolder, runCommands } from "../support/guides.ts";
import { startMongo } from "../support/mongo.ts";
import { freePort } from "../support/ports.ts";

/** It waits for a dozen starts, a lost node and a visibility timeout. */
const LONGEST_MS = 400_000;

test(
  "the commands of cluster.md print what it shows",
  async () => {
    const mongo = await startMongo();
    if ("skipped" in mongo) throw new Error(mongo.skipped);
    const reader = readersFolder();
    let text = page("docs/guides/cluster.md");
    for (const port of ["3000", "3001", "4222", "6379"]) {
      expect(text).toContain(port);
      text = text.replaceAll(port, String(await freePort()));
    }
    try {
      const credential = page("README.md").match(/^credential\(\).*\n/m)?.[0] ?? "";
      await runCommands(text, reader.folder, {
        prelude: credential + helpers(),
        env: { MONGO_URL: mongo.url },
        longestMs: LONGEST_MS - 20_000,
      });
    } finally {
      reader.remove();
      await mongo.stop();
    }
  },
  LONGEST_MS,
);
