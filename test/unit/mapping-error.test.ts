import { expect, test } from "@jest/globals";
import { invalidEvent } from "../../lib/cloudevents/cloudevents.ts";
import { mappingError, thrownMappingError } from "../../services/sense/deliveries/dead-letter-state.ts";

test("one fault has one reason in every payload, without the payload's value", () => {
  const [first, second] = ["Mon", "Tue"].map((time) => invalidEvent("time", time, "a date and time"));
  expect(first?.message).toBe('time: expected a date and time, got "Mon".');
  expect(thrownMappingError(first)).toBe("mapping error: time: expected a date and time.");
  expect(thrownMappingError(second)).toBe(thrownMappingError(first));
});

test("an error without details gives its message", () => {
  expect(mappingError({ message: "the body is too long" })).toBe("mapping error: the body is too long");
  expect(thrownMappingError(new Error("/id is missing"))).toBe("mapping error: /id is missing");
});
