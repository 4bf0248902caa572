import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { escapedBytes } from "../../services/edge/gateway/answer/from-blob.ts";
import { fromBase64, onlyUtf8, takeFields, toUtf8 } from "../../services/edge/gateway/body/json-fields.ts";

/** Bytes in parts of these lengths, in turn. */
async function* inParts(bytes: Buffer, lengths: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] as number;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

async function read(json: string | Buffer, fields: string[], lengths = [7]) {
  const taken: Record<string, string> = {};
  const rest = await takeFields(
    inParts(Buffer.from(json), lengths),
    new Set(fields),
    100_000,
    async (field, text) => {
      const parts: Buffer[] = [];
      for await (const part of toUtf8(text)) parts.push(part);
      taken[field] = Buffer.concat(parts).toString();
    },
  );
  return { taken, rest: JSON.parse(rest.toString()) };
}

test("fields are taken out of any object, in parts of any length", async () => {
  const texts = fc.string({ unit: "grapheme", maxLength: 60 });
  const spaced = fc.constantFrom(undefined, 1, "\t");
  const property = fc.asyncProperty(
    fc.dictionary(fc.constantFrom("a", "b", "body", "c\\"), fc.jsonValue(), { noNullPrototype: true }),
    texts,
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
    spaced,
    async (others, body, lengths, space) => {
      const given = { ...others, nested: { body: "not this" }, list: ["body", { body: "nor this" }], body };
      const { taken, rest } = await read(JSON.stringify(given, null, space), ["body"], lengths);
      expect(taken).toEqual({ body });
      expect(rest).toEqual(JSON.parse(JSON.stringify({ ...given, body: "" })));
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test("escapes of every kind are read, wherever a part ends", async () => {
  const json = String.raw`{"body":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\\\\u0041 ä😀\\"}`;
  const { body } = JSON.parse(json);
  for (let length = 1; length < 40; length++)
    expect((await read(json, ["body"], [length])).taken).toEqual({ body });
});

test.each([
  ["another type", '{"body":5}', { body: 5 }],
  ["null", '{"body":null}', { body: null }],
  ["an escaped name", String.raw`{"b\u006fdy":"x"}`, { body: "x" }],
  ["a list", '["body","x"]', ["body", "x"]],
  ["a text of the same name", '{"x":"body","y":{"body":"x"}}', { x: "body", y: { body: "x" } }],
])("%s is left where it is", async (_what, json, rest) =>
  expect(await read(json, ["body"])).toEqual({ taken: {}, rest }),
);

test("bytes stand in JSON as their text does, wherever a part ends", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.constant('\u0000\b\t\n\u001f"\\\u007fé💡'),
  );
  const property = fc.property(text, fc.nat(40), (given, cut) => {
    const bytes = Buffer.from(given);
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].map(escapedBytes);
    expect(`"${Buffer.concat(parts)}"`).toBe(JSON.stringify(given));
  });
  fc.assert(property, { numRuns: 500 });
});

test("bytes pass if they are UTF-8, wherever a part ends", async () => {
  const pieces = fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => Buffer.from(text)),
      },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)) },
    ),
    { maxLength: 8 },
  );
  const property = fc.asyncProperty(pieces, fc.integer({ min: 1, max: 9 }), async (given, length) => {
    const bytes = Buffer.concat(given);
    const passed = Array.fromAsync<Buffer>(onlyUtf8(inParts(bytes, [length])));
    if (isUtf8(bytes)) expect(Buffer.concat(await passed)).toEqual(bytes);
    else await expect(passed).rejects.toThrow(SyntaxError);
  });
  await fc.assert(property, { numRuns: 1000 });
});

test.each<[string, string | Buffer, new () => Error]>([
  ["a text without an end", '{"body":"abc', SyntaxError],
  ["an unknown escape", String.raw`{"body":"a\x41"}`, SyntaxError],
  ["an escape cut off", String.raw`{"body":"a\u00"}`, SyntaxError],
  ["a line break within a text", '{"body":"a\nb"}', SyntaxError],
  ["what is not UTF-8", Buffer.from('{"body":"\xff"}', "latin1"), SyntaxError],
  ["a rest that is too long", `{"other":"${"x".repeat(200_000)}","body":""}`, RangeError],
])("refused is: %s", (_what, json, kind) => expect(read(json, ["body"])).rejects.toThrow(kind));

test("what is not read to its end is told so", async () => {
  let left = false;
  async function* source() {
    try {
      yield Buffer.from('{"body":"abc');
    } finally {
      left = true;
    }
  }
  const take = () => Promise.reject(new Error("no room"));
  await expect(takeFields(source(), new Set(["body"]), 100, take)).rejects.toThrow("no room");
  expect(left).toBe(true);
});

describe("base64", () => {
  const decode = async (text: string, length: number) => {
    const parts: Buffer[] = [];
    async function* pieces() {
      for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
    }
    for await (const part of fromBase64(pieces())) parts.push(part);
    return Buffer.concat(parts);
  };

  test("is decoded in pieces of any length", async () => {
    const property = fc.asyncProperty(
      fc.uint8Array({ maxLength: 100 }),
      fc.integer({ min: 1, max: 30 }),
      async (bytes, length) => {
        const decoded = await decode(Buffer.from(bytes).toString("base64"), length);
        expect(decoded.equals(Buffer.from(bytes))).toBe(true);
      },
    );
    await fc.assert(property);
  });

  test("may have line breaks anywhere", async () => {
    const bytes = Buffer.from("The first line of a file, and its second line.");
    const lines = bytes.toString("base64").replace(/.{7}/g, "$&\r\n");
    for (const length of [1, 4, 9, 1000]) expect(await decode(`\n${lines}\n`, length)).toEqual(bytes);
  });

  test.each(["a", "abc", "ab=", "a===", "ab==cdef", "ab==cd==", "****", "abc=d", "ab-_"])(
    "is not %j",
    async (text) => {
      for (const length of [1, 4, 100]) await expect(decode(text, length)).rejects.toThrow(RangeError);
    },
  );
});
