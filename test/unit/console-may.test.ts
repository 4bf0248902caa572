import { expect, test } from "@jest/globals";
import { type Action, mayCall } from "../../packages/console/src/data/may.ts";

test.each<[Action, admin: boolean, member: boolean]>([
  ["auth.startSession", true, true],
  ["auth.password", true, true],
  ["runs.create", true, true],
  ["agents.get", true, true],
  ["agents.create", true, false],
  ["merges.resolve", true, false],
  ["interests.list", true, false],
  ["deliveries.deadLetters", true, false],
  ["deliveries.poll", false, false],
  ["handoffs.save", false, false],
  ["tenants.create", false, false],
])("%s is offered to admins: %j, to members: %j", (action, admin, member) =>
  expect([mayCall("admin", action), mayCall("member", action)]).toEqual([admin, member]),
);
