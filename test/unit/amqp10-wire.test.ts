import { expect, test } from "@jest/globals";
import rhea from "rhea";
import { readMessage } from "../../connectors/amqp10-wire.ts";

const bodyOf = (body: unknown) => readMessage(rhea.message.encode({ body })).body.toString();

test("a body that is a map or a list is JSON, with its bytes as base64", () => {
  const bytes = Buffer.from([0xff, 0x00]);
  expect(JSON.parse(bodyOf({ total: 3, thumb: bytes, parts: [bytes, "a"] }))).toEqual({
    total: 3,
    thumb: "/wA=",
    parts: ["/wA=", "a"],
  });
  expect(JSON.parse(bodyOf([1, bytes]))).toEqual([1, "/wA="]);
});

test("a body that is a text or data is as it was", () => {
  expect(bodyOf("plain")).toBe("plain");
  expect(bodyOf(rhea.message.data_section(Buffer.from("raw")))).toBe("raw");
});
