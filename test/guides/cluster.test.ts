/** @needs mongodb, nats, redis: the commands of docs/guides/cluster.md. */
import { guideTest } from "../suites/guide.ts";
import { helpers, page } from "../support/guides.ts";

// It waits for a dozen starts, a lost node and a visibility timeout.
guideTest("cluster", ["3000", "3001", "4222", "6379"], 400_000, (MONGO_URL) => {
  const credential = page("README.md").match(/^credential\(\).*\n/m)?.[0] ?? "";
  return { prelude: credential + helpers(), env: { MONGO_URL } };
});
