/** @needs mongodb: deliveries and dead letters on the other driver. */
import { randomBytes } from "node:crypto";
import { afterAll, describe } from "@jest/globals";
import { deliverySuite } from "../suites/delivery.ts";
import { deadLetterSuite } from "../suites/dlq.ts";
import { deliveryGround } from "../support/deliveries.ts";
import { startMongo } from "../support/mongo.ts";

// One each: a server that finds a record in use has no first credentials to give.
const suites = [
  { name: "deliveries", suite: deliverySuite, mongo: await startMongo() },
  { name: "dead letters", suite: deadLetterSuite, mongo: await startMongo() },
];

for (const { name, suite, mongo } of suites) {
  const here = "url" in mongo;
  (here ? describe : describe.skip)(`${name} on MongoDB`, () => {
    const env = { MONGO_URL: here ? mongo.url : "", SECRET_KEY: randomBytes(32).toString("base64") };
    suite(() => deliveryGround({ env }));
    // After the server, which the suite ends.
    afterAll(() => (here ? mongo.stop() : undefined));
  });
}
