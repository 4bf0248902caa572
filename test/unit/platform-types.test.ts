import { expect, test } from "@jest/globals";
import { isPlatformType, reservedPrefix } from "../../lib/cloudevents/platform-types.ts";

test.each([
  ["service.run.started", "service."],
  ["memory.cited", "memory."],
  ["memory.cited.twice", ""],
  ["memory.created", ""],
  ["services.run", ""],
  ["com.example.service.x", ""],
])("%s asks for a glob that begins with %j", (type, prefix) =>
  expect([reservedPrefix(type), isPlatformType(type)]).toEqual([prefix, prefix !== ""]),
);
