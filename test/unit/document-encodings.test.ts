import { describe, expect, test } from "@jest/globals";
import { Losses } from "../../services/remember/documents/parsers/page.ts";
import { parseDocument } from "../../services/remember/documents/parsers/parse.ts";

async function read(bytes: Uint8Array, type = "text/plain") {
  const losses = new Losses();
  const pages = await parseDocument(bytes, type, losses);
  return [pages.map(({ text }) => text).join("\f"), `${losses}`];
}

/** Encodes by what `TextDecoder` decodes, which only does that. */
function encode(text: string, label: string): Uint8Array {
  const decoder = new TextDecoder(label);
  const bytes = new Map<string, number[]>();
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  for (const first of range(0, 256)) bytes.set(decoder.decode(Uint8Array.of(first)), [first]);
  for (const first of range(0x81, 0xff))
    for (const second of range(0x40, 0xff)) {
      const letter = decoder.decode(Uint8Array.of(first, second));
      if (!bytes.has(letter)) bytes.set(letter, [first, second]);
    }
  return Uint8Array.from([...text].flatMap((letter) => bytes.get(letter) ?? []));
}

test.each([
  ["shift_jis", "潮位表です\n満潮は六時\n港の門"],
  ["euc-jp", "こんにちは、港です。"],
  ["gb18030", "码头潮汐表\n早上六点满潮。"],
  ["big5", "碼頭潮汐表\n早上六點滿潮。"],
  ["euc-kr", "부두 조석표\n만조는 여섯 시"],
  ["windows-1250", "Śluza jest zamknięta do środy."],
  ["windows-1250", "Kůň stojí u mola."],
  ["windows-1251", "Причал закрыт"],
  ["koi8-r", "Причал закрыт"],
  ["windows-1252", "L’été, où est la clé ?"],
  ["windows-1252", "Blåbær og fløde – 5 €"],
  ["windows-1253", "Το λιμάνι κλείνει"],
  ["windows-1254", "İskele yarın kapalı"],
  ["windows-1255", "הרציף סגור ביום שני"],
  ["windows-1256", "الميناء مغلق"],
  ["windows-1257", "Kuģis atiet sešos"],
  ["windows-874", "ท่าเรือปิด"],
])("a short text in %s is read, and said to be guessed: %s", async (label, given) =>
  expect(await read(encode(given, label))).toEqual([given, `1 encoding guessed (${label})`]),
);

describe("a text of units of two or four bytes", () => {
  const given = "The gate: Größe, 門\n𝄞";
  const utf16 = (text: string) => Buffer.from(text, "utf16le");
  const utf32 = (text: string) =>
    Buffer.concat([...text].map((letter) => Buffer.from(Uint32Array.of(letter.codePointAt(0) ?? 0).buffer)));
  test.each<[string, Buffer, string]>([
    ["UTF-16", utf16(given), "utf-16le"],
    ["UTF-16 in the other order", utf16(given).swap16(), "utf-16be"],
    ["UTF-32", utf32(given), "utf-32le"],
    ["UTF-32 in the other order", utf32(given).swap32(), "utf-32be"],
    ["UTF-16 of another script", utf16("一号门\n二号门 关闭\n"), "utf-16le"],
  ])("in %s needs no mark", async (_what, bytes, encoding) => {
    const [text, losses] = await read(new Uint8Array(bytes));
    expect([given, "一号门\n二号门 关闭"]).toContain(text);
    expect(losses).toBe(`1 encoding guessed (${encoding})`);
  });

  test("with a mark is not guessed", async () => {
    expect(await read(new Uint8Array(utf32(`\ufeff${given}`)))).toEqual([given, ""]);
    expect(await read(new Uint8Array(utf32(`\ufeff${given}`).swap32()))).toEqual([given, ""]);
  });
});

describe("an encoding that a file declares", () => {
  test("comes first", async () =>
    expect(await read(encode("Łódź", "iso-8859-2"), "text/plain; charset=iso-8859-2")).toEqual(["Łódź", ""]));

  test("is no encoding of its bytes: then they decide", async () =>
    expect(await read(encode("港の門は六時です", "shift_jis"), "text/plain; charset=utf-8")).toEqual([
      "港の門は六時です",
      "1 encoding guessed (shift_jis)",
    ]));

  test("and UTF-8 with a broken byte keeps its other letters", async () => {
    const bytes = Buffer.concat([Buffer.from("Größe, Länge, Höhe"), Buffer.of(0xff), Buffer.from(" übrig")]);
    expect(await read(bytes)).toEqual(["Größe, Länge, Höhe\ufffd übrig", "1 byte that is not text (utf-8)"]);
  });
});
