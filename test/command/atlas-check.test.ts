/** @needs mongodb: what `npm run atlas:check` says without an address, and where a server lacks what it looks for. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startChild } from "../support/child.ts";
import { useMongo } from "../support/use.ts";

const COMMAND = join(import.meta.dirname, "../atlas/check.ts");
const mongo = await useMongo();

async function check(env: Record<string, string>) {
  const { MONGO_URL: _, ...others } = process.env;
  const child = await startChild(process.execPath, [COMMAND], { env: { ...others, ...env } });
  const { code } = await child.exited;
  return { code, output: child.output() };
}

test("without MONGO_URL it says what to set", async () => {
  const { code, output } = await check({});
  expect(code).toBe(1);
  expect(output).toMatch(/^MONGO_URL is not set\. Set it to a MongoDB replica set or an Atlas cluster/);
});

if ("url" in mongo) {
  test("on a server without Atlas Search it names what that cannot show, and fails nothing", async () => {
    const { code, output } = await check({ MONGO_URL: mongo.url });
    expect(output).toMatch(/^\$search names the tenant first +not supported +no Atlas Search/m);
    expect(output).toMatch(/^failover loses no answered write +not supported +no(t tried| replica set)/m);
    if (mongo.kind === "mongo-java-server") expect(output).not.toMatch(/ ok /);
    expect(output).not.toContain("FAILED");
    expect(code).toBe(0);
  });
} else {
  test.skip(mongo.skipped, () => {});
}
