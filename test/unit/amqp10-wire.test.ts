import { expect, test } from "@jest/globals";
import rhea from "rhea";
import { readMessage } from "../../connectors/amqp10-wire.ts";

const bodyOf = (body: unknown) => readMessage(rhea.message.encode({ body })).body.toString();

test("a body that is a map or a list is JSON, with its bytes as base64", () => {
  const bytes = Buffer.from([0xff, 0x00]);
  expect(JSON.parse(bodyOf({ total: 3, thumb: bytes, parts: [bytes, "a"] }))).toEqual({
    ...{ total: 3, thumb: "/wA=", parts: ["/wA=", "a"] },
  });
  expect(JSON.parse(bodyOf([1, bytes]))).toEqual([1, "/wA="]);
});

test("a body that is a text or data is as it was", () => {
  expect(bodyOf("plain")).toBe("plain");
  expect(bodyOf(rhea.message.data_section(Buffer.from("raw")))).toBe("raw");
});

test("properties keep their types; UUIDs and integers that no double holds are text", () => {
  const { wrap_long, wrap_ulong, wrap_timestamp, wrap_binary } = rhea.types;
  const most = Buffer.from("7fffffffffffffff", "hex");
  const uuid = rhea.types.wrap_uuid(Buffer.from("0af7651916cd43dd8448eb211c80319c", "hex") as never);
  const application_properties = {
    least: wrap_long(-7),
    most: wrap_long(most as never),
    larger: wrap_ulong(Buffer.alloc(8, 0xff) as never),
    ...{ at: wrap_timestamp(1000), bytes: wrap_binary(Buffer.from("raw")), yes: true, uuid, text: "7" },
  };
  const { properties } = readMessage(rhea.message.encode({ body: "", application_properties } as never));
  expect(properties).toEqual({
    ...{ least: -7, most: "9223372036854775807", larger: "18446744073709551615", at: new Date(1000) },
    ...{ bytes: Buffer.from("raw"), yes: true, uuid: "0af76519-16cd-43dd-8448-eb211c80319c", text: "7" },
  });
});
