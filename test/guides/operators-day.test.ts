/** @needs mongodb, nats, history: the commands of docs/guides/operators-day.md. */
import { expect, test } from "@jest/globals";
import { helpers, page, readersFolder, runCommands } from "../support/guides.ts";
import { startMongo } from "../support/mongo.ts";
import { freePort } from "../support/ports.ts";
import { checkOutFormer } from "../support/versions.ts";

/** It starts a dozen nodes and as many commands. */
const LONGEST_MS = 900_000;

test(
  "the commands of operators-day.md print what it shows, upgrading to another version",
  async () => {
    const mongo = await startMongo();
    if ("skipped" in mongo) throw new Error(mongo.skipped);
    const reader = readersFolder();
    // The version before this one stands for the next one: both are one away.
    const other = await checkOutFormer();
    let text = page("docs/guides/operators-day.md");
    for (const port of ["3000", "3001", "4222"]) {
      expect(text).toContain(port);
      text = text.replaceAll(port, String(await freePort()));
    }
    try {
      await runCommands(text, reader.folder, {
        prelude: helpers(),
        env: { record: mongo.url, MONGO_URL: "", next: other.folder },
        longestMs: LONGEST_MS - 20_000,
      });
    } finally {
      reader.remove();
      await other.remove();
      await mongo.stop();
    }
  },
  LONGEST_MS,
);
