import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { onlyUtf8 } from "../../services/edge/gateway/body/utf8.ts";

async function passed(bytes: Buffer, cuts: number[]): Promise<Buffer | "refused"> {
  async function* parts() {
    const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    for (let i = 1; i < places.length; i++) yield bytes.subarray(places[i - 1], places[i]);
  }
  const out: Buffer[] = [];
  try {
    for await (const part of onlyUtf8(parts())) out.push(part);
  } catch (err) {
    expect(err).toBeInstanceOf(RangeError);
    return "refused";
  }
  return Buffer.concat(out);
}

/** As the decoder of the platform sees it. */
function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const pieces = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => Buffer.from(text)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
    },
  ),
  { maxLength: 8 },
);

test("bytes pass if they are UTF-8, wherever they are cut", async () => {
  const property = fc.asyncProperty(pieces, fc.array(fc.nat(50), { maxLength: 5 }), async (given, cuts) => {
    const bytes = Buffer.concat(given);
    expect(await passed(bytes, cuts)).toEqual(isText(bytes) ? bytes : "refused");
  });
  await fc.assert(property, { numRuns: 2000 });
});
