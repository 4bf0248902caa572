/** @needs mongodb, nats, history: the commands of docs/guides/operators-day.md, which upgrade to another version. */
import { guideTest } from "../suites/guide.ts";
import { helpers } from "../support/guides.ts";
import { checkOutFormer } from "../support/versions.ts";

// It starts a dozen nodes and as many commands.
guideTest("operators-day", ["3000", "3001", "4222"], 900_000, async (record, ends) => {
  // The version before this one stands for the next one: both are one away.
  const other = await checkOutFormer();
  ends.defer(other.remove);
  return { prelude: helpers(), env: { record, MONGO_URL: "", next: other.folder } };
});
